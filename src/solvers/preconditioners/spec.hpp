// SPDX-License-Identifier: BSD-3-Clause
// What a caller asks of a preconditioner, and the traits of a preconditioner.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
enum class PreconditionerData { nothing, diagonal, blocks, operation };

// One name of a preconditioner, and the PC types that stand for it. A name whose two types differ
// takes its data from the matrix where PETSc's type does.
struct PreconditionerName {
  std::string_view name = {};        // in case files
  std::string_view pc_type = {};     // in the resident loop
  std::string_view petsc_type = {};  // in PETSc's loops; empty: none serves there
  std::string_view remark = {};      // in lists for readers; may be empty
};

// Bytes per process that a set-up preconditioner holds beside its work vectors and a diagonal.
struct PreconditionerMemory {
  double per_row = 0, per_nonzero = 0;
  double per_block_entry = 0;  // rows times the rows of a dense block
};

// Work in what is known of a run with Jacobi.
struct ExpectedWork {
  double products = 0;  // with the matrix
  double passes = 0;    // each is an iteration with Jacobi without its product
  double seconds = 0;   // that the smallest matrix takes too
};

// What `preconditioner: auto` expects before it measures. One of the two rates is stated.
struct ExpectedCost {
  double rate_of_jacobi = 0;  // decades per iteration, as a multiple of those of Jacobi
  double rate = 0;            // decades per iteration, whatever those of Jacobi are
  ExpectedWork set_up = {};
  ExpectedWork iteration = {};  // beyond one with Jacobi
  // The same where the loop runs on a GPU; empty: as on CPUs.
  std::optional<ExpectedWork> set_up_on_gpu = {}, iteration_on_gpu = {};
  // The set-up on CPUs where the cache has what it makes; empty: the cache keeps nothing of it.
  std::optional<ExpectedWork> set_up_found = {};
};

// An integer option of a preconditioner's PC type.
struct PreconditionerParameter {
  std::string_view option;  // "-pc_trireme_degree"; empty: there is none
  std::string_view meaning;
  std::int32_t initial = 0, min = 0, max = 0;
  std::int32_t PreconditionerSpec::*place = nullptr;
};

// The facts without a default are those that every preconditioner has to state.
struct PreconditionerInfo {
  std::array<PreconditionerName, 3> names;  // the first one is its own; the last ones may be empty
  std::string_view summary;
  PreconditionerData data;
  PreconditionerParameter parameter;     // of the names that PETSc's loops lack
  PreconditionerMemory memory;           // foretold for one process
  std::optional<ExpectedCost> expected;  // empty: `auto` begins with it
  bool exchanges;                        // an application needs values of other processes
  bool near_nullspace;                   // the set-up asks for near-nullspace vectors
  bool symmetric = false;                // serves only methods for symmetric matrices
  bool definite = false;                 // serves only matrices that CG serves
  bool nonsymmetric = false;             // serves no method for symmetric matrices
  bool may_be_indefinite = false;        // also where the matrix is definite
  bool sets_up_together = false;         // the set-up is collective over the processes
  bool row_order_is_free = true;         // the rows may be in the kernel's own order
};

}  // namespace trireme::solvers
