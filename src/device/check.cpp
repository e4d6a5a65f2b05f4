// SPDX-License-Identifier: BSD-3-Clause
// Turns CUDA status codes into messages for the user.
#include "device/check.hpp"

#include <string_view>

#include "base/error.hpp"

namespace trireme {
namespace {

bool means_no_device(cudaError_t status) {
  switch (status) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return true;
    default:
      return false;
  }
}

// Where there is no driver, the runtime reports that the driver is too old. This text says more.
const char* why_no_device(cudaError_t status) {
  int driver = 0;
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
      driver == 0)
    return "this machine has no NVIDIA driver";
  return cudaGetErrorString(status);
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void cuda_check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // Clears the error, so that check_launch() does not report it again.
  const std::string_view file = file_name(where.file_name());
  if (status == cudaErrorMemoryAllocation)
    fail(ExitCode::resource, "CUDA: out of memory at {}:{}", file, where.line());
  if (means_no_device(status))
    fail(ExitCode::resource, "no usable CUDA device: {}; use device: cpu, or see nvidia-smi",
         why_no_device(status));
  fail(ExitCode::internal, "CUDA: {} ({}) at {}:{}", cudaGetErrorString(status),
       cudaGetErrorName(status), file, where.line());
}

}  // namespace trireme
