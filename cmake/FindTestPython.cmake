# Sets TRIREME_TEST_PYTHON to a Python interpreter that has h5py, scipy, yaml and jsonschema (on
# Debian the packages python3-...), or leaves it empty. Tests with files of other programs need it.
if(NOT TRIREME_TEST_PYTHON)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  foreach(candidate ${Python3_EXECUTABLE} /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import h5py, jsonschema, scipy.io, scipy.sparse, yaml"
                    RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(NOT missing)
      set(TRIREME_TEST_PYTHON ${candidate} CACHE FILEPATH "Python with h5py, scipy, yaml, jsonschema, for tests")
      break()
    endif()
  endforeach()
  if(NOT TRIREME_TEST_PYTHON)
    message(WARNING "no Python with h5py, scipy, yaml and jsonschema: the tests that need them are left out")
  endif()
endif()
