// SPDX-License-Identifier: BSD-3-Clause
// Prepares the preconditioners that run inside the loop: inverses, and Chebyshev's interval.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

namespace trireme::solvers {

struct PreconditionerSpec {
  enum class Kind { none, jacobi, blocks, chebyshev };
  Kind kind = Kind::none;
  std::span<const double> diagonal;          // of A, this process's rows: jacobi and chebyshev
  std::span<const double> inverse_diagonal;  // jacobi: taken as it is, in place of `diagonal`
  // blocks: entry [i * block_size + k] is A(i, first row of i's block + k), 0 beyond the block.
  // Empty: CudaSolver takes them from the system's CSR on the device.
  std::span<const double> blocks;
  std::span<const std::int32_t> group_starts;  // ascending, 0 .. rows; empty: natural blocks
  std::int32_t block_size = 0;                 // of the widest block, 2 .. 32
  std::int32_t degree = 4;                     // chebyshev: products with A an application
  std::int32_t estimation_steps = 20;          // chebyshev: CG iterations that bound the spectrum
  std::int64_t first_row = 0;                  // this process's, of the matrix
};

// Arrays on the host; the loop runs on a view of them, or of a copy on the device.
struct PreparedPreconditioner {
  Preconditioner::Kind kind = Preconditioner::Kind::pointwise;
  double constant = 1;             // the inverse diagonal, where it is the same in every row
  Array<double> inverse_diagonal;  // empty: constant
  Array<double> inverse_blocks;    // rows x block_size
  Array<RowGroup> group;           // of each row; empty: natural blocks
  std::int32_t block_size = 0;
  std::int32_t degree = 0;
};

// Which rows make a block: rows starts[k] .. starts[k + 1] - 1, `size` of them at most.
struct BlockRows {
  std::vector<std::int32_t> starts;
  std::int64_t rows = 0;
  std::int32_t size = 0;
  bool natural = true;         // all but the last have `size` rows
  std::int64_t first_row = 0;  // as PreconditionerSpec's

  Array<RowGroup> groups() const;  // of each row
};
// Throws Error{usage} for sizes that do not fit.
BlockRows block_rows(const PreconditionerSpec& spec, std::int64_t rows);

// Throws Error{input}: the block that begins with this process's row `row` cannot be inverted.
[[noreturn]] void refuse_singular_block(const BlockRows& blocks, std::int64_t row);

// On the host. A zero on the diagonal counts as 1, as in PETSc's PCJACOBI. Throws Error{input} for
// a singular block, Error{usage} for sizes that do not fit.
PreparedPreconditioner prepare(const PreconditionerSpec& spec, std::int64_t rows);

// A view of the host arrays; Chebyshev's interval and work vectors are still to be set.
Preconditioner host_view(const PreparedPreconditioner& prepared);

// Collects the coefficients of a CG run; their Lanczos matrix has the extreme Ritz values of M^-1
// A.
class LanczosBounds {
 public:
  void add(double alpha, double beta);
  std::size_t size() const { return diagonal_.size(); }
  double smallest() const { return eigenvalue(0); }
  double largest() const { return eigenvalue(diagonal_.size() - 1); }

 private:
  double eigenvalue(std::size_t index) const;  // ascending, by bisection

  std::vector<double> diagonal_;
  std::vector<double> off_diagonal_;
  double last_beta_over_alpha_ = 0;
};

// Uniform in (-0.5, 0.5): what the spectrum is looked for with. A row's number is the same every
// time and on whichever process the row is.
Array<double> random_right_hand_side(std::int64_t first_row, std::int64_t rows);

// Sets m's interval from a CG run: from the smallest Ritz value, but at least a 30th of the largest
// times 1.1, the margin for what 20 steps have not yet found.
void set_interval(Preconditioner& m, const LanczosBounds& bounds);

}  // namespace trireme::solvers
