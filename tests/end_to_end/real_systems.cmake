# Real systems are solved to a true relative residual of 1e-8; skipped where there are no matrices.
foreach(ranks 1 3)
  set(launch)
  if(ranks GREATER 1)
    set(launch ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${TRIREME_MPIRUN_FLAGS})
  endif()
  trireme_processors(processors ${ranks})
  add_test(NAME EndToEnd.RealSystems.ranks${ranks}
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/real_systems.py
            ${PROJECT_SOURCE_DIR}/../shared/matrices $<TARGET_FILE:solve> $<TARGET_FILE:problem>
            ${ranks} ${launch})
  set_tests_properties(EndToEnd.RealSystems.ranks${ranks} PROPERTIES SKIP_RETURN_CODE 77
    LABELS "end_to_end;mpi" TIMEOUT 600 PROCESSORS ${processors} ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
endforeach()
