# cmake -P: runs COMMAND (a list), which must succeed with an output that matches each of EXPECT.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
message("${text}")
if(text MATCHES "SKIPPED:")  # CTest shows the test as skipped
  return()
endif()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the program ended with ${result}")
endif()
foreach(expected ${EXPECT})
  if(NOT text MATCHES "${expected}")
    message(FATAL_ERROR "the output lacks: ${expected}")
  endif()
endforeach()
