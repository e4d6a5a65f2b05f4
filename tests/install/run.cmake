# cmake -P: installs the built library into a fresh folder, builds the consumer against it, runs it.
# Takes BUILD, SOURCE, WORK, GENERATOR, CC, C_FLAGS, MPIEXEC (a list: command and flags).
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
file(COPY ${SOURCE}/consumer.c DESTINATION ${WORK}/source)
must(${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_C_COMPILER=${CC} -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_C_FLAGS=${C_FLAGS})
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${MPIEXEC} ${WORK}/build/consumer)
if(NOT text MATCHES "x = 2\\.?\nx = 4")
  message(FATAL_ERROR "the consumer solved 4 x = 8 and 2 x = 8 with: ${text}")
endif()

# Nothing but the two headers and the shared library is there to be used from C and C++.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/*)
if(NOT headers STREQUAL "trireme/petsc.h;trireme/version.h")
  message(FATAL_ERROR "installed headers: ${headers}")
endif()
file(GLOB_RECURSE archives ${WORK}/prefix/*.a)
if(archives)
  message(FATAL_ERROR "static libraries are installed: ${archives}")
endif()
