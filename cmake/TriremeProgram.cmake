# Where programs are installed. Names such as `solve` and `problem` are not for /usr/bin: the
# programs lie in a folder of their own, `trireme COMMAND` starts them, and links keep their names
# in the folder of programs of every installation but the Debian package.
set(programs ${CMAKE_INSTALL_FULL_LIBEXECDIR}/trireme)
file(RELATIVE_PATH TRIREME_PROGRAMS ${CMAKE_INSTALL_FULL_BINDIR} ${programs})
file(RELATIVE_PATH libraries ${programs} ${CMAKE_INSTALL_FULL_LIBDIR})
set(TRIREME_PROGRAM_RPATH $ORIGIN $ORIGIN/${libraries} ${CMAKE_INSTALL_RPATH})

# trireme_install_program(<target>): who builds it has `trireme` too.
function(trireme_install_program name)
  add_dependencies(${name} trireme_front)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${TRIREME_PROGRAM_RPATH}")
  install(TARGETS ${name} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/trireme)
  if(NOT TRIREME_DEBIAN)
    set(link ${PROJECT_BINARY_DIR}/links/${name})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/links)
    file(CREATE_LINK ${TRIREME_PROGRAMS}/${name} ${link} SYMBOLIC)
    install(FILES ${link} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()
