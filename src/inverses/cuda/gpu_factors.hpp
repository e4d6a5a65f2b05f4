// SPDX-License-Identifier: BSD-3-Clause
// G and G^T that one GPU has made and keeps, without a copy on the host. This header compiles
// without CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include "device/span.hpp"
#include "device/stream.hpp"
#include "inverses/facts.hpp"
#include "kernels/device_csr.hpp"

namespace trireme::inverses {

class GpuFactors {
 public:
  // Null where the host has to make them, as make_fsai_on_device() says, and in a build without
  // CUDA. Waits for the GPU.
  static std::unique_ptr<GpuFactors> make(const DeviceCsr<double>& a, std::int32_t steps);
  virtual ~GpuFactors() = default;

  // Takes other values of `a` on the same pattern. False: the host has to make the factors. Waits
  // for the GPU.
  virtual bool renew(const DeviceCsr<double>& a) = 0;
  // Queues z = G^T (G r); `between` is a vector for G r.
  virtual void enqueue(DeviceSpan<const double> r, DeviceSpan<double> between, DeviceSpan<double> z,
                       StreamRef stream) = 0;
  // Rises where addresses that a graph has recorded are no longer valid.
  virtual std::uint64_t version() const = 0;
  virtual InverseFacts facts() const = 0;
};

}  // namespace trireme::inverses
