// SPDX-License-Identifier: BSD-3-Clause
// Shortest augmenting paths. The cost of an entry is log2 of the size of its row over its own
// magnitude, so that the cheapest matching has the largest product. The path of least cost is found
// by Dijkstra's method on reduced costs, which the dual variables u and v keep from being negative:
//
//   cost_ij - u_i - v_j >= 0, and = 0 where row i is matched with column j
//
// Many duals show the same matching, and paths leave behind extreme ones, which may drift by a
// factor from row to row: to entries of 1 above the diagonal and small ones below it, say. After
// many paths, a right-hand side that is scaled by them has lost its digits. Few paths are left to
// be found where the sizes of rows and columns are alike.
//
// For the structural rank alone every cost is 0, and the paths are those of a depth-first search.
#include "sparse/transversal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace trireme {
namespace {

constexpr std::int32_t kNone = -1;
constexpr double kUsualSpan = 200;  // powers of two
constexpr double kNoPath = std::numeric_limits<double>::infinity();

enum class Cost { of_sizes, zero };

class Matching {
 public:
  Matching(const CsrView<double>& a, Cost cost)
      : n_(a.rows),
        row_ptr_(a.row_ptr),
        col_idx_(a.col_idx),
        cost_(a.nnz()),
        row_log2_(n_, 0),
        column_log2_(n_, 0),
        u_(n_, 0),
        v_(n_, kNoPath),
        column_of_(n_, kNone),
        row_of_(n_, kNone),
        distance_(n_, kNoPath),
        from_row_(n_, kNone),
        is_done_(n_, false) {
    for (std::int64_t i = 0; i < n_; ++i) set_costs(a, i, cost);
    if (span_of_costs() > kUsualSpan) bring_to_like_sizes();
    set_first_duals();
    match_free_columns();
    match_by_exchange();
    for (std::int32_t i = 0; i < n_; ++i)
      if (column_of_[i] == kNone) augment(i);
  }

  StructuralRank structure() const {
    StructuralRank found;
    for (std::int32_t i = 0; i < n_; ++i)
      if (column_of_[i] == kNone) found.unmatched_rows.push_back(i);
    found.rank = n_ - std::ssize(found.unmatched_rows);
    return found;
  }

  Transversal result() && {
    Transversal t{.structure = structure(), .column_of_row = {}, .row_log2 = {}, .column_log2 = {}};
    for (const std::int32_t i : t.structure.unmatched_rows)
      if (row_of_[i] == kNone) match(i, i);
    std::int32_t free_column = 0;
    for (const std::int32_t i : t.structure.unmatched_rows) {
      if (column_of_[i] != kNone) continue;
      while (row_of_[free_column] != kNone) ++free_column;
      match(i, free_column);
    }
    for (std::int64_t i = 0; i < n_; ++i) {
      u_[i] += row_log2_[i];
      v_[i] += column_log2_[i];
    }
    t.column_of_row = std::move(column_of_);
    t.row_log2 = std::move(u_);
    t.column_log2 = std::move(v_);
    return t;
  }

 private:
  struct Candidate {
    double distance;
    std::int32_t column;
    bool operator<(const Candidate& other) const { return distance > other.distance; }
  };

  void set_costs(const CsrView<double>& a, std::int64_t i, Cost cost) {
    double largest = 0;
    for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) {
      if (!std::isfinite(a.values[k]))
        fail(ExitCode::input, "row {} (from 0) has a value that is NaN or infinite", i);
      largest = std::max(largest, std::abs(a.values[k]));
    }
    const bool sizes = cost == Cost::of_sizes;
    row_log2_[i] = sizes && largest > 0 ? -std::log2(largest) : 0.0;
    for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) {
      const double size = std::abs(a.values[k]);
      const double of_entry = sizes && size > 0 ? -row_log2_[i] - std::log2(size) : 0.0;
      cost_[k] = of_entry;
      if (!(size > 0)) cost_[k] = kNoPath;
    }
  }

  // The largest cost of an entry that is not 0; the least one is 0.
  double span_of_costs() const {
    double span = 0;
    for (const double cost : cost_)
      if (cost != kNoPath) span = std::max(span, cost);
    return span;
  }

  // Brings the least cost of each row and of each column near 0, as far as they have one (Ruiz,
  // RAL-TR-2001-034, with logarithms).
  void bring_to_like_sizes() {
    constexpr int kSweeps = 20;
    constexpr double kNearOne = 0.5;
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) cost_[k] += row_log2_[i];
      row_log2_[i] = 0;
    }
    std::vector<double> rows(n_), columns(n_);  // the least costs
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      std::ranges::fill(rows, kNoPath);
      std::ranges::fill(columns, kNoPath);
      for (std::int64_t i = 0; i < n_; ++i)
        for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) {
          rows[i] = std::min(rows[i], cost_[k]);
          columns[col_idx_[k]] = std::min(columns[col_idx_[k]], cost_[k]);
        }
      double distance = 0;
      for (std::vector<double>* const least : {&rows, &columns})
        for (double& cost : *least) {
          if (cost == kNoPath) cost = 0;
          distance = std::max(distance, std::abs(cost));
        }
      if (distance <= kNearOne) break;
      for (std::int64_t i = 0; i < n_; ++i) {
        row_log2_[i] += rows[i] / 2;
        column_log2_[i] += columns[i] / 2;
        for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k)
          cost_[k] -= (rows[i] + columns[col_idx_[k]]) / 2;
      }
    }
  }

  // The reduced cost of entry k. The order of the subtractions makes it exactly 0 for the entry
  // that gave u its value.
  double reduced(std::int32_t k, std::int32_t row) const {
    return cost_[k] - v_[col_idx_[k]] - u_[row];
  }

  void match(std::int32_t row, std::int32_t column) {
    column_of_[row] = column;
    row_of_[column] = row;
  }

  // The largest v, and then the largest u, that leave no reduced cost negative.
  void set_first_duals() {
    for (std::size_t k = 0; k < cost_.size(); ++k)
      v_[col_idx_[k]] = std::min(v_[col_idx_[k]], cost_[k]);
    for (double& least : v_)
      if (least == kNoPath) least = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      double least = kNoPath;
      for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k)
        least = std::min(least, cost_[k] - v_[col_idx_[k]]);
      u_[i] = least < kNoPath ? least : 0.0;
    }
  }

  void match_free_columns() {
    for (std::int32_t i = 0; i < n_; ++i)
      for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1] && column_of_[i] == kNone; ++k)
        if (row_of_[col_idx_[k]] == kNone && reduced(k, i) <= 0) match(i, col_idx_[k]);
  }

  // Paths of one exchange: the row that has the column takes a free one.
  void match_by_exchange() {
    std::vector<std::int32_t> looked(row_ptr_.begin(), row_ptr_.end());  // by row: where to go on
    for (std::int32_t i = 0; i < n_; ++i)
      for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1] && column_of_[i] == kNone; ++k) {
        if (reduced(k, i) > 0) continue;
        const std::int32_t column = col_idx_[k], other = row_of_[column];
        for (std::int32_t& at = looked[other]; at < row_ptr_[other + 1]; ++at) {
          if (row_of_[col_idx_[at]] != kNone || reduced(at, other) > 0) continue;
          match(other, col_idx_[at]);
          match(i, column);
          break;
        }
      }
  }

  // Looks for the path of least cost from `root` to a free column, and matches along it. Columns
  // that a search without success has reached stay done, since no path leads out of them.
  void augment(std::int32_t root) {
    heap_.clear();
    ready_.clear();
    touched_.clear();
    done_.clear();
    best_ = kNoPath;
    end_ = kNone;
    relax(root, 0);
    for (;;) {
      const std::int32_t next = take_nearest();
      if (next == kNone || !(distance_[next] < best_)) break;
      is_done_[next] = true;
      done_.push_back(next);
      relax(row_of_[next], distance_[next]);
    }
    if (end_ != kNone) {
      match_along_path(root);
      for (const std::int32_t column : done_) is_done_[column] = false;
    }
    for (const std::int32_t column : touched_) distance_[column] = kNoPath;
  }

  // The paths that go on from a row at this distance.
  void relax(std::int32_t row, double so_far) {
    so_far_ = so_far;
    for (std::int32_t k = row_ptr_[row]; k < row_ptr_[row + 1]; ++k) {
      const std::int32_t column = col_idx_[k];
      if (is_done_[column]) continue;
      const double distance = so_far + std::max(0.0, reduced(k, row));
      if (!(distance < best_) || !(distance < distance_[column])) continue;
      if (distance_[column] == kNoPath) touched_.push_back(column);
      distance_[column] = distance;
      from_row_[column] = row;
      if (row_of_[column] == kNone) {
        best_ = distance;
        end_ = column;
      } else if (distance <= so_far) {
        ready_.push_back(column);
      } else {
        heap_.push_back({distance, column});
        std::push_heap(heap_.begin(), heap_.end());
      }
    }
  }

  std::int32_t take_nearest() {
    while (!ready_.empty()) {
      const std::int32_t column = ready_.back();
      ready_.pop_back();
      if (!is_done_[column] && distance_[column] <= so_far_) return column;
    }
    while (!heap_.empty()) {
      const Candidate nearest = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
      if (!is_done_[nearest.column] && nearest.distance <= distance_[nearest.column])
        return nearest.column;
    }
    return kNone;
  }

  void match_along_path(std::int32_t root) {
    for (const std::int32_t column : done_) v_[column] += distance_[column] - best_;
    std::vector<std::int32_t>& rows = rows_;
    rows.assign(1, root);
    for (const std::int32_t column : done_) rows.push_back(row_of_[column]);
    for (std::int32_t column = end_; column != kNone;) {
      const std::int32_t taker = from_row_[column];
      const std::int32_t former = column_of_[taker];
      match(taker, column);
      column = former;
    }
    for (const std::int32_t row : rows) u_[row] = cost_of_match(row) - v_[column_of_[row]];
  }

  // The least one, where several entries have the same place.
  double cost_of_match(std::int32_t row) const {
    double least = kNoPath;
    for (std::int32_t k = row_ptr_[row]; k < row_ptr_[row + 1]; ++k)
      if (col_idx_[k] == column_of_[row]) least = std::min(least, cost_[k]);
    return least;
  }

  std::int64_t n_;
  std::span<const std::int32_t> row_ptr_, col_idx_;
  std::vector<double> cost_;
  std::vector<double> row_log2_, column_log2_;  // by which the costs are those of a scaled matrix
  std::vector<double> u_, v_;
  std::vector<std::int32_t> column_of_, row_of_;
  // Of the search for one path.
  std::vector<double> distance_;        // by column
  std::vector<std::int32_t> from_row_;  // by column: the row before it on the path
  std::vector<bool> is_done_;           // by column: its distance is final
  double so_far_ = 0;                   // the distance of the row that was relaxed last
  double best_ = kNoPath;               // the cost of the best path so far
  std::int32_t end_ = kNone;            // its column
  std::vector<Candidate> heap_;
  std::vector<std::int32_t> ready_, touched_, done_, rows_;
};

void require_square(const CsrView<double>& a) {
  if (a.rows != a.cols)
    fail(ExitCode::input, "rows are matched with columns, and the matrix is {} x {}", a.rows,
         a.cols);
}

}  // namespace

StructuralRank structural_rank(const CsrView<double>& a) {
  require_square(a);
  return Matching(a, Cost::zero).structure();
}

Transversal maximum_product_transversal(const CsrView<double>& a) {
  require_square(a);
  return Matching(a, Cost::of_sizes).result();
}

}  // namespace trireme
