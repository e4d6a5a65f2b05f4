# cmake -P: installs the built library into a fresh folder, builds the consumer against it, runs it.
# Takes BUILD, SOURCE, WORK, GENERATOR, CC, CXX, C_FLAGS, MPIEXEC (a list: command and flags) and
# RUN (what comes before a program that is started alone).
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/source)
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(COPY_FILE ${SOURCE}/consumer.cmake ${WORK}/source/CMakeLists.txt)
file(COPY ${SOURCE}/consumer.c ${SOURCE}/core.cpp DESTINATION ${WORK}/source)
must(${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_C_COMPILER=${CC} -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_C_FLAGS=${C_FLAGS} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${C_FLAGS})
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${MPIEXEC} ${WORK}/build/consumer)
if(NOT text MATCHES "x = 2\\.?\nx = 4")
  message(FATAL_ERROR "the consumer solved 4 x = 8 and 2 x = 8 with: ${text}")
endif()

must(${RUN} ${WORK}/build/core)
if(NOT text MATCHES "cg, converged .*: x.500. = 2.000000")
  message(FATAL_ERROR "the program that uses Trireme::core says: ${text}")
endif()

# Nothing but the three headers and the shared library is there to be used from C and C++.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/*)
if(NOT headers STREQUAL "trireme/petsc.h;trireme/solver.hpp;trireme/version.h")
  message(FATAL_ERROR "installed headers: ${headers}")
endif()
file(GLOB_RECURSE archives ${WORK}/prefix/*.a)
if(archives)
  message(FATAL_ERROR "static libraries are installed: ${archives}")
endif()
