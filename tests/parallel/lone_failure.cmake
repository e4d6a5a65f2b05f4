# Runs lone_failure for each way in which a rank can fail. Expects one line and the exit code.
separate_arguments(FLAGS)

function(expect how who code line)
  execute_process(COMMAND ${MPIEXEC} -n 3 ${FLAGS} ${PROGRAM} ${how} ${who}
    TIMEOUT 20 RESULT_VARIABLE result ERROR_VARIABLE errors OUTPUT_QUIET)
  string(REGEX MATCHALL "lone_failure: " lines "${errors}")
  string(FIND "${errors}" "lone_failure: ${line}\n" found)
  if(NOT "${result}" STREQUAL "${code}" OR NOT "${lines}" STREQUAL "lone_failure: " OR found EQUAL -1)
    message(SEND_ERROR "${how} ${who}: ${result} where ${code} is expected\n${errors}")
  endif()
endfunction()

expect(memory one 4 "rank 1: not enough memory on this rank; use more ranks or nodes")
expect(part one 3 "rank 1: the part of this rank is gone")
expect(thread one 4 "rank 1: not enough memory on this rank; use more ranks or nodes")
expect(error all 3 "the file of this rank is gone")
expect(part all 3 "the part of this rank is gone")
