# Fails when LIBRARY shows a name that has no `trireme` in it, which could meet a name of the
# program that loads it, such as one of the CUDA runtime. NM lists the names.
execute_process(COMMAND ${NM} -D --defined-only -f posix ${LIBRARY} OUTPUT_VARIABLE names RESULT_VARIABLE failed)
string(REGEX MATCHALL "[^\n]+" names "${names}")
list(LENGTH names count)
if(failed OR count LESS 100)
  message(FATAL_ERROR "${LIBRARY} shows ${count} names")
endif()
list(FILTER names EXCLUDE REGEX "7trireme")
if(names)
  message(FATAL_ERROR "${LIBRARY} shows names of other libraries: ${names}")
endif()
