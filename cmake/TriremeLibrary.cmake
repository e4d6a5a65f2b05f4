set(TRIREME_LIBRARIES_OF "" CACHE PATH
  "A build folder of these sources, whose libraries are linked where they do not use PETSc. Empty: all are built.")

# trireme_library(<folder> [LINKS <targets...>] [PRIVATE_LINKS <targets...>] [CUDA_ONLY <files...>]
# [EXCLUDE <files...>]): the static library trireme_<folder> of all sources in src/<folder> and below.
# A new source file needs no line here. Without CUDA, *.cu and the files that CUDA_ONLY names are left
# out; with CUDA, *without_cuda.cpp are left out. In a library a conversion that may lose bits, such as
# 64-bit to 32-bit indices, must be written out.
function(trireme_library folder)
  cmake_parse_arguments(ARG "" "" "LINKS;PRIVATE_LINKS;CUDA_ONLY;EXCLUDE" ${ARGN})
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
  set(target trireme_${folder})
  if(TRIREME_LIBRARIES_OF AND NOT "${ARG_LINKS}" MATCHES "PkgConfig::PETSC|trireme_petsc")
    set(sources ${PROJECT_BINARY_DIR}/linked_library.cpp)
    file(CONFIGURE OUTPUT ${sources} CONTENT "// The library is that of TRIREME_LIBRARIES_OF.\n")
    list(TRANSFORM ARG_PRIVATE_LINKS REPLACE "(.+)" "$<LINK_ONLY:\\1>" OUTPUT_VARIABLE link_only)
    add_library(${target}_built STATIC IMPORTED GLOBAL)
    set_target_properties(${target}_built PROPERTIES INTERFACE_LINK_LIBRARIES "${ARG_LINKS};${link_only}"
      IMPORTED_LOCATION ${TRIREME_LIBRARIES_OF}/src/${folder}/lib${target}.a)
    list(PREPEND ARG_LINKS ${target}_built)
  endif()
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS} trireme_warnings)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wdouble-promotion>
    $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo --expt-relaxed-constexpr>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
endfunction()
