// SPDX-License-Identifier: BSD-3-Clause
// What a caller asks of a preconditioner, and the traits of a preconditioner.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace trireme::solvers {

enum class PreconditionerKind : int;  // its values are in list.hpp
class GivenPreconditioner;            // in given.hpp

// The preconditioner that a caller asks for. The spans refer to the caller's arrays on the host,
// which hold this process's rows.
struct PreconditionerSpec {
  using Kind = PreconditionerKind;
  Kind kind{};  // none
  // Of A. Empty, and `inverse_diagonal` too: for jacobi, CudaSolver takes it from the system's CSR
  // on the device.
  std::span<const double> diagonal;
  std::span<const double> inverse_diagonal;  // for jacobi, used in place of `diagonal`
  // The method needs a positive definite M. Jacobi takes the magnitudes of the diagonal. Block
  // Jacobi takes a block whose first diagonal entry is negative times -1, so that M is positive
  // definite also where A is negative definite.
  bool magnitudes = false;
  // For blocks: entry [i * block_size + k] is A(i, first row of i's block + k), 0 beyond the block.
  // Empty: CudaSolver takes the entries from the system's CSR on the device.
  std::span<const double> blocks;
  std::span<const std::int32_t> group_starts;  // ascending, 0 .. rows; empty: natural blocks
  std::int32_t block_size = 0;                 // of the widest block, 2 .. 32
  std::int32_t degree = 4;                     // chebyshev: products with A per application
  std::int32_t estimation_steps = 20;          // chebyshev: CG iterations that bound the spectrum
  std::int64_t first_row = 0;                  // of this process's rows, in the matrix
  // The number by which messages name each row. Empty: first_row + row.
  std::span<const std::int32_t> callers_rows;
  GivenPreconditioner* given = nullptr;  // given: not owned, outlives the solver
};

// The data that the caller has to put into the spec.
enum class PreconditionerData { nothing, diagonal, blocks };

// An integer option of a preconditioner's PC type.
struct PreconditionerParameter {
  std::string_view option;  // "-pc_trireme_degree"; empty: there is none
  std::string_view text;
  std::int32_t initial = 0, min = 0, max = 0;
  std::int32_t PreconditionerSpec::*place = nullptr;
};

struct PreconditionerInfo {
  std::string_view pc_type;  // PETSc's name; empty: PETSc's own PC types stand for it
  std::string_view summary;
  PreconditionerData data = PreconditionerData::nothing;
  PreconditionerParameter parameter;
  bool symmetric = false;         // serves only methods for symmetric matrices
  bool sets_up_together = false;  // the set-up is collective over the processes
  bool row_order_is_free = true;  // the rows may be in the kernel's own order
};

}  // namespace trireme::solvers
