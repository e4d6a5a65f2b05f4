# The package python3-trireme is for Debian's own Python. nanobind, with which the extension is
# built, is no package of Debian 12: pip brings it into a folder of the build, unless
# Python_EXECUTABLE names a Python that has it. Nothing of that folder is installed.
set(TRIREME_PYTHON_FOLDER lib/python3/dist-packages)
if(NOT DEFINED Python_EXECUTABLE)
  set(environment ${PROJECT_BINARY_DIR}/nanobind)
  execute_process(COMMAND ${environment}/bin/python -m nanobind --version RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(NOT result EQUAL 0)
    execute_process(COMMAND /usr/bin/python3 -m venv ${environment} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${environment}/bin/pip install -q nanobind>=3 RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "pip cannot install nanobind; -D TRIREME_PYTHON=OFF leaves out the package python3-trireme")
    endif()
  endif()
  set(Python_EXECUTABLE ${environment}/bin/python)
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -c "import sys; print(sys.version_info.minor)"
  OUTPUT_VARIABLE minor_of_python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
