// SPDX-License-Identifier: BSD-3-Clause
// Reverse Cuthill-McKee, one level at a time.
//
// A level is the rows that the rows of the level before have as new neighbours. The parent of a new
// row is the first of them in the order, found by an atomic minimum; each parent then sorts its own
// children. The order is that of the serial algorithm, whatever the number of threads is.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ordering/neighbours.hpp"
#include "ordering/ordering.hpp"

namespace trireme {
namespace {

using Index = std::int32_t;

constexpr Index kUnseen = std::numeric_limits<Index>::max();
// A smaller level is done by one thread, because the start of threads would cost more.
constexpr Index kParallelFrom = 2048;
// The maximum of the numberings of a part, each from the far end of the one before.
constexpr int kMaxSweeps = 2;

void lower(Index& place, Index value) {
  std::atomic_ref<Index> shared(place);
  Index seen = shared.load(std::memory_order_relaxed);
  while (value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

class CuthillMckee {
 public:
  explicit CuthillMckee(const CsrView<double>& a)
      : graph_(a), parent_(a.rows, kUnseen), order_(a.rows), children_(omp_get_max_threads()) {}

  Array<Index> run() {
    const auto rows = static_cast<Index>(graph_.rows());
    Index done = 0;
    for (Index row = 0; row < rows; ++row)
      if (parent_[row] == kUnseen) done = number_part(row, done);
    std::reverse(order_.begin(), order_.end());
    return std::move(order_);
  }

 private:
  // The positions of a connected part: its last level begins at `last_level`.
  struct Part {
    Index last_level, end;
    Index levels;
  };

  // Numbers the part of `row` from a row at the end of a long path, and returns the end.
  Index number_part(Index row, Index first) {
    Index levels = 0;
    for (int sweep = 1;; ++sweep) {
      const Part part = number_from(row, first);
      if (part.levels <= levels || sweep == kMaxSweeps || part.levels < 3) return part.end;
      levels = part.levels;
      row = *std::min_element(order_.begin() + part.last_level, order_.begin() + part.end,
                              [this](Index i, Index j) { return key(i) < key(j); });
#pragma omp parallel for schedule(static) if (part.end - first >= kParallelFrom)
      for (Index k = first; k < part.end; ++k) parent_[order_[k]] = kUnseen;
    }
  }

  Part number_from(Index row, Index first) {
    order_[first] = row;
    parent_[row] = -1;
    Part part{first, first + 1, 0};
    while (true) {
      ++part.levels;
      const Index end = add_level(part.last_level, part.end);
      if (end == part.end) return part;
      part.last_level = std::exchange(part.end, end);
    }
  }

  // Appends the new neighbours of the rows at the positions [first, last), and returns the end.
  Index add_level(Index first, Index last) {
    Index end = last;
#pragma omp parallel if (last - first >= kParallelFrom)
    {
#pragma omp for schedule(dynamic, 512)
      for (Index p = first; p < last; ++p)
        graph_.for_each(order_[p], [&](Index row) { lower(parent_[row], p); });
      const Index threads = omp_get_num_threads(), thread = omp_get_thread_num();
      std::vector<Index>& mine = children_[thread];
      mine.clear();
      const auto share = [&](Index t) {
        return first + static_cast<Index>(std::int64_t{last - first} * t / threads);
      };
      for (Index p = share(thread); p < share(thread + 1); ++p) collect_children(p, mine);
#pragma omp barrier
      Index begin = last;
      for (Index t = 0; t < thread; ++t) begin += static_cast<Index>(children_[t].size());
      std::copy(mine.begin(), mine.end(), order_.begin() + begin);
      if (thread == threads - 1) end = begin + static_cast<Index>(mine.size());
    }
    return end;
  }

  // Appends the children of the row at position p, those of few entries first.
  void collect_children(Index p, std::vector<Index>& into) const {
    const auto begin = static_cast<std::ptrdiff_t>(into.size());
    graph_.for_each(order_[p], [&](Index row) {
      if (parent_[row] == p) into.push_back(row);
    });
    std::sort(into.begin() + begin, into.end(),
              [this](Index i, Index j) { return key(i) < key(j); });
    into.erase(std::unique(into.begin() + begin, into.end()), into.end());
  }

  std::pair<Index, Index> key(Index row) const { return {graph_.degree(row), row}; }

  Neighbours graph_;
  Array<Index> parent_;  // the parent's position; -1 for the first row of a part
  Array<Index> order_;
  std::vector<std::vector<Index>> children_;  // per thread
};

}  // namespace

Array<Index> reverse_cuthill_mckee(const CsrView<double>& a) { return CuthillMckee(a).run(); }

}  // namespace trireme
