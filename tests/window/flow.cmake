# Streams as they are followed, frozen, compared, recorded and accounted for.
add_executable(test_window_flow driver.cpp flow.cpp)
target_link_libraries(test_window_flow PRIVATE convscope_app nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(test_window_flow PRIVATE CONVSCOPE_PROGRAM="$<TARGET_FILE:convscope>")
add_dependencies(test_window_flow convscope)
add_test(NAME window_flow COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/with_display.sh $<TARGET_FILE:test_window_flow>)
set_tests_properties(window_flow PROPERTIES LABELS window RUN_SERIAL ON SKIP_RETURN_CODE 77 TIMEOUT 600)
