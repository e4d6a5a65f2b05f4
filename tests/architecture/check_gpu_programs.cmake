# Fails when scripts/gpu-check leaves out one of PROGRAMS, the test programs of the label gpu. The
# script names each program, but for <kernel>_gpu_test: it runs that program for every kernel.
if(NOT PROGRAMS)
  message(FATAL_ERROR "there is no test program of the label gpu")
endif()
file(READ ${SOURCE}/scripts/gpu-check script)
foreach(program ${PROGRAMS})
  string(REGEX REPLACE "_gpu_test$" "" kernel ${program})
  file(GLOB header ${SOURCE}/src/kernels/${kernel}/${kernel}.hpp ${SOURCE}/src/kernels/peers/${kernel}/${kernel}.hpp)
  if(NOT script MATCHES "[^a-z_]${program}[^a-z_]" AND NOT header)
    message(SEND_ERROR "scripts/gpu-check does not run ${program}")
  endif()
endforeach()
