// SPDX-License-Identifier: BSD-3-Clause
// Linear elasticity of a block of n^3 free nodes that is clamped along one face. A node has 3
// unknowns and 27 neighbours, itself included; all 3 x 3 blocks are stored in full, with their
// zeros. The clamped nodes lie in one more plane below z = 0 and are eliminated, so that the matrix
// is symmetric positive definite. The row of an unknown is 3 node + axis.
#include <array>
#include <cstddef>

#include "sparse/counter_random.hpp"
#include "sparse/hexahedron.hpp"
#include "sparse/row_source.hpp"

namespace trireme {
namespace {

struct Point {
  std::int64_t x, y, z;
};

// Tells on which sides of a node there are elements: bits x-, x+, y-, y+, z-, z+.
using Sides = int;

// All different rows of the matrix: [sides][neighbour][3 i + j].
class AssembledBlocks {
 public:
  using Block = std::array<double, 9>;

  AssembledBlocks() : blocks_(64) {
    const ElementStiffness element = hexahedron_stiffness();
    for (Sides sides = 0; sides < 64; ++sides)
      for (int neighbour = 0; neighbour < 27; ++neighbour)
        blocks_[sides][neighbour] = assemble(element, sides, neighbour);
  }

  const Block& block(Sides sides, int neighbour) const { return blocks_[sides][neighbour]; }

 private:
  // Sums over the elements that contain both nodes. The geometric order is always the same, so that
  // the transposed block has the same bits.
  static Block assemble(const ElementStiffness& element, Sides sides, int neighbour) {
    const std::array<int, 3> step = {neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1};
    Block block{};
    for (int which = 0; which < 8; ++which) {  // A set bit selects the element on the high side.
      bool holds_both = true;
      int own_corner = 0, other_corner = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const int high = which >> axis & 1;
        const int own = 1 - high;
        const int other = own + step[axis];
        holds_both = holds_both && other >= 0 && other <= 1 && (sides >> (2 * axis + high) & 1);
        own_corner |= own << axis;
        other_corner |= (other & 1) << axis;
      }
      if (!holds_both) continue;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          block[3 * i + j] += element[3 * own_corner + i][3 * other_corner + j];
    }
    return block;
  }

  std::vector<std::array<Block, 27>> blocks_;
};

// Maps the node numbers of the matrix to places in the grid and back. They are equal, or the nodes
// are shuffled within windows.
class NodeOrder {
 public:
  NodeOrder() = default;
  // Covers the windows that contain the nodes [first, last).
  NodeOrder(std::int64_t nodes, std::int64_t first, std::int64_t last, std::uint64_t seed)
      : begin_(first / kWindow * kWindow) {
    const std::int64_t end = std::min(nodes, (last + kWindow - 1) / kWindow * kWindow);
    if (end <= begin_) return;
    place_of_.resize(end - begin_);
    number_of_.resize(end - begin_);
#pragma omp parallel for schedule(static)
    for (std::int64_t start = begin_; start < end; start += kWindow)
      shuffle_window(start, std::min(start + kWindow, end), seed);
  }

  std::int64_t place(std::int64_t number) const {
    return place_of_.empty() ? number : place_of_[number - begin_];
  }
  std::int64_t number(std::int64_t place) const {
    return number_of_.empty() ? place : number_of_[place - begin_];
  }
  bool is_shuffled() const { return !place_of_.empty(); }

 private:
  static constexpr std::int64_t kWindow = 4096;

  void shuffle_window(std::int64_t start, std::int64_t end, std::uint64_t seed) {
    std::int64_t* places = place_of_.data() + (start - begin_);
    const std::int64_t size = end - start;
    for (std::int64_t k = 0; k < size; ++k) places[k] = start + k;
    CounterRandom random(seed, Purpose::shuffle, start / kWindow);
    for (std::int64_t k = size; k > 1; --k) std::swap(places[k - 1], places[random.below(k)]);
    for (std::int64_t k = 0; k < size; ++k) number_of_[places[k] - begin_] = start + k;
  }

  std::int64_t begin_ = 0;
  std::vector<std::int64_t> place_of_, number_of_;  // element k belongs to node begin_ + k
};

class Elasticity final : public RowSource {
 public:
  Elasticity(std::int64_t n, NodeOrder order) : n_(n), order_(std::move(order)) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    const Point at = point(order_.place(row / 3));
    const std::size_t begin = columns.size();
    for (std::int64_t z = std::max<std::int64_t>(at.z - 1, 0); z <= std::min(at.z + 1, n_ - 1); ++z)
      for (std::int64_t y = std::max<std::int64_t>(at.y - 1, 0); y <= std::min(at.y + 1, n_ - 1);
           ++y)
        for (std::int64_t x = std::max<std::int64_t>(at.x - 1, 0); x <= std::min(at.x + 1, n_ - 1);
             ++x) {
          const std::int64_t first = 3 * order_.number(x + n_ * (y + n_ * z));
          columns.insert(columns.end(), {first, first + 1, first + 2});
        }
    if (order_.is_shuffled()) make_ascending(columns, begin);
  }

  void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                   double* values) const override {
    const Point at = point(order_.place(row / 3));
    const Sides sides = existing_sides(at);
    const auto axis = static_cast<std::size_t>(row % 3);
    for (std::size_t k = 0; k < columns.size(); k += 3) {
      const Point to = point(order_.place(columns[k] / 3));
      const auto neighbour =
          static_cast<int>((to.x - at.x + 1) + 3 * (to.y - at.y + 1) + 9 * (to.z - at.z + 1));
      const AssembledBlocks::Block& block = blocks_.block(sides, neighbour);
      for (std::size_t j = 0; j < 3; ++j) values[k + j] = block[3 * axis + j];
    }
  }

 private:
  Point point(std::int64_t place) const { return {place % n_, place / n_ % n_, place / (n_ * n_)}; }
  Sides existing_sides(const Point& at) const {
    constexpr Sides kBelow = 1 << 4;  // always set, because the block stands on the clamped face
    return (at.x > 0) | (at.x < n_ - 1) << 1 | (at.y > 0) << 2 | (at.y < n_ - 1) << 3 | kBelow |
           (at.z < n_ - 1) << 5;
  }

  std::int64_t n_;
  NodeOrder order_;
  AssembledBlocks blocks_;
};

// The nodes lie at whole numbers. The planes of z count from 1, because the clamped nodes lie at 0.
std::vector<Array<double>> coordinates(std::int64_t n, const NodeOrder& order, std::int64_t first,
                                       std::int64_t last) {
  std::vector<Array<double>> at(3, Array<double>(last - first));
#pragma omp parallel for schedule(static)
  for (std::int64_t node = first; node < last; ++node) {
    const std::int64_t place = order.place(node);
    at[0][node - first] = static_cast<double>(place % n);
    at[1][node - first] = static_cast<double>(place / n % n);
    const std::int64_t plane = place / (n * n);
    at[2][node - first] = static_cast<double>(plane + 1);
  }
  return at;
}

}  // namespace

std::vector<Array<double>> elasticity3d_coordinates(const GenerateSpec& spec, std::int64_t first,
                                                    std::int64_t last) {
  return coordinates(spec.n, NodeOrder(), first, last);
}

std::vector<Array<double>> elasticity3d_shuffled_coordinates(const GenerateSpec& spec,
                                                             std::int64_t first,
                                                             std::int64_t last) {
  const std::int64_t nodes = spec.n * spec.n * spec.n;
  return coordinates(spec.n, NodeOrder(nodes, first, last, spec.seed), first, last);
}

std::unique_ptr<RowSource> make_elasticity3d(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<Elasticity>(spec.n, NodeOrder());
}

std::unique_ptr<RowSource> make_elasticity3d_shuffled(const GenerateSpec& spec,
                                                      std::int64_t first_row,
                                                      std::int64_t last_row) {
  constexpr std::int64_t kWindow = 4096;
  const std::int64_t nodes = spec.n * spec.n * spec.n;
  // The maximum distance of a neighbour's number, shuffling included.
  const std::int64_t reach = spec.n * spec.n + spec.n + 1 + kWindow;
  const std::int64_t first = std::max<std::int64_t>(first_row / 3 - reach, 0);
  const std::int64_t last = std::min((last_row + 2) / 3 + reach, nodes);
  return std::make_unique<Elasticity>(spec.n, NodeOrder(nodes, first, last, spec.seed));
}

}  // namespace trireme
