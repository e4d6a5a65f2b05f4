// SPDX-License-Identifier: BSD-3-Clause
// Coordinates become rigid-body modes; given vectors become orthonormal.
#include "io/modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "parallel/collective.hpp"
#include "sparse/orthonormal_columns.hpp"
#include "sparse/rigid_body_modes.hpp"

namespace trireme {
namespace {

SumOverRanks sum_over(MPI_Comm comm) {
  return [comm](std::span<double> numbers) {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE,
                  MPI_SUM, comm);
  };
}

// The dataset that the spec names, or `usual` where the source has it and the spec leaves it open.
// Collective.
std::string name_of(MPI_Comm comm, const SystemSource& source, const std::string& given,
                    const std::string& usual) {
  if (given == kNoDataset) return "";
  if (!given.empty()) return given;
  bool has = false;
  collectively(comm, [&] { has = source.has_vectors(usual); });
  return has ? usual : "";
}

bool is_named(const std::string& given) { return !given.empty() && given != kNoDataset; }

void take_coordinates(const VectorShape& shape, const MatrixFacts& matrix, ModesPlace& place) {
  const std::string& name = place.coordinates;
  if (shape.count != 2 && shape.count != 3)
    fail(ExitCode::input, "{} has the shape [{}, {}]; [nodes, 2] or [nodes, 3] is needed", name,
         shape.length, shape.count);
  if (shape.length == 0 ? matrix.rows > 0 : matrix.rows % shape.length != 0)
    fail(
        ExitCode::input,
        "{} has {} nodes, and the matrix has {} rows, which is no multiple of that; write one node "
        "per block of unknowns, or set problem.coordinates: none",
        name, shape.length, matrix.rows);
  const std::int64_t block_size = shape.length == 0 ? 1 : matrix.rows / shape.length;
  if (matrix.block_size > 0 && matrix.block_size != block_size)
    fail(ExitCode::input,
         "{} has {} nodes, which makes {} unknowns per node, but the attribute block_size of the "
         "matrix is {}",
         name, shape.length, block_size, matrix.block_size);
  place.block_size = block_size;
  place.nodes = shape.length;
  place.dimension = shape.count;
}

// A box around the nodes of all ranks. Collective.
Centred box_around(MPI_Comm comm, std::span<const Array<double>> coordinates) {
  std::vector<double> low, high;
  for (const Array<double>& axis : coordinates) {
    low.push_back(std::numeric_limits<double>::infinity());
    high.push_back(-std::numeric_limits<double>::infinity());
    for (const double at : axis) {
      low.back() = std::min(low.back(), at);
      high.back() = std::max(high.back(), at);
    }
  }
  const int count = static_cast<int>(low.size());
  MPI_Allreduce(MPI_IN_PLACE, low.data(), count, MPI_DOUBLE, MPI_MIN, comm);
  MPI_Allreduce(MPI_IN_PLACE, high.data(), count, MPI_DOUBLE, MPI_MAX, comm);
  return centred(low, high);
}

Modes modes_of_coordinates(MPI_Comm comm, SystemSource& source, const ModesPlace& place,
                           const RowRange& rows) {
  const RowRange nodes{rows.first / place.block_size, rows.count / place.block_size, place.nodes};
  const std::vector<Array<double>> coordinates = source.read_vectors(place.coordinates, nodes);
  if (place.block_size != place.dimension) return {};
  const Centred box = box_around(comm, coordinates);
  Modes modes;
  collectively(comm, [&] { modes = rigid_body_modes(coordinates, box); });
  orthonormalise(modes, sum_over(comm));
  return modes;
}

Modes modes_of_vectors(MPI_Comm comm, SystemSource& source, const std::string& name,
                       const RowRange& rows) {
  const std::vector<Array<double>> vectors = source.read_vectors(name, rows);
  const std::int64_t width = std::ssize(vectors);
  Modes modes;
  collectively(comm, [&] {
    if (width > rows.global)
      fail(ExitCode::input, "{} holds {} vectors, which {} rows cannot tell apart", name, width,
           rows.global);
    modes.width = static_cast<std::int32_t>(width);
    modes.values.resize(rows.count * width);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows.count; ++i)
      for (std::int64_t k = 0; k < width; ++k) modes.values[i * width + k] = vectors[k][i];
  });
  const std::vector<double> norms = normalise_columns(modes, sum_over(comm));
  collectively(comm, [&] {
    for (std::size_t k = 0; k < norms.size(); ++k)
      if (!(norms[k] > 0 && std::isfinite(norms[k])))
        fail(ExitCode::input, "vector {} of {} (from 0) has the norm {}; {}", k, name, norms[k],
             norms[k] == 0 ? "remove it" : "divide it by its largest entry");
  });
  const std::vector<std::int32_t> left_out = orthonormalise(modes, sum_over(comm));
  collectively(comm, [&] {
    if (!left_out.empty())
      fail(ExitCode::input,
           "vector {} of {} (from 0) is a combination of the vectors before it; remove it",
           left_out.front(), name);
  });
  return modes;
}

}  // namespace

ModesPlace find_modes(MPI_Comm comm, SystemSource& source, const ProblemSpec& spec) {
  const auto* named = std::get_if<SystemFile>(&spec.source);
  const SystemFile system = named ? *named : SystemFile();
  ModesPlace place;
  if (!is_named(system.near_nullspace))
    place.coordinates = name_of(comm, source, system.coordinates, "/coordinates");
  if (!is_named(system.coordinates))
    place.near_nullspace = name_of(comm, source, system.near_nullspace, "/near_nullspace");
  collectively(comm, [&] {
    if (!place.coordinates.empty() && !place.near_nullspace.empty())
      fail(ExitCode::input,
           "{} has both {} and {}, and multigrid takes its vectors from one of them; set "
           "problem.coordinates: none or problem.near_nullspace: none",
           system.file.string(), place.coordinates, place.near_nullspace);
  });
  const MatrixFacts matrix = source.facts(system.matrix);
  place.block_size = std::max<std::int64_t>(1, matrix.block_size);
  if (!place.coordinates.empty()) {
    const VectorShape shape = source.shape_of(place.coordinates);
    collectively(comm, [&] { take_coordinates(shape, matrix, place); });
  }
  return place;
}

Modes read_modes(MPI_Comm comm, SystemSource& source, const ModesPlace& place,
                 const RowRange& rows) {
  Modes modes;
  if (!place.coordinates.empty()) modes = modes_of_coordinates(comm, source, place, rows);
  if (!place.near_nullspace.empty())
    modes = modes_of_vectors(comm, source, place.near_nullspace, rows);
  modes.block_size = static_cast<std::int32_t>(place.block_size);
  return modes;
}

std::string describe(const ModesPlace& place, const Modes& modes) {
  if (!place.near_nullspace.empty())
    return fmt::format("{} vectors in {}", modes.width, place.near_nullspace);
  const std::string nodes = place.coordinates.empty()
                                ? ""
                                : fmt::format(", {} nodes in {}", place.nodes, place.coordinates);
  if (modes.width > 0) return fmt::format("{} rigid-body modes{}", modes.width, nodes);
  if (place.block_size > 1)
    return fmt::format("constants of {} unknowns per node{}", place.block_size, nodes);
  return place.coordinates.empty() ? "" : "constant" + nodes;
}

}  // namespace trireme
