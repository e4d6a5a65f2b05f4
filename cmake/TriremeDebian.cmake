# The Debian packages that `cpack -G DEB` makes: trireme (the programs), libtrireme0.2 (the library
# of the programs, whose SONAME is in the name of the package), libtrireme-petsc (the plugin),
# libtrireme-dev, and with TRIREME_PYTHON python3-trireme.
set(folder ${PROJECT_SOURCE_DIR}/packaging/debian)
find_program(TRIREME_GZIP gzip REQUIRED)
file(STRINGS ${folder}/changelog newest LIMIT_COUNT 1)
if(NOT newest MATCHES "^trireme \\(${PROJECT_VERSION}-([0-9]+)\\)")
  message(FATAL_ERROR "packaging/debian/changelog does not begin with version ${PROJECT_VERSION}")
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE ${CMAKE_MATCH_1})
file(STRINGS ${folder}/changelog signatures REGEX "^ -- .*>  ")
list(GET signatures 0 signature)
string(REGEX REPLACE "^ -- (.*>)  .*" "\\1" signature "${signature}")
set(TRIREME_MAINTAINER "${signature}" CACHE STRING
  "Who answers for the Debian packages, \"Name <address>\": by default who signed the newest entry of their changelog")

# trireme_debian_gzip(<source> <name>): the packed file in the build folder, without a time inside.
function(trireme_debian_gzip source name)
  execute_process(COMMAND ${TRIREME_GZIP} -9nc ${source} OUTPUT_FILE ${PROJECT_BINARY_DIR}/debian/${name}.gz
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

get_target_property(soversion trireme SOVERSION)
set(core libtrireme${soversion})
set(names programs trireme core ${core} libraries libtrireme-petsc development libtrireme-dev)
set(CPACK_COMPONENTS_ALL programs core libraries development)
if(TRIREME_PYTHON)
  list(APPEND names python python3-trireme)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/debian)
trireme_debian_gzip(${folder}/changelog changelog.Debian)
trireme_debian_gzip(${PROJECT_SOURCE_DIR}/CHANGELOG.md changelog)
while(names)
  list(POP_FRONT names component package)
  install(FILES ${folder}/copyright ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz
    ${PROJECT_BINARY_DIR}/debian/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  if(EXISTS ${folder}/${component}.lintian-overrides)
    install(FILES ${folder}/${component}.lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
      RENAME ${package} COMPONENT ${component})
  endif()
endwhile()

# Debian packs man pages, which the build has written when the package is made.
foreach(page man1/trireme.1 man1/trireme-solve.1 man1/trireme-problem.1 man1/trireme-bench.1 man5/trireme-case.5)
  get_filename_component(section ${page} DIRECTORY)
  install(CODE "execute_process(COMMAND ${TRIREME_GZIP} -9nkf ${PROJECT_BINARY_DIR}/pages/${page}
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT programs)
  install(FILES ${PROJECT_BINARY_DIR}/pages/${page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/${section} COMPONENT programs)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME trireme)
set(CPACK_PACKAGE_CONTACT "${TRIREME_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CPACK_PACKAGE_CONTACT}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "solver of large sparse linear systems
 Trireme solves systems A x = b by Krylov methods and complete factors, on the
 cores of one computer or on many computers by MPI. The package has the
 program trireme, cases, the schema of cases, a script for Slurm and the
 documentation.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS "${core} (= ${version})")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "libtrireme-petsc, python3-h5py, slurm-client")

set(CPACK_COMPONENT_CORE_DESCRIPTION "solver of large sparse linear systems - library
 The package has the library that the programs, the plugin for PETSc and the
 Python package share. It needs neither PETSc nor HDF5.")
set(CPACK_DEBIAN_CORE_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_CORE_PACKAGE_CONTROL_EXTRA ${folder}/triggers)

set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION "solver of large sparse linear systems - plugin for PETSc
 PETSc loads libtrireme_petsc.so into programs that were never compiled against
 Trireme: -dll_prepend with its path adds a matrix type, KSP types and
 multigrid.")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_DEPENDS "${core} (= ${version})")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_CONTROL_EXTRA ${folder}/triggers)

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "solver of large sparse linear systems - headers
 The package has the headers trireme/petsc.h (C, for PETSc programs) and
 trireme/solver.hpp (C++20, for one process), and what CMake and pkg-config
 need to find the libraries.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
string(TOLOWER "${TRIREME_PETSC}" petsc)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${core} (= ${version}), libtrireme-petsc (= ${version}), ${petsc}-dev, libopenmpi-dev, pkg-config")

if(TRIREME_PYTHON)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "solver of large sparse linear systems - Python package
 The package trireme solves systems whose matrix is a matrix of SciPy or an
 array of NumPy, in one process or in many. Its functions are called as those
 of scipy.sparse.linalg.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  math(EXPR next "${minor_of_python} + 1")  # the extension serves no other Python
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${core} (= ${version}), python3 (>= 3.${minor_of_python}), python3 (<< 3.${next}), \
python3-numpy (>= 1:1.23), python3-scipy (>= 1.10)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${folder}/python/postinst ${folder}/python/prerm)
endif()
include(CPack)
