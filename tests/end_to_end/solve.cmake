# The tests of apps/solve: its command line, on one rank and under mpirun, and its progress line.
trireme_test(progress_test progress_test.cpp ${PROJECT_SOURCE_DIR}/apps/solve/progress.cpp
  LIBRARIES trireme_config trireme_report MPI::MPI_CXX)
target_include_directories(progress_test PRIVATE ${PROJECT_SOURCE_DIR}/apps)

if(TRIREME_TEST_PYTHON)
  # solve_test(<name> <script> <ranks...>): the script as the tests EndToEnd.<name>.ranks<n>.
  function(solve_test name script)
    foreach(ranks ${ARGN})
      set(launch)
      if(ranks GREATER 1)
        set(launch ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${TRIREME_MPIRUN_FLAGS})
      endif()
      trireme_processors(processors ${ranks})
      add_test(NAME EndToEnd.${name}.ranks${ranks}
        COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/${script} ${PROJECT_SOURCE_DIR}
                $<TARGET_FILE:solve> $<TARGET_FILE:problem> ${ranks} ${launch})
      set_tests_properties(EndToEnd.${name}.ranks${ranks} PROPERTIES
        LABELS "end_to_end;mpi" TIMEOUT 300 PROCESSORS ${processors} ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
    endforeach()
  endfunction()
  solve_test(Solve solve_cli_test.py 1 3)
  solve_test(Refusals solve_refusals_test.py 1 3)
  solve_test(Honesty honesty_test.py 1 3)
  solve_test(Stop stop_test.py 1 2)
  solve_test(Resume resume_test.py 3)
  solve_test(Multigrid multigrid_test.py 1 3)
  solve_test(Partition partition_test.py 1 2 3 5)
  solve_test(Pipelined pipelined_test.py 1 3)

  add_test(NAME EndToEnd.GpuRanks
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/gpu_ranks_test.py $<TARGET_FILE:solve>
            ${MPIEXEC_EXECUTABLE} ${TRIREME_MPIRUN_FLAGS})
  set_tests_properties(EndToEnd.GpuRanks PROPERTIES
    LABELS "end_to_end;mpi;gpu" RESOURCE_LOCK gpu TIMEOUT 300 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
  add_test(NAME EndToEnd.GpuMultigrid
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/gpu_multigrid_test.py $<TARGET_FILE:solve>
            $<TARGET_FILE:problem> ${MPIEXEC_EXECUTABLE} ${TRIREME_MPIRUN_FLAGS})
  set_tests_properties(EndToEnd.GpuMultigrid PROPERTIES
    LABELS "end_to_end;mpi;gpu" RESOURCE_LOCK gpu TIMEOUT 300 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
  add_test(NAME EndToEnd.GpuBlocks
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/gpu_blocks_test.py $<TARGET_FILE:solve>)
  set_tests_properties(EndToEnd.GpuBlocks PROPERTIES
    LABELS "end_to_end;mpi;gpu" RESOURCE_LOCK gpu TIMEOUT 300 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")

  add_test(NAME EndToEnd.MemoryForecast
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/memory_forecast_test.py $<TARGET_FILE:solve>
            $<TARGET_FILE:problem> ${MPIEXEC_EXECUTABLE} ${TRIREME_MPIRUN_FLAGS})
  set_tests_properties(EndToEnd.MemoryForecast PROPERTIES
    LABELS "end_to_end;mpi" TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")

  # One rank is killed or gets no memory. The sanitizers replace malloc, as the preload does.
  if(CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT CMAKE_CXX_FLAGS MATCHES sanitize)
    add_library(fail_at MODULE ${PROJECT_SOURCE_DIR}/tests/support/fail_at.c)
    target_link_libraries(fail_at PRIVATE ${CMAKE_DL_LIBS})
    add_test(NAME EndToEnd.Faults
      COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/fault_test.py $<TARGET_FILE:solve>
              $<TARGET_FILE:problem> $<TARGET_FILE:fail_at> 1 ${MPIEXEC_EXECUTABLE} ${TRIREME_MPIRUN_FLAGS})
    set_tests_properties(EndToEnd.Faults PROPERTIES
      LABELS "end_to_end;mpi" TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
  endif()

  # Open MPI's own: the agent that starts processes on hosts, and how a dead host is noticed.
  if(mpiexec_version MATCHES "Open MPI|OpenRTE" AND CMAKE_SYSTEM_NAME STREQUAL Linux)
    add_test(NAME EndToEnd.Hosts
      COMMAND ${TRIREME_TEST_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/hosts_test.py ${PROJECT_SOURCE_DIR}
              $<TARGET_FILE:solve> $<TARGET_FILE:problem> ${MPIEXEC_EXECUTABLE} ${TRIREME_MPIRUN_FLAGS})
    set_tests_properties(EndToEnd.Hosts PROPERTIES LABELS "end_to_end;mpi" TIMEOUT 300 PROCESSORS 2
      SKIP_RETURN_CODE 77 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
  endif()

  add_test(NAME EndToEnd.Slurm
    COMMAND ${TRIREME_TEST_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/slurm_test.py ${PROJECT_SOURCE_DIR}
            $<TARGET_FILE:solve> ${MPIEXEC_EXECUTABLE} ${TRIREME_MPIRUN_FLAGS})
  set_tests_properties(EndToEnd.Slurm PROPERTIES LABELS "end_to_end;mpi" TIMEOUT 300 PROCESSORS 2
    ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")

  add_test(NAME EndToEnd.Study
    COMMAND ${TRIREME_TEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/study_test.py ${PROJECT_SOURCE_DIR}
            $<TARGET_FILE:solve> $<TARGET_FILE:problem> 1 ${MPIEXEC_EXECUTABLE} ${TRIREME_MPIRUN_FLAGS})
  set_tests_properties(EndToEnd.Study PROPERTIES
    LABELS "end_to_end;mpi" TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")

  # The benchmark of the solvers runs on the host.
  add_test(NAME EndToEnd.BenchSolvers
    COMMAND ${TRIREME_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/bench/bench-solvers $<TARGET_FILE:solve>
            ${CMAKE_CURRENT_BINARY_DIR}/bench-solvers model --sizes 6 --device cpu --kernels csr)
  set_tests_properties(EndToEnd.BenchSolvers PROPERTIES LABELS end_to_end TIMEOUT 120
    PASS_REGULAR_EXPRESSION "convection3d 6, bicgstab . 216 .* `csr`"
    ENVIRONMENT "${TRIREME_MPI_ENVIRONMENT}")
endif()
