# The suites of streams: the thread around a source, its readers, the parts they share.
convscope_test(live_source APP)
convscope_test(live_parts APP)
convscope_test(live_readers APP)
if(TARGET test_live_source)
  target_sources(test_live_source PRIVATE live_playback.cpp)
  target_sources(test_live_readers PRIVATE live_videos.cpp)
endif()
# they measure time: nothing else may take theirs
foreach(suite live_source live_readers)
  if(TEST ${suite})
    set_tests_properties(${suite} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()
