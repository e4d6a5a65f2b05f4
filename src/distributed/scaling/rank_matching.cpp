// SPDX-License-Identifier: BSD-3-Clause
// On rank 0, whose results go back to where the rows came from, or on every rank.
#include "distributed/scaling/rank_matching.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "distributed/scaling/ghost_numbers.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// Finds a matching, and brings it to the ranks of the rows. All members but what() and rows() are
// collective, and so is the constructor.
class Matcher {
 public:
  Matcher(const DistributedMatrix& matrix, std::int64_t most_on_rank_zero) : matrix_(matrix) {
    if (size_of(matrix.comm) == 1) return;
    if (fits_on_rank_zero(matrix, most_on_rank_zero))
      gathered_.emplace(to_rank_zero(matrix));
    else
      what_ = Matched::blocks;
  }

  Matched what() const { return what_; }
  // That this rank matches.
  std::int64_t rows() const { return gathered_ ? gathered_->rows() : matrix_.local_rows(); }

  std::shared_ptr<const Transversal> make() {
    CsrMatrix<double> moved;
    if (gathered_) moved = moved_matrix(*gathered_, matrix_);
    std::shared_ptr<const Transversal> found;
    collectively(matrix_.comm, [&] {
      if (matrix_.blocks.nnz() > kMostNonzerosOfBlock)
        fail(ExitCode::resource,
             "solver.scaling: matching takes at most 2^31-1 nonzeros per rank, and this one has "
             "{}; use more ranks, or scaling: ruiz",
             matrix_.blocks.nnz());
      found = std::make_shared<const Transversal>(
          rows() == 0 ? Transversal()
                      : maximum_product_transversal(gathered_ ? moved.view()
                                                              : matrix_.blocks.local.view()));
    });
    return found;
  }

  RankMatching on_ranks(const Transversal& found) const {
    RankMatching result;
    result.what = what_;
    Array<double> numbers;
    collectively(matrix_.comm, [&] {
      numbers.resize(matrix_.local_rows());
      std::iota(numbers.begin(), numbers.end(), static_cast<double>(matrix_.first_row()));
    });
    if (gathered_) numbers = gathered_->there(numbers);
    Array<double> places;
    collectively(matrix_.comm, [&] {
      places.resize(numbers.size());
      for (std::size_t i = 0; i < places.size(); ++i) places[found.column_of_row[i]] = numbers[i];
    });
    result.row_log2 = to_rows(found.row_log2);
    result.column_log2 = to_rows(found.column_log2);
    result.places = to_rows(places);
    count_unmatched(found.structure, result);
    return result;
  }

 private:
  // Numbers of the rows that this rank has matched, on the ranks of these rows.
  Array<double> to_rows(std::span<const double> numbers) const {
    if (gathered_) return gathered_->back(numbers);
    return {numbers.begin(), numbers.end()};
  }

  void count_unmatched(const StructuralRank& structure, RankMatching& result) const {
    const auto& here = structure.unmatched_rows;
    result.unmatched_rows = sum_over_ranks(matrix_.comm, std::ssize(here));
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    if (!here.empty()) first = gathered_ ? here.front() : matrix_.callers_row(here.front());
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, matrix_.comm);
    if (result.unmatched_rows > 0) result.first_unmatched = first;
  }

  const DistributedMatrix& matrix_;
  Matched what_ = Matched::whole;
  std::optional<Redistribution> gathered_;  // none: every rank matches what it has
};

// The entries of one block of columns. `places` and `column_log2` are of its columns.
struct Proof {
  std::int64_t too_large = 0, matched = 0;

  void add(const CsrMatrix<double>& a, std::int64_t first_row, std::span<const double> row_log2,
           std::span<const double> column_log2, std::span<const double> places) {
    constexpr double kRounding = 1e-6;
    std::int64_t large = 0, one = 0;
    for (const RowBlock<double>& block : a.blocks()) {
      const CsrView<double>& part = block.csr;
#pragma omp parallel for schedule(static) reduction(+ : large, one)
      for (std::int64_t i = 0; i < part.rows; ++i) {
        const std::int64_t row = block.first_row + i;
        for (std::int32_t k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k) {
          if (part.values[k] == 0) continue;
          const std::int32_t j = part.col_idx[k];
          const double log2 = std::log2(std::abs(part.values[k])) + row_log2[row] + column_log2[j];
          if (!(log2 <= kRounding)) ++large;
          if (places[j] == static_cast<double>(first_row + row) && log2 >= -kRounding) ++one;
        }
      }
    }
    too_large += large;
    matched += one;
  }
};

// Whether the scales show that no other matching has a larger product: no entry is larger than 1,
// and the matched ones are 1. Collective.
bool proves_itself(const DistributedMatrix& matrix, const RankMatching& m) {
  Proof proof;
  const std::int64_t first = matrix.first_row();
  proof.add(matrix.blocks.local, first, m.row_log2, m.column_log2, m.places);
  if (m.what == Matched::whole) {
    GhostNumbers of_others(matrix);
    const std::span<const double> ghosts = of_others.of_owners(m.places);
    const Array<double> ghost_places(ghosts.begin(), ghosts.end());
    proof.add(matrix.blocks.ghost, first, m.row_log2, of_others.of_owners(m.column_log2),
              ghost_places);
  }
  return sum_over_ranks(matrix.comm, proof.too_large) == 0 &&
         sum_over_ranks(matrix.comm, proof.matched) == matrix.global_rows();
}

}  // namespace

RankMatching match(const DistributedMatrix& matrix, const MatchingRules& rules) {
  const Stopwatch watch;
  Matcher matcher(matrix, rules.most_on_rank_zero);
  MatchingStore* const store = rules.store;
  if (store) {
    if (const auto kept = store->find(matcher.what(), matcher.rows())) {
      RankMatching found = matcher.on_ranks(*kept->matching);
      found.origin = kept->origin;
      if (proves_itself(matrix, found)) return found;
      store->reject(matcher.what(), "is no matching of this matrix");
    }
  }
  const auto made = matcher.make();
  RankMatching result = matcher.on_ranks(*made);
  if (store && result.unmatched_rows == 0)
    store->keep(matcher.what(), made, max_over_ranks(matrix.comm, watch.seconds()));
  return result;
}

}  // namespace trireme
