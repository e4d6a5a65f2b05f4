# cmake -P: installs the built library into a fresh folder, builds the consumer against it, runs it.
# Takes BUILD, SOURCE, WORK, GENERATOR, CC, CXX, C_FLAGS, MPIEXEC (a list: command and flags), RUN
# (what comes before a program that is started alone) and PETSC_FOLDERS (of its libraries).
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

# `trireme` finds the programs, which have links of their own names.
foreach(words "trireme;solve" "trireme;bench" solve problem)
  must(${RUN} ${WORK}/prefix/bin/${words} --version)
  if(NOT text MATCHES "^trireme [0-9.]+\n")
    message(FATAL_ERROR "${words} --version says: ${text}")
  endif()
endforeach()

# Nothing but the three headers and the shared library is there to be used from C and C++.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/*)
if(NOT headers STREQUAL "trireme/petsc.h;trireme/solver.hpp;trireme/version.h")
  message(FATAL_ERROR "installed headers: ${headers}")
endif()
file(GLOB_RECURSE archives ${WORK}/prefix/*.a)
if(archives)
  message(FATAL_ERROR "static libraries are installed: ${archives}")
endif()

# What people use beside the programs is there.
foreach(file configs/slurm.sh configs/case.schema.json configs/report.schema.json configs/solvers/cg-amg.yaml
    cases/poisson3d/case.yaml)
  if(NOT EXISTS ${WORK}/prefix/share/trireme/${file})
    message(FATAL_ERROR "share/trireme/${file} is not installed")
  endif()
endforeach()
foreach(file LICENSE README.md docs/running.md)
  if(NOT EXISTS ${WORK}/prefix/share/doc/trireme/${file})
    message(FATAL_ERROR "share/doc/trireme/${file} is not installed")
  endif()
endforeach()

# Completions and man pages lie where shells and man look.
foreach(file bash-completion/completions/trireme bash-completion/completions/solve zsh/site-functions/_trireme
    fish/vendor_completions.d/trireme.fish man/man1/trireme-solve.1 man/man5/trireme-case.5)
  if(NOT EXISTS ${WORK}/prefix/share/${file})
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()

# pkg-config finds the header and the library where they are now, which is not where the build was
# told to install.
find_program(PKG_CONFIG pkg-config REQUIRED)
file(GLOB_RECURSE description ${WORK}/prefix/*/trireme.pc)
get_filename_component(folder "${description}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
must(${PKG_CONFIG} --cflags --libs trireme)
string(STRIP "${text}" flags)
separate_arguments(flags UNIX_COMMAND "${flags} ${C_FLAGS}")
must(${CXX} -std=c++20 -fsyntax-only ${SOURCE}/core.cpp ${flags})
string(REGEX MATCH "-L([^ ;]+)" ignored "${flags}")
if(NOT EXISTS ${CMAKE_MATCH_1}/libtrireme.so)
  message(FATAL_ERROR "trireme.pc names no folder with libtrireme.so: ${flags}")
endif()
must(${PKG_CONFIG} --cflags --libs trireme-petsc)
if(NOT text MATCHES "-ltrireme_petsc.* -lpetsc")
  message(FATAL_ERROR "trireme-petsc.pc says: ${text}")
endif()

# The installed programs find a PETSc that lies outside the folders of the system.
find_program(READELF readelf REQUIRED)
must(${READELF} -d ${WORK}/prefix/bin/solve)
foreach(folder ${PETSC_FOLDERS})
  if(NOT text MATCHES "RUNPATH[^\n]*[[::]${folder}[]:]")
    message(FATAL_ERROR "the installed solve does not look for libraries in ${folder}:\n${text}")
  endif()
endforeach()
