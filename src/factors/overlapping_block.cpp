// SPDX-License-Identifier: BSD-3-Clause
// Grows the set of rows layer by layer, and fetches them from their owners.
#include "factors/overlapping_block.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "parallel/collective.hpp"

namespace trireme::factors {

OverlappingBlock::OverlappingBlock(const DistributedMatrix& matrix, std::int32_t layers)
    : matrix_(&matrix), own_(matrix.local_rows()), rows_(matrix.comm, matrix, 1) {
  MPI_Comm comm = matrix.comm;
  const std::int64_t first = matrix.first_row();
  const CsrView<double> a = rows_.view().local;
  Array<std::int32_t> numbers;  // of the columns of `a`
  Array<std::int32_t> others;   // of the rows of other ranks
  collectively(comm, [&] {
    for (std::int64_t i = 0; i < own_; ++i) numbers.push_back(static_cast<std::int32_t>(first + i));
    others = rows_.ghost_nodes();
    numbers.insert(numbers.end(), others.begin(), others.end());
  });
  for (std::int32_t layer = 1;; ++layer) {
    halo_ = plan_halo(comm, matrix.row_starts, others);
    ghosts_ = multigrid::GhostRows(comm, halo_, a, numbers);
    if (layer == layers) break;
    collectively(comm, [&] {
      Array<std::int32_t> all = others;
      all.insert(all.end(), ghosts_.columns().begin(), ghosts_.columns().end());
      others = multigrid::others_among(all, first, own_);
    });
  }
  collectively(comm, [&] {
    before_ = std::ranges::lower_bound(others, static_cast<std::int32_t>(first)) - others.begin();
    // The place of a row of A in the block; -1: it has none.
    const auto place = [&](std::int32_t number) -> std::int32_t {
      if (number >= first && number < first + own_)
        return static_cast<std::int32_t>(before_ + number - first);
      const auto at = std::ranges::lower_bound(others, number);
      if (at == others.end() || *at != number) return -1;
      const std::int64_t ghost = at - others.begin();
      return static_cast<std::int32_t>(ghost < before_ ? ghost : ghost + own_);
    };
    const CsrMatrix<double>& theirs = ghosts_.rows();
    Array<std::int32_t> places, places_of_theirs;  // of the columns of `a` and of `theirs`
    for (const std::int32_t number : numbers) places.push_back(place(number));
    for (const std::int32_t number : ghosts_.columns()) places_of_theirs.push_back(place(number));
    block_.rows = block_.cols = own_ + std::ssize(others);
    const auto end_row = [&] {
      block_.row_ptr.push_back(static_cast<std::int32_t>(block_.col_idx.size()));
    };
    const auto add_ghosts = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t ghost = begin; ghost < end; ++ghost) {
        for (std::int32_t k = theirs.row_ptr[ghost]; k < theirs.row_ptr[ghost + 1]; ++k)
          if (const std::int32_t column = places_of_theirs[theirs.col_idx[k]]; column >= 0) {
            kept_.push_back(k);
            block_.col_idx.push_back(column);
          }
        end_row();
      }
    };
    add_ghosts(0, before_);
    for (std::int64_t i = 0; i < own_; ++i) {
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        block_.col_idx.push_back(places[a.col_idx[k]]);
      end_row();
    }
    add_ghosts(before_, std::ssize(others));
    if (std::ssize(block_.col_idx) > INT32_MAX)
      fail(
          ExitCode::resource,
          "the rows of a rank and those that overlap with it have {} nonzeros, of which incomplete "
          "factors take 2^31-1; use more ranks or -pc_trireme_ilu_overlap 0",
          block_.col_idx.size());
    take_values();
  });
}

void OverlappingBlock::renew() {
  collectively(matrix_->comm, [&] { rows_.renew(*matrix_); });
  ghosts_.renew(rows_.view().local);
  take_values();
}

void OverlappingBlock::take_values() {
  block_.values.resize(block_.col_idx.size());
  const CsrView<double> a = rows_.view().local;
  const std::int32_t first = block_.row_ptr[before_];
  std::ranges::copy(a.values, block_.values.begin() + first);
  const auto own_entries = static_cast<std::int32_t>(a.values.size());
  for (std::int32_t k = 0; k < std::ssize(kept_); ++k)
    block_.values[k < first ? k : k + own_entries] = ghosts_.rows().values[kept_[k]];
}

}  // namespace trireme::factors
