// SPDX-License-Identifier: BSD-3-Clause
// Symmetric matrices with given random row lengths: lognormal and graph.
//
// Configuration model (Bollobas 1980; Newman, Networks, section 12.1): node i has d_i stubs, the
// stubs of all nodes are numbered in order, and a random involution joins them in pairs. Either end
// of an edge finds the other one, so that any rank makes any rows. Edges that come twice count
// once, and edges from a node to itself are left out. Each rank computes the lengths of all rows,
// 8 bytes per row.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sparse/dominant_source.hpp"
#include "sparse/random_permutation.hpp"

namespace trireme {
namespace {

class MatchedStubs {
 public:
  // Stubs are joined within windows of `window` stubs, or anywhere where it is 0. degree(i) is
  // called by many threads.
  template <class Degree>
  MatchedStubs(std::int64_t nodes, std::int64_t window, std::uint64_t seed, Degree&& degree)
      : seed_(seed), first_stub_(static_cast<std::size_t>(nodes) + 1) {
    std::int64_t* stubs = first_stub_.data();
    stubs[0] = 0;
#pragma omp parallel for schedule(static)
    for (std::int64_t node = 0; node < nodes; ++node) stubs[node + 1] = degree(node);
    for (std::int64_t node = 0; node < nodes; ++node) stubs[node + 1] += stubs[node];
    window_ = window > 0 ? window : std::max<std::int64_t>(stubs[nodes], 1);
  }

  void append_neighbours(std::int64_t node, std::vector<std::int64_t>& columns) const {
    for (std::int64_t stub = first_stub_[node]; stub < first_stub_[node + 1]; ++stub) {
      const std::int64_t other = node_of(partner(stub));
      if (other != node) columns.push_back(other);
    }
  }

 private:
  // Itself for the last stub of a window with an odd number of stubs.
  std::int64_t partner(std::int64_t stub) const {
    const std::int64_t begin = stub / window_ * window_;
    const std::int64_t size = std::min(window_, first_stub_.back() - begin);
    const RandomPermutation order(size, mix_bits(seed_) + static_cast<std::uint64_t>(begin));
    const std::int64_t place = order.inverse(stub - begin) ^ 1;
    return place < size ? begin + order(place) : stub;
  }
  std::int64_t node_of(std::int64_t stub) const {
    return std::upper_bound(first_stub_.begin(), first_stub_.end(), stub) - first_stub_.begin() - 1;
  }

  std::uint64_t seed_;
  std::int64_t window_;
  Array<std::int64_t> first_stub_;
};

CounterRandom lengths_of(std::uint64_t seed, std::int64_t row) {
  return {seed, Purpose::lengths, static_cast<std::uint64_t>(row)};
}

// 14 entries beside the diagonal in the mean: the length is exp of a normal variable (Box and
// Muller 1958) with standard deviation 1.2.
std::int64_t lognormal_length(std::uint64_t seed, std::int64_t row, std::int64_t n) {
  constexpr double kDeviation = 1.2, kMean = 14;
  CounterRandom random = lengths_of(seed, row);
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  const double normal = radius * std::cos(2 * std::numbers::pi * random.uniform());
  const double length = kMean * std::exp(kDeviation * normal - kDeviation * kDeviation / 2);
  return std::min(std::llround(length), static_cast<long long>(n / 2));
}

// P(length >= d) is (2 / d)^1.2, so that the density falls with d^-2.2; at most an eighth of n.
std::int64_t power_law_length(std::uint64_t seed, std::int64_t row, std::int64_t n) {
  const double u = 1 - lengths_of(seed, row).uniform();
  const double longest = std::max(static_cast<double>(n) / 8, 2.0);
  return static_cast<std::int64_t>(std::min(2 * std::pow(u, -1 / 1.2), longest));
}

// Four fifths of the stubs of a row are joined within some 4,000 rows, the others anywhere.
class LognormalRows final : public DominantSource {
 public:
  LognormalRows(std::int64_t n, std::uint64_t seed)
      : DominantSource(seed, Signs::both),
        near_(n, 1 << 16, mix_bits(seed) + 1,
              [&](std::int64_t row) { return near_part(lognormal_length(seed, row, n)); }),
        far_(n, 0, mix_bits(seed) + 2, [&](std::int64_t row) {
          const std::int64_t length = lognormal_length(seed, row, n);
          return length - near_part(length);
        }) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    const std::size_t begin = columns.size();
    columns.push_back(row);
    near_.append_neighbours(row, columns);
    far_.append_neighbours(row, columns);
    make_ascending(columns, begin);
  }

 private:
  static std::int64_t near_part(std::int64_t length) { return (4 * length + 4) / 5; }

  MatchedStubs near_, far_;
};

class GraphRows final : public DominantSource {
 public:
  GraphRows(std::int64_t n, std::uint64_t seed)
      : DominantSource(seed, Signs::negative),
        edges_(n, 0, mix_bits(seed) + 3,
               [&](std::int64_t row) { return power_law_length(seed, row, n); }) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    const std::size_t begin = columns.size();
    columns.push_back(row);
    edges_.append_neighbours(row, columns);
    make_ascending(columns, begin);
  }

 private:
  MatchedStubs edges_;
};

}  // namespace

std::unique_ptr<RowSource> make_lognormal(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<LognormalRows>(spec.n, spec.seed);
}

std::unique_ptr<RowSource> make_graph(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<GraphRows>(spec.n, spec.seed);
}

}  // namespace trireme
