// SPDX-License-Identifier: BSD-3-Clause
// What surrounds each function of the interface.
#pragma once

#include <trireme/solver.hpp>

#include <optional>
#include <utility>

#include "api/failures.hpp"
#include "device/device_scope.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme::api {

template <class T>
DeviceSpan<T> of(const GpuArray<T>& array) {
  return {array.data, array.size};
}
template <class T>
StreamRef stream_of(const GpuArray<T>& array) {
  return static_cast<StreamRef>(array.stream);
}

// Calls work() with GPU number `gpu` as the current device (-1: as it is), brings the caller's
// device back, and turns errors into Failures.
template <class Work>
auto on_device(int gpu, Work&& work) {
  return with_failures([&] {
    std::optional<DeviceScope> scope;
    if (gpu >= 0)
      scope.emplace(gpu);
    else
      scope.emplace();
    return std::forward<Work>(work)();
  });
}

}  // namespace trireme::api
