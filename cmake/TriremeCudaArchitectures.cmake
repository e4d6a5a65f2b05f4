# Sets CMAKE_CUDA_ARCHITECTURES. Without a value: those of all GPUs that Trireme supports. `native`:
# those of the GPUs of this machine, and where it has none, one, which halves the compile time.
# Where CI is set and no GPU is there, the code for GPUs will not run: TRIREME_CUDA_UNUSED.
if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native")
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capabilities RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCHALL "[0-9]+[.][0-9]+" capabilities "${capabilities}")
  list(TRANSFORM capabilities REPLACE "[.]" "")
  list(FILTER capabilities EXCLUDE REGEX "^[5-7].$")  # older than 8.0: Trireme does not run there
  list(REMOVE_DUPLICATES capabilities)
  if(failed OR NOT capabilities)
    set(capabilities 90)
    if(DEFINED ENV{CI})
      set(TRIREME_CUDA_UNUSED ON)
      set(capabilities 90-virtual)  # PTX alone: machine code takes a fifth of the compile time
    endif()
    message(STATUS "No GPU of compute capability 8.0 or higher is visible: CUDA code is compiled for compute capability 9.0; "
      "-D CMAKE_CUDA_ARCHITECTURES= compiles it for all")
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${capabilities})
elseif(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # 90 without suffix: machine code and PTX
endif()
