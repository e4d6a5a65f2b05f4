// SPDX-License-Identifier: BSD-3-Clause
#include "factors/levels.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace trireme::factors {
namespace {

// Rows of L in ascending order, or rows of U in descending order, and their levels.
class LevelFinder {
 public:
  LevelFinder(const FactorPattern& pattern, bool is_lower, Levels& found)
      : p_(pattern),
        rows_(static_cast<std::int32_t>(pattern.rows)),
        is_lower_(is_lower),
        level_(pattern.rows),
        found_(found) {}

  // A row comes after all rows that its entries name. One row after the other.
  void find() {
    const std::int32_t* const columns = p_.col_idx.data();
    std::int32_t* const level = level_.data();
    std::int32_t count = 0;
    for (std::int32_t at = 0; at < rows_; ++at) {
      const std::int32_t i = row_at(at);
      const std::int32_t begin = is_lower_ ? p_.row_ptr[i] : p_.diagonal[i] + 1;
      const std::int32_t end = is_lower_ ? p_.diagonal[i] : p_.row_ptr[i + 1];
      std::int32_t mine = 0;
      for (std::int32_t e = begin; e < end; ++e) mine = std::max(mine, level[columns[e]] + 1);
      level[i] = mine;
      count = std::max(count, mine + 1);
    }
    count_ = count;
  }

  // A counting sort by parts of the rows, in three steps. The second one is for one thread, and the
  // others are for any threads.
  void allocate() {
    constexpr std::int64_t kRowsPerCount = 16;  // the counts of all parts are few beside the rows
    parts_ = std::clamp<std::int64_t>(rows_ / (kRowsPerCount * std::max(count_, 1)), 1,
                                      omp_get_max_threads());
    found_.rows.resize(rows_);
    found_.starts.resize(count_ + 1);
    next_.resize(parts_ * count_);
  }
  std::int64_t parts() const { return parts_; }
  void count_part(std::int64_t part) {
    std::int32_t* const next = next_of(part);
    std::fill_n(next, count_, 0);
    for (std::int32_t at = first_of(part); at < first_of(part + 1); ++at)
      ++next[level_[row_at(at)]];
  }
  void sum_counts() {
    std::int32_t start = 0;
    for (std::int32_t l = 0; l < count_; ++l) {
      found_.starts[l] = start;
      for (std::int64_t part = 0; part < parts_; ++part) {
        const std::int32_t of_part = next_of(part)[l];
        next_of(part)[l] = start;
        start += of_part;
      }
    }
    found_.starts[count_] = start;
  }
  void sort_part(std::int64_t part) {
    std::int32_t* const next = next_of(part);
    for (std::int32_t at = first_of(part); at < first_of(part + 1); ++at) {
      const std::int32_t i = row_at(at);
      found_.rows[next[level_[i]]++] = i;
    }
  }

 private:
  std::int32_t row_at(std::int32_t at) const { return is_lower_ ? at : rows_ - 1 - at; }
  std::int32_t first_of(std::int64_t part) const {
    return static_cast<std::int32_t>(rows_ * part / parts_);
  }
  std::int32_t* next_of(std::int64_t part) { return next_.data() + part * count_; }

  const FactorPattern& p_;
  std::int32_t rows_, count_ = 0;
  bool is_lower_;
  std::int64_t parts_ = 1;
  Array<std::int32_t> level_;  // of each row
  Array<std::int32_t> next_;   // where the next row of a level goes, for each part
  Levels& found_;
};

}  // namespace

void find_levels(FactorPattern& pattern) {
  LevelFinder finders[] = {{pattern, true, pattern.lower}, {pattern, false, pattern.upper}};
  const bool few = pattern.rows <= kRowsOfOneThread;
#pragma omp parallel for num_threads(2) if (!few)
  for (int k = 0; k < 2; ++k) finders[k].find();
  for (LevelFinder& finder : finders) finder.allocate();
  const std::int64_t of_lower = finders[0].parts(), parts = of_lower + finders[1].parts();
  const auto for_each_part = [&](const auto& work) {
#pragma omp parallel for schedule(static, 1) if (!few)
    for (std::int64_t k = 0; k < parts; ++k)
      work(finders[k < of_lower ? 0 : 1], k < of_lower ? k : k - of_lower);
  };
  for_each_part([](LevelFinder& finder, std::int64_t part) { finder.count_part(part); });
  for (LevelFinder& finder : finders) finder.sum_counts();
  for_each_part([](LevelFinder& finder, std::int64_t part) { finder.sort_part(part); });
}

}  // namespace trireme::factors
