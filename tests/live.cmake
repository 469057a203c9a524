# The suites of streams: the thread around a source, its readers, the parts they share.
convscope_test(live_source APP)
convscope_test(live_parts APP)
convscope_test(live_readers APP)
# they measure time: nothing else may take theirs
foreach(suite live_source live_readers)
  if(TEST ${suite})
    set_tests_properties(${suite} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()
