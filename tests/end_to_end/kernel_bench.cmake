# The tests of the command line of apps/kernel_bench.
if(TRIREME_TEST_PYTHON)
  add_test(NAME EndToEnd.KernelBench
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/kernel_bench_cli_test.py
            $<TARGET_FILE:kernel_bench> $<TARGET_FILE:problem>)
  set_tests_properties(EndToEnd.KernelBench PROPERTIES
    LABELS end_to_end TIMEOUT 120 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
endif()
