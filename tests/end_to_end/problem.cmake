# The tests of the command line of apps/problem, in which scipy and h5py judge.
if(TRIREME_TEST_PYTHON)
  foreach(ranks 1 3)
    trireme_processors(processors ${ranks})
    add_test(NAME EndToEnd.Problem.ranks${ranks}
      COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/problem_cli_test.py
              $<TARGET_FILE:problem> ${PROJECT_SOURCE_DIR}/../shared/matrices ${ranks}
              ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${TRIREME_MPIRUN_FLAGS})
    set_tests_properties(EndToEnd.Problem.ranks${ranks} PROPERTIES
      LABELS "end_to_end;mpi" TIMEOUT 300 PROCESSORS ${processors} ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
  endforeach()
endif()
