// SPDX-License-Identifier: BSD-3-Clause
// Compares the memory of padded rows with that of CSR. The bytes are counted in floating point,
// because their number can exceed 64 bits.
#include "kernels/peers/ell/memory.hpp"

#include "base/error.hpp"

namespace trireme::ell {

void require_memory(std::int64_t rows, std::int64_t nnz, std::int64_t width,
                    std::size_t value_bytes) {
  constexpr double kIndexBytes = sizeof(std::int32_t);
  const double entry_bytes = static_cast<double>(value_bytes) + kIndexBytes;
  const double padded = static_cast<double>(rows) * static_cast<double>(width) * entry_bytes;
  const double csr =
      static_cast<double>(nnz) * entry_bytes + static_cast<double>(rows + 1) * kIndexBytes;
  if (padded <= kMaxMemory * csr) return;
  fail(ExitCode::resource,
       "kernel 'ell' would pad {} rows to the {} nonzeros of the longest one, which takes {:.3g} "
       "MB, "
       "more than {} times the {:.3g} MB of CSR; use hyb, jds or csr",
       rows, width, 1e-6 * padded, kMaxMemory, 1e-6 * csr);
}

}  // namespace trireme::ell
