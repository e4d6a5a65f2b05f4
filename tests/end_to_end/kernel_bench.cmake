# The tests of the command line of apps/kernel_bench, and of the matrices that a script makes.
if(TRIREME_TEST_PYTHON)
  add_test(NAME EndToEnd.KernelBench
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/kernel_bench_cli_test.py
            $<TARGET_FILE:kernel_bench> $<TARGET_FILE:problem>)
  set_tests_properties(EndToEnd.KernelBench PROPERTIES
    LABELS end_to_end TIMEOUT 300 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
  add_test(NAME EndToEnd.OtherMatrices
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/other_matrices_test.py
            ${PROJECT_SOURCE_DIR}/bench/other-matrices $<TARGET_FILE:kernel_bench>)
  set_tests_properties(EndToEnd.OtherMatrices PROPERTIES
    LABELS end_to_end TIMEOUT 300 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
endif()
