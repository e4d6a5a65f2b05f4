# Fails when TriremeCudaArchitectures chooses other architectures than it should, for machines with
# several GPUs, with old ones and with none. A program in WORK stands in for nvidia-smi. Takes
# MODULE and WORK.
function(check given printed status expected)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/nvidia-smi "#!/bin/sh\nprintf '${printed}'\nexit ${status}\n")
  file(CHMOD ${WORK}/nvidia-smi PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(ENV{PATH} "${WORK}:$ENV{PATH}")
  set(CMAKE_CUDA_ARCHITECTURES ${given})
  include(${MODULE})
  if(NOT CMAKE_CUDA_ARCHITECTURES STREQUAL expected)
    message(SEND_ERROR "'${given}' with GPUs '${printed}': '${CMAKE_CUDA_ARCHITECTURES}', not '${expected}'")
  endif()
endfunction()

check(native "9.0\\n" 0 "90")
check(native "8.0\\n9.0\\n9.0\\n" 0 "80;90")
check(native "7.5\\n8.6\\n" 0 "86")
check(native "7.0\\n" 0 "90")
check(native "10.0\\n12.0\\n" 0 "100;120")
check(native "" 0 "90")
check(native "NVIDIA-SMI has failed because it could not communicate with the driver 9.0\\n" 9 "90")
check("" "8.0\\n" 0 "80-real;90")
check("86" "8.0\\n" 0 "86")
