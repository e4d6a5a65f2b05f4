// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factors made and applied by one GPU. This header compiles without CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include "device/span.hpp"
#include "device/stream.hpp"
#include "factors/pattern.hpp"
#include "kernels/device_csr.hpp"

namespace trireme::factors {

// How the GPU applies factors. Each row waits for the numbers that it needs, and for no others.
enum class SweepKernel {
  chosen,     // by a rule that knows the pattern only
  one_block,  // a single block, whose shared memory has the numbers that rows wait for
  grid        // all of the GPU; rows wait for numbers in global memory
};

// For tests and measurements; 0 leaves the choice to the rule.
struct SweepOptions {
  SweepKernel kernel = SweepKernel::chosen;
  int threads = 0;  // of the single block: a multiple of 32, at most 1024
  int warps = 0;    // of the grid
};

// As FactorNumbers has them (numbers.hpp).
struct DeviceFacts {
  std::int64_t replaced = 0;
  double shift = 0;
  bool in_fp32 = false;  // L and U are kept in FP32, within whose range all of their numbers are
  SweepKernel kernel = SweepKernel::chosen;  // the one that was chosen
};

class DeviceFactors {
 public:
  // `a` has the pattern that `pattern` was made of, and no other stream writes it any more. L, D
  // and U before they are rounded have the bits of make_numbers(). A system that is too large for
  // the kernel of `options` gets the grid. Throws Error{resource} where the memory does not
  // suffice, and in a build without CUDA. Waits for the GPU.
  static std::unique_ptr<DeviceFactors> make(const FactorPattern& pattern,
                                             const DeviceCsr<double>& a, bool definite,
                                             const SweepOptions& options = {});
  virtual ~DeviceFactors() = default;

  // Takes other values of `a` on the same pattern. Waits for the GPU.
  virtual void renew(const DeviceCsr<double>& a) = 0;
  // Queues z = (I + U)^-1 D^-1 (I + L)^-1 r, in the order of A's rows. r and z do not overlap. May
  // be recorded into a graph, also into one that loops on the device. The bits are the same from
  // run to run. It ends whatever else the GPU does meanwhile: a block waits only for blocks that
  // run. One application of an object runs at a time.
  virtual void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) = 0;
  // Rises where addresses that a graph has recorded are no longer valid.
  virtual std::uint64_t version() const = 0;
  virtual DeviceFacts facts() const = 0;
};

}  // namespace trireme::factors
