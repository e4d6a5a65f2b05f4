// SPDX-License-Identifier: BSD-3-Clause
// D^-1 of a preconditioner as loops with FP32 vectors on a GPU read it.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "kernels/narrow_kernel.hpp"

namespace trireme::solvers {

class CudaFp32Diagonal {
 public:
  // The preconditioner with its D^-1, if it has an array of `rows` numbers, rounded into memory of
  // this object, whose address stays. Asynchronous in `stream`.
  template <class M>
  M with_it(const M& m, std::int64_t rows, StreamRef stream) {
    M narrow = m;
    if constexpr (requires { m.in_fp32; }) {
      if (!m.inverse_diagonal.values) return narrow;
      const auto count = static_cast<std::size_t>(rows);
      if (numbers_.size() < count) numbers_ = DeviceBuffer<float>(count, stream);
      round_to_fp32({m.inverse_diagonal.values, count}, numbers_.span(), stream);
      narrow.in_fp32 = numbers_.data();
    }
    return narrow;
  }

 private:
  DeviceBuffer<float> numbers_;
};

}  // namespace trireme::solvers
