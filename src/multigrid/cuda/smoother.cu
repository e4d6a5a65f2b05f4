// SPDX-License-Identifier: BSD-3-Clause
// The numbers of the smoothers on a GPU. A run of CG estimates the spectrum; its scalars stay in
// GPU memory, so that all of its steps are queued at once.
#include <cmath>

#include "base/split_mix.hpp"
#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/row_products.cuh"
#include "multigrid/cycle/smoothing.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/smoother_functors.hpp"
#include "solvers/preconditioners/lanczos_bounds.hpp"

namespace trireme::multigrid {
namespace {

constexpr int kSteps = 10;
constexpr double kSymmetryTolerance = 1e-10;  // that of symmetry.cpp
// y = A x
struct Store {
  double* y;
  __device__ void operator()(std::int64_t i, double product) const { y[i] = product; }
};
void multiply(const DeviceCsr<double>& a, const double* x, double* y, StreamRef stream) {
  multiply_rows(a.rows, FilteredRows(MatrixPointers(a), nullptr, 1), x, Store{y}, stream);
}

struct RandomNumber {
  std::uint64_t seed;
  std::int64_t first_row;
  __device__ double operator()(std::int64_t i) const {
    return to_unit(split_mix(static_cast<std::uint64_t>(first_row + i), seed)) - 0.5;
  }
};
struct Dot {
  const double* a;
  const double* b;
  __device__ double operator()(std::int64_t i) const { return a[i] * b[i]; }
};
struct ApplyInverse {
  const double* inverse;
  std::int64_t size;
  const double* r;
  __device__ double operator()(std::int64_t i) const {
    return size > 1 ? InverseBlocks{inverse, size}(i, r) : InverseDiagonal{inverse}(i, r);
  }
};
// r -= rho / curvature * q
struct ReduceResidual {
  const double* rho;
  const double* curvature;
  const double* q;
  double* r;
  __device__ void operator()(std::int64_t i) const { r[i] -= *rho / *curvature * q[i]; }
};
// z = W r. Returns a term of r . z.
struct Precondition {
  ApplyInverse apply;
  double* z;
  __device__ double operator()(std::int64_t i) const {
    z[i] = apply(i);
    return apply.r[i] * z[i];
  }
};
// The same behind a step of the residual, where W is a diagonal.
struct ReduceAndPrecondition {
  ReduceResidual reduce;
  Precondition precondition;
  __device__ double operator()(std::int64_t i) const {
    reduce(i);
    return precondition(i);
  }
};
// p = z + next / rho * p
struct TurnDirection {
  const double* rho;
  const double* next;
  const double* z;
  double* p;
  __device__ void operator()(std::int64_t i) const { p[i] = z[i] + *next / *rho * p[i]; }
};

// The number of rows from one whose diagonal is not positive to the end; inverts the others.
struct InvertEntry {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;
  std::int64_t rows;
  double* inverse;
  __device__ std::int64_t operator()(std::int64_t i) const {
    double diagonal = 0;
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      if (col_idx[k] == i) diagonal += values[k];
    inverse[i] = 1 / diagonal;
    return diagonal > 0 && is_finite(1 / diagonal) ? 0 : rows - i;
  }
};
struct UnfitBlock {
  InvertNodeBlock invert;
  std::int64_t nodes;
  __device__ std::int64_t operator()(std::int64_t node) const {
    return invert(node) ? 0 : nodes - node;
  }
};
struct ScaledModuli {
  RowModuli moduli;
  const double* inverse;
  __device__ double operator()(std::int64_t i) const { return moduli(i) * inverse[i]; }
};

RowModuli moduli_of(const DeviceCsr<double>& a) { return {MatrixPointers(a), nullptr, nullptr}; }

// estimate_radius() on several ranks, whose scalars the hosts have.
double estimate_on_ranks(const DeviceCsr<double>& a, DeviceSpan<const double> inverse,
                         std::int64_t block_size, StreamRef stream, const RankOfRows& rank,
                         std::int64_t node_size) {
  const CudaPlace place(stream);
  const DeviceGhosts& ghosts = *rank.ghosts;
  const std::int64_t rows = a.rows;
  const auto r = place.array<double>(rows), z = place.array<double>(rows),
             p = place.array<double>(a.cols), q = place.array<double>(rows);
  const auto scalars = place.array<double>(3);  // rho, curvature, the next rho
  double* const rho = scalars.data();
  fill_zero(scalars.span(), stream);
  const auto sum = [&](const auto& terms, int at) {
    if (rows > 0) place.add_up(rows, terms, rho + at);
    const double all = ghosts.sum(rows > 0 ? read_back(rho + at, stream) : 0);
    copy_to_device(std::span<const double>(&all, 1), scalars.span().subspan(at, 1), stream);
    synchronize(stream);
    return all;
  };
  const Precondition apply{{inverse.data(), block_size, r.data()}, z.data()};
  place.write_each(rows, RandomNumber{0, rank.first_row}, r.data());
  double now = sum(apply, 0);
  const double start = now;
  copy_on_device(z.view(), p.span(), stream);
  solvers::LanczosBounds bounds;
  for (int k = 0; k < kSteps && now > 1e-24 * start; ++k) {
    ghosts.fetch(p.data(), node_size);
    multiply(a, p.data(), q.data(), stream);
    const double curvature = sum(Dot{p.data(), q.data()}, 1);
    if (!(curvature > 0) || !std::isfinite(curvature)) break;
    place.for_each(rows, ReduceResidual{rho, rho + 1, q.data(), r.data()});
    const double next = sum(apply, 2);
    bounds.add(now / curvature, next / now);
    place.for_each(rows, TurnDirection{rho, rho + 2, z.data(), p.data()});
    copy_on_device(scalars.view().subspan(2, 1), scalars.span(), stream);
    now = next;
  }
  return bounds.size() > 0 ? bounds.largest() : 0;
}

}  // namespace

void invert_diagonal(const DeviceCsr<double>& a, int level, DeviceSpan<double> inverse,
                     StreamRef stream, const RankOfRows& rank) {
  const std::int64_t behind = CudaPlace(stream).maximum(
      a.rows, std::int64_t{0},
      InvertEntry{a.row_ptr.data(), a.col_idx.data(), a.values.data(), a.rows, inverse.data()});
  const std::int64_t row = a.rows - behind;
  if (behind > 0)
    refuse_diagonal(level, rank.callers_row(row), 1 / read_back(inverse.data() + row, stream));
}

void invert_l1_diagonal(const DeviceCsr<double>& a, DeviceSpan<double> inverse, StreamRef stream) {
  CudaPlace(stream).for_each(a.rows, InvertL1Diagonal{moduli_of(a), inverse.data()});
}

void invert_blocks(const DeviceCsr<double>& a, std::int64_t size, int level,
                   DeviceSpan<double> inverse, StreamRef stream, const RankOfRows& rank) {
  fill_zero(inverse, stream);
  const std::int64_t nodes = a.rows / size;
  const std::int64_t behind = CudaPlace(stream).maximum(
      nodes, std::int64_t{0}, UnfitBlock{{MatrixPointers(a), size, inverse.data()}, nodes});
  if (behind > 0) refuse_block(level, rank.callers_row((nodes - behind) * size), size);
}

double largest_row_sum(const DeviceCsr<double>& a, DeviceSpan<const double> inverse,
                       StreamRef stream) {
  return CudaPlace(stream).maximum(a.rows, 0.0, ScaledModuli{moduli_of(a), inverse.data()});
}

double estimate_radius(const DeviceCsr<double>& a, DeviceSpan<const double> inverse,
                       std::int64_t block_size, StreamRef stream, const RankOfRows& rank,
                       std::int64_t node_size) {
  const std::int64_t rows = a.rows;
  if (!rank.alone()) return estimate_on_ranks(a, inverse, block_size, stream, rank, node_size);
  if (rows == 0) return 0;
  const CudaPlace place(stream);
  const auto r = place.array<double>(rows), z = place.array<double>(rows),
             p = place.array<double>(rows), q = place.array<double>(rows);
  const auto rho = place.array<double>(kSteps + 1), curvature = place.array<double>(kSteps);
  const ApplyInverse precondition{inverse.data(), block_size, r.data()};
  const Precondition apply{precondition, z.data()};
  place.write_each(rows, RandomNumber{0, rank.first_row}, r.data());
  place.add_up(rows, apply, rho.data());
  copy_on_device(z.view(), p.span(), stream);
  for (int k = 0; k < kSteps; ++k) {
    multiply(a, p.data(), q.data(), stream);
    place.add_up(rows, Dot{p.data(), q.data()}, curvature.data() + k);
    const ReduceResidual reduce{rho.data() + k, curvature.data() + k, q.data(), r.data()};
    if (block_size == 1) {
      place.add_up(rows, ReduceAndPrecondition{reduce, apply}, rho.data() + k + 1);
    } else {
      place.for_each(rows, reduce);
      place.add_up(rows, apply, rho.data() + k + 1);
    }
    place.for_each(rows, TurnDirection{rho.data() + k, rho.data() + k + 1, z.data(), p.data()});
  }
  const Array<double> rhos = to_host(rho.view(), stream);
  const Array<double> curvatures = to_host(curvature.view(), stream);
  solvers::LanczosBounds bounds;
  for (int k = 0; k < kSteps && rhos[k] > 1e-24 * rhos[0]; ++k) {
    if (!(curvatures[k] > 0) || !std::isfinite(curvatures[k])) break;
    bounds.add(rhos[k] / curvatures[k], rhos[k + 1] / rhos[k]);
  }
  return bounds.size() > 0 ? bounds.largest() : 0;
}

bool is_symmetric(const DeviceCsr<double>& a, StreamRef stream, const RankOfRows& rank,
                  std::int64_t node_size) {
  const DeviceGhosts none;
  const DeviceGhosts& ghosts = rank.alone() ? none : *rank.ghosts;
  if (rank.alone() && a.rows == 0) return true;
  const CudaPlace place(stream);
  const auto x = place.array<double>(a.cols), y = place.array<double>(a.cols),
             product = place.array<double>(a.rows);
  const auto sums = place.array<double>(4);
  fill_zero(sums.span(), stream);
  place.write_each(a.rows, RandomNumber{1, rank.first_row}, x.data());
  place.write_each(a.rows, RandomNumber{2, rank.first_row}, y.data());
  const auto add_up = [&](const Dot& dot, int at) {
    if (a.rows > 0) place.add_up(a.rows, dot, sums.data() + at);
  };
  ghosts.fetch(y.data(), node_size);
  multiply(a, y.data(), product.data(), stream);
  add_up({x.data(), product.data()}, 0);
  add_up({x.data(), x.data()}, 1);
  add_up({product.data(), product.data()}, 2);
  ghosts.fetch(x.data(), node_size);
  multiply(a, x.data(), product.data(), stream);
  add_up({y.data(), product.data()}, 3);
  Array<double> s = to_host(sums.view(), stream);
  for (double& sum : s) sum = ghosts.sum(sum);
  return std::abs(s[0] - s[3]) <= kSymmetryTolerance * std::sqrt(s[1] * s[2]);
}

}  // namespace trireme::multigrid
