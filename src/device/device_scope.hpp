// SPDX-License-Identifier: BSD-3-Clause
// This header compiles without CUDA.
#pragma once

namespace trireme {

// Brings back the current device of this thread when it ends. Without CUDA or a GPU there is none.
class DeviceScope {
 public:
  DeviceScope();
  explicit DeviceScope(int device);  // which becomes the current one. Throws Error{resource}.
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = -1;
};

}  // namespace trireme
