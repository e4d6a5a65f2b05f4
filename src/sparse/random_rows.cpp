// SPDX-License-Identifier: BSD-3-Clause
// The matrices with random values whose rows are independent of each other: random, circuit, short,
// web and denserows.
#include <algorithm>
#include <array>
#include <cmath>

#include "sparse/counter_random.hpp"
#include "sparse/row_source.hpp"

namespace trireme {

void RandomValueSource::fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                                    double* values) const {
  const CounterRandom random(seed_, Purpose::values, row);
  // The values are odd multiples of 2^-53 in (-1, 1).
  for (std::size_t k = 0; k < columns.size(); ++k)
    values[k] = 2 * to_unit(random.bits_at(columns[k])) - 1 + 0x1p-53;
}

void make_ascending(std::vector<std::int64_t>& columns, std::size_t begin) {
  const auto first = columns.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, columns.end());
  columns.erase(std::unique(first, columns.end()), columns.end());
}

namespace {

void append_if_valid(std::int64_t column, std::int64_t n, std::vector<std::int64_t>& columns) {
  if (column >= 0 && column < n) columns.push_back(column);
}

// Rows of exactly k distinct columns; every set of k columns is equally likely.
class RandomRows final : public RandomValueSource {
 public:
  RandomRows(std::int64_t n, std::int64_t k, std::uint64_t seed)
      : RandomValueSource(seed), n_(n), k_(k) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    CounterRandom random(seed_, Purpose::columns, row);
    if (2 * k_ <= n_) {
      append_distinct(k_, random, columns);
      return;
    }
    std::vector<std::int64_t> left_out;  // It is cheaper to draw the columns that are left out.
    append_distinct(n_ - k_, random, left_out);
    auto next = left_out.begin();
    for (std::int64_t column = 0; column < n_; ++column) {
      if (next != left_out.end() && *next == column)
        ++next;
      else
        columns.push_back(column);
    }
  }

 private:
  // Draws again where a column was drawn twice. `count` is at most half of the columns, so that a
  // few rounds suffice.
  void append_distinct(std::int64_t count, CounterRandom& random,
                       std::vector<std::int64_t>& columns) const {
    const std::size_t begin = columns.size();
    while (static_cast<std::int64_t>(columns.size() - begin) < count) {
      while (static_cast<std::int64_t>(columns.size() - begin) < count)
        columns.push_back(random.below(n_));
      make_ascending(columns, begin);
    }
  }

  std::int64_t n_, k_;
};

// A row has the diagonal, 2 to 6 entries near it, sometimes one far from it, and usually one in a
// dense column. There are 16 dense columns (supply nets). The 16 rows of the same indices are dense
// too: they have n/20 more random columns.
class CircuitRows final : public RandomValueSource {
 public:
  CircuitRows(std::int64_t n, std::uint64_t seed) : RandomValueSource(seed), n_(n) {
    for (std::int64_t net = 0; net < kNets; ++net) nets_[net] = net * n / kNets + n / (2 * kNets);
  }

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    CounterRandom random(seed_, Purpose::columns, row);
    const std::size_t begin = columns.size();
    columns.push_back(row);
    const std::int64_t nearby = 2 + random.below(5);
    for (std::int64_t k = 0; k < nearby; ++k) {
      const double product = random.uniform() * random.uniform();
      const std::int64_t distance = 1 + static_cast<std::int64_t>(200 * product);
      append_if_valid(random.chance(0.5) ? row + distance : row - distance, n_, columns);
    }
    if (random.chance(0.3)) append_if_valid(random.below(n_), n_, columns);
    if (random.chance(0.8)) append_if_valid(nets_[random.below(kNets)], n_, columns);
    if (std::binary_search(nets_.begin(), nets_.end(), row))
      for (std::int64_t k = 0; k < n_ / 20; ++k) append_if_valid(random.below(n_), n_, columns);
    make_ascending(columns, begin);
  }

 private:
  static constexpr std::int64_t kNets = 16;
  std::int64_t n_;
  std::array<std::int64_t, kNets> nets_{};
};

// Rows of 1 to 4 entries, equally likely, within 1000 of the diagonal.
class ShortRows final : public RandomValueSource {
 public:
  ShortRows(std::int64_t n, std::uint64_t seed) : RandomValueSource(seed), n_(n) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    CounterRandom random(seed_, Purpose::columns, row);
    const std::int64_t low = std::max<std::int64_t>(row - kReach, 0);
    const std::int64_t high = std::min(row + kReach, n_ - 1);
    const std::int64_t length = std::min(1 + random.below(4), high - low + 1);
    const std::size_t begin = columns.size();
    while (static_cast<std::int64_t>(columns.size() - begin) < length) {
      columns.push_back(low + random.below(high - low + 1));
      make_ascending(columns, begin);
    }
  }

 private:
  static constexpr std::int64_t kReach = 1000;
  std::int64_t n_;
};

// Links between pages. Row lengths are 0.9 / (1-u)^(1/1.35) for uniform u, and at most n/200 + 50;
// 70 % of the rows that would be empty get one entry. Half of the links are local. The other half
// go to popular pages, whose numbers are scattered.
class WebRows final : public RandomValueSource {
 public:
  WebRows(std::int64_t n, std::uint64_t seed) : RandomValueSource(seed), n_(n) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    CounterRandom random(seed_, Purpose::columns, row);
    const std::size_t begin = columns.size();
    const std::int64_t length = draw_length(random);
    for (std::int64_t k = 0; k < length; ++k)
      append_if_valid(random.chance(0.5) ? draw_local(row, random) : draw_popular(random), n_,
                      columns);
    make_ascending(columns, begin);
  }

 private:
  std::int64_t draw_length(CounterRandom& random) const {
    const double length = 0.9 / std::pow(1 - random.uniform(), 1 / 1.35);
    const std::int64_t longest = n_ / 200 + 50;
    if (length < 1) return random.chance(0.7) ? 1 : 0;
    return static_cast<std::int64_t>(std::min(length, static_cast<double>(longest)));
  }
  static std::int64_t draw_local(std::int64_t row, CounterRandom& random) {
    const auto distance = static_cast<std::int64_t>(20 / (0.001 + random.uniform()) - 20);
    return random.chance(0.5) ? row + distance : row - distance;
  }
  std::int64_t draw_popular(CounterRandom& random) const {
    const double u = random.uniform();
    const auto rank = static_cast<std::uint64_t>(static_cast<double>(n_) * u * u * u * u);
    return CounterRandom(seed_, Purpose::positions, rank).below(n_);
  }

  std::int64_t n_;
};

// A band of 4 columns on either side of the diagonal. 5 rows, a fifth of the rows apart, have n/8
// random columns beside.
class DenseRows final : public RandomValueSource {
 public:
  DenseRows(std::int64_t n, std::uint64_t seed) : RandomValueSource(seed), n_(n) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    const std::size_t begin = columns.size();
    for (std::int64_t column = row - kReach; column <= row + kReach; ++column)
      append_if_valid(column, n_, columns);
    const std::int64_t apart = std::max<std::int64_t>(n_ / kDense, 1);
    if (row % apart != apart / 2) return;
    CounterRandom random(seed_, Purpose::columns, row);
    for (std::int64_t k = 0; k < n_ / 8; ++k) append_if_valid(random.below(n_), n_, columns);
    make_ascending(columns, begin);
  }

 private:
  static constexpr std::int64_t kReach = 4, kDense = 5;
  std::int64_t n_;
};

}  // namespace

std::unique_ptr<RowSource> make_random(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<RandomRows>(spec.n, spec.k, spec.seed);
}

std::unique_ptr<RowSource> make_circuit(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<CircuitRows>(spec.n, spec.seed);
}

std::unique_ptr<RowSource> make_short(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<ShortRows>(spec.n, spec.seed);
}

std::unique_ptr<RowSource> make_denserows(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<DenseRows>(spec.n, spec.seed);
}

std::unique_ptr<RowSource> make_web(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<WebRows>(spec.n, spec.seed);
}

}  // namespace trireme
