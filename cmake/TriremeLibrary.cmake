# The folders of src/ that become one shared library, libtrireme.so, which all programs, all tests
# and the plugin for PETSc share. It needs neither PETSc nor HDF5.
set(TRIREME_CORE base parallel sparse device kernels ordering solvers distributed multigrid partitioning planning inverses factors api)
# Folders that prepare and report what others compute: optimisation would only take compile time.
set(TRIREME_AROUND app config report study)
option(BUILD_SHARED_LIBS "ON: TRIREME_CORE is a shared library. OFF: each program holds what it needs of it." ON)
set(TRIREME_LIBRARIES_OF "" CACHE PATH
  "A build folder of these sources, whose libraries are linked where they do not use PETSc. Empty: all are built.")

if(BUILD_SHARED_LIBS)
  if(TRIREME_LIBRARIES_OF)
    add_library(trireme SHARED IMPORTED GLOBAL)
    set_target_properties(trireme PROPERTIES IMPORTED_LOCATION ${TRIREME_LIBRARIES_OF}/src/libtrireme.so)
  else()
    set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    add_library(trireme SHARED)
    # Calls within the library are bound when it is linked, so that they cost no search for names.
    target_link_options(trireme PRIVATE LINKER:--version-script=${exports}
      LINKER:-Bsymbolic-functions,--as-needed,--no-undefined)
    set_target_properties(trireme PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${exports}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/src)
    # The folders share more than include/trireme/ declares, which may change with a minor version.
    set_target_properties(trireme PROPERTIES EXPORT_NAME core
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_include_directories(trireme INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(trireme INTERFACE cxx_std_20)
    install(TARGETS trireme EXPORT TriremeTargets LIBRARY COMPONENT core NAMELINK_COMPONENT development)
  endif()
endif()

# trireme_library(<folder> [LINKS <targets...>] [PRIVATE_LINKS <targets...>] [CUDA_ONLY <files...>]
# [EXCLUDE <files...>]): the library trireme_<folder> of all sources in src/<folder> and below: a
# part of libtrireme.so if TRIREME_CORE names the folder, a static library otherwise. The target
# trireme_<folder>_sources compiles them. A new source file needs no line here. Without CUDA, *.cu
# and the files that CUDA_ONLY names are left out; with CUDA, *without_cuda.cpp are left out. Each
# *.cu is compiled alone, also where a unity build joins the other sources. In a library a
# conversion that may lose bits, such as 64-bit to 32-bit indices, must be written out.
function(trireme_library folder)
  cmake_parse_arguments(ARG "" "" "LINKS;PRIVATE_LINKS;CUDA_ONLY;EXCLUDE" ${ARGN})
  set(target trireme_${folder})

  # What a file needs that includes a header of this folder.
  add_library(${target}_headers INTERFACE)
  target_include_directories(${target}_headers INTERFACE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target}_headers INTERFACE cxx_std_20)
  set(others ${ARG_LINKS})
  list(FILTER others EXCLUDE REGEX "^trireme_")
  set(folders ${ARG_LINKS})
  list(FILTER folders INCLUDE REGEX "^trireme_")
  list(TRANSFORM folders APPEND _headers)
  target_link_libraries(${target}_headers INTERFACE ${folders} ${others})

  set(is_core OFF)
  if(BUILD_SHARED_LIBS AND folder IN_LIST TRIREME_CORE)
    set(is_core ON)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${target}_headers trireme)
  endif()
  if(TRIREME_LIBRARIES_OF AND NOT "${ARG_LINKS}" MATCHES "PkgConfig::PETSC|trireme_petsc")
    add_library(${target}_sources INTERFACE)
    if(NOT is_core)
      list(TRANSFORM ARG_PRIVATE_LINKS REPLACE "(.+)" "$<LINK_ONLY:\\1>" OUTPUT_VARIABLE link_only)
      add_library(${target} STATIC IMPORTED GLOBAL)
      set_target_properties(${target} PROPERTIES
        IMPORTED_LOCATION ${TRIREME_LIBRARIES_OF}/src/${folder}/lib${target}.a
        INTERFACE_LINK_LIBRARIES "${target}_headers;${ARG_LINKS};${link_only}")
    endif()
    return()
  endif()

  set(patterns *.cpp)
  if(TRIREME_WITH_CUDA)
    list(APPEND patterns *.cu)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${patterns})
  if(TRIREME_WITH_CUDA)
    list(FILTER sources EXCLUDE REGEX "without_cuda\\.cpp$")
  else()
    list(REMOVE_ITEM sources "" ${ARG_CUDA_ONLY})
  endif()
  list(REMOVE_ITEM sources "" ${ARG_EXCLUDE})
  set(cuda_sources ${sources})
  list(FILTER cuda_sources INCLUDE REGEX "\\.cu$")
  set_source_files_properties(${cuda_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_library(${target}_sources OBJECT ${sources})
  target_link_libraries(${target}_sources PRIVATE ${target}_headers ${ARG_PRIVATE_LINKS} trireme_warnings)
  set_target_properties(${target}_sources PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target}_sources PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wdouble-promotion>
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
  if(folder IN_LIST TRIREME_AROUND)
    target_compile_options(${target}_sources PRIVATE $<$<CONFIG:Release>:-O1>)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
      target_compile_options(${target}_sources PRIVATE -O0)
    endif()
  endif()
  if(is_core)
    target_sources(trireme PRIVATE $<TARGET_OBJECTS:${target}_sources>)
    target_link_libraries(trireme PRIVATE ${others} ${ARG_PRIVATE_LINKS})
  else()
    add_library(${target} STATIC $<TARGET_OBJECTS:${target}_sources>)
    target_link_libraries(${target} PUBLIC ${target}_headers ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  endif()
endfunction()
