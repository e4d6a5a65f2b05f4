# TRIREME_TEST_PYTHON: a Python that has h5py and scipy (Debian: python3-h5py, python3-scipy), or
# empty; tests against files of other programs need it.
if(NOT TRIREME_TEST_PYTHON)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  foreach(candidate ${Python3_EXECUTABLE} /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import h5py, scipy.sparse, scipy.io"
                    RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(NOT missing)
      set(TRIREME_TEST_PYTHON ${candidate} CACHE FILEPATH "Python with h5py and scipy, for tests")
      break()
    endif()
  endforeach()
  if(NOT TRIREME_TEST_PYTHON)
    message(WARNING "no Python with h5py and scipy: the tests against their files are left out")
  endif()
endif()
