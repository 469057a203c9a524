# Streams in the window, a suite of its own.
add_executable(test_window_live driver.cpp live.cpp)
target_link_libraries(test_window_live PRIVATE convscope_app nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(test_window_live PRIVATE CONVSCOPE_PROGRAM="$<TARGET_FILE:convscope>")
add_dependencies(test_window_live convscope)
add_test(NAME window_live COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/with_display.sh $<TARGET_FILE:test_window_live>)
set_tests_properties(window_live PROPERTIES LABELS window RUN_SERIAL ON SKIP_RETURN_CODE 77 TIMEOUT 600)
