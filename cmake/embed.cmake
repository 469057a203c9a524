# embed_files(TARGET HEADER NAMESPACE NAME FILE [NAME FILE]...): puts files into the program at build time.
# HEADER declares `extern const std::string_view NAME;` in convscope::NAMESPACE for each. The assembler's .incbin copies
# the bytes, so that a font of half a megabyte costs no compile time.
function(embed_files target header namespace)
  set(declarations "")
  set(definitions "")
  set(files "")
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments name file)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "embed_files: ${file} does not exist (wanted as ${namespace}::${name})")
    endif()
    list(APPEND files ${file})
    set(symbol convscope_embedded_${namespace}_${name})
    string(APPEND declarations "extern const std::string_view ${name};\n")
    string(APPEND definitions
      "extern \"C\" const char ${symbol}[];\nextern \"C\" const char ${symbol}_end[];\n"
      "asm(\".section .rodata\\n.balign 16\\n${symbol}:\\n.incbin \\\"${file}\\\"\\n${symbol}_end:\\n.byte 0\\n\"\n"
      "    \".previous\\n\");\n"
      "const std::string_view convscope::${namespace}::${name}(${symbol}, "
      "static_cast<std::size_t>(${symbol}_end - ${symbol}));\n")
  endwhile()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${folder}/${header} CONTENT
    "#pragma once\n#include <string_view>\nnamespace convscope::${namespace} {\n${declarations}}\n" @ONLY)
  set(source ${folder}/${namespace}_embedded.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${folder}/${header}\"\n#include <cstddef>\n${definitions}" @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}")
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
