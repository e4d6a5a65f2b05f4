# What `cmake --install` brings, beside the programs and the libraries, whose own folders install
# them. Each file has a component: `programs`, `libraries` (the plugin for PETSc), `core`
# (libtrireme.so), `development` or `python`.
set(data ${CMAKE_INSTALL_DATADIR}/trireme)
set(pages ${CMAKE_INSTALL_DATADIR}/doc/trireme)
if(TRIREME_WITH_PROGRAMS)
  install(DIRECTORY configs cases DESTINATION ${data} COMPONENT programs
    FILES_MATCHING PATTERN "*.yaml" PATTERN "*.json" PATTERN "*.py")
  install(PROGRAMS configs/slurm.sh DESTINATION ${data}/configs COMPONENT programs)
  install(DIRECTORY docs DESTINATION ${pages} COMPONENT programs)
  install(FILES README.md CITATION.cff DESTINATION ${pages} COMPONENT programs)
endif()
if(NOT TRIREME_DEBIAN)  # Debian has its own names for these two files
  install(FILES LICENSE CHANGELOG.md DESTINATION ${pages} COMPONENT libraries)
endif()

# --- for programs that link the libraries: find_package(Trireme), pkg-config ----------------------
if(NOT BUILD_SHARED_LIBS AND NOT TRIREME_WITH_PETSC)
  return()
endif()
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Trireme)
configure_package_config_file(cmake/TriremeConfig.cmake.in ${PROJECT_BINARY_DIR}/TriremeConfig.cmake
  INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TriremeConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TriremeConfig.cmake ${PROJECT_BINARY_DIR}/TriremeConfigVersion.cmake
  DESTINATION ${config_folder} COMPONENT development)
install(EXPORT TriremeTargets NAMESPACE Trireme:: DESTINATION ${config_folder} COMPONENT development)
install(DIRECTORY include/trireme DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# A file for pkg-config names folders relative to its own, because `cmake --install --prefix` may
# name another prefix than the one that was configured.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up /prefix/${pkgconfig_folder} /prefix)
string(REGEX REPLACE "/$" "" up "${up}")
set(files "")
if(BUILD_SHARED_LIBS)
  list(APPEND files trireme.pc)
endif()
if(TRIREME_WITH_PETSC)
  list(APPEND files trireme-petsc.pc)
endif()
foreach(file ${files})
  configure_file(cmake/${file}.in ${PROJECT_BINARY_DIR}/${file} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${file} DESTINATION ${pkgconfig_folder} COMPONENT development)
endforeach()
