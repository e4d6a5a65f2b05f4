// SPDX-License-Identifier: BSD-3-Clause
// Gauss-Jordan elimination in place, with complete pivoting.
#include "multigrid/set_up/dense_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/semidefinite_elimination.hpp"

namespace trireme::multigrid {
namespace {

// A dense matrix of order n, row by row.
struct Dense {
  std::int64_t n;
  Array<double> values;
  double* row(std::int64_t i) { return values.data() + i * n; }
};

// Runs the steps.
struct Steps {
  Elimination& m;
  std::vector<std::int64_t>&rows = m.rows, &cols = m.cols;
  std::int64_t& rank = m.rank;

  void run() {
    const std::int64_t n = m.n;
    rows.resize(n), cols.resize(n);
    std::iota(rows.begin(), rows.end(), 0);
    std::iota(cols.begin(), cols.end(), 0);
    std::vector<double> largest(n);      // |entry| of each row that is left
    std::vector<std::int64_t> where(n);  // and its column
    HostPlace::for_each(n, [&](std::int64_t i) { find_largest(i, 0, largest, where); });
    double first_pivot = 0;
    for (rank = 0; rank < n; ++rank) {
      std::int64_t pivot = rank;
      for (std::int64_t i = rank + 1; i < n; ++i)
        if (largest[i] > largest[pivot]) pivot = i;
      const double size = largest[pivot];
      if (rank == 0) first_pivot = size;
      if (!(size > first_pivot * kZeroPivot * static_cast<double>(n))) break;
      exchange(rank, pivot, where[pivot]);
      std::swap(largest[rank], largest[pivot]);
      step(rank, largest, where);
    }
  }

 private:
  void find_largest(std::int64_t i, std::int64_t first, std::vector<double>& largest,
                    std::vector<std::int64_t>& where) {
    const double* const line = m.row(i);
    double most = -1;
    std::int64_t at = first;
    // A diagonal entry comes before others of the same size: pivots of a symmetric definite matrix
    // stay on the diagonal.
    if (i >= first) most = std::abs(line[i]), at = i;
    for (std::int64_t j = first; j < m.n; ++j)
      if (std::abs(line[j]) > most) most = std::abs(line[j]), at = j;
    largest[i] = most;
    where[i] = at;
  }

  void exchange(std::int64_t k, std::int64_t row, std::int64_t col) {
    if (row != k) {
      std::swap_ranges(m.row(k), m.row(k) + m.n, m.row(row));
      std::swap(rows[k], rows[row]);
    }
    if (col != k) {
      for (std::int64_t i = 0; i < m.n; ++i) std::swap(m.row(i)[k], m.row(i)[col]);
      std::swap(cols[k], cols[col]);
    }
  }

  void step(std::int64_t k, std::vector<double>& largest, std::vector<std::int64_t>& where) {
    double* const line = m.row(k);
    const double inverse = 1 / line[k];
    line[k] = 1;
    for (std::int64_t j = 0; j < m.n; ++j) line[j] *= inverse;
    HostPlace::for_each_heavy(m.n, m.n, [&](std::int64_t i) {
      if (i == k) return;
      double* const other = m.row(i);
      const double factor = other[k];
      other[k] = 0;
      for (std::int64_t j = 0; j < m.n; ++j) other[j] -= factor * line[j];
      if (i > k) find_largest(i, k + 1, largest, where);
    });
  }
};

// Orthonormal columns that span those of `vectors`, n numbers each.
void orthonormalise(std::vector<std::vector<double>>& vectors) {
  for (std::size_t c = 0; c < vectors.size(); ++c) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t j = 0; j < c; ++j) {
        const double dot =
            std::inner_product(vectors[c].begin(), vectors[c].end(), vectors[j].begin(), 0.0);
        for (std::size_t i = 0; i < vectors[c].size(); ++i) vectors[c][i] -= dot * vectors[j][i];
      }
    const double norm = std::sqrt(
        std::inner_product(vectors[c].begin(), vectors[c].end(), vectors[c].begin(), 0.0));
    for (double& entry : vectors[c]) entry /= norm;
  }
}

// X -= Z (Z^T X) for the columns Z.
void project_rows(Dense& x, const std::vector<std::vector<double>>& z) {
  for (const std::vector<double>& column : z) {
    std::vector<double> dots(x.n, 0.0);
    for (std::int64_t i = 0; i < x.n; ++i)
      for (std::int64_t j = 0; j < x.n; ++j) dots[j] += column[i] * x.row(i)[j];
    for (std::int64_t i = 0; i < x.n; ++i)
      for (std::int64_t j = 0; j < x.n; ++j) x.row(i)[j] -= column[i] * dots[j];
  }
}

void transpose_in_place(Dense& x) {
  for (std::int64_t i = 0; i < x.n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(x.row(i)[j], x.row(j)[i]);
}

// The generalised inverse in the numbering of the matrix, with the null vectors projected out.
Dense generalised_inverse(Elimination& e) {
  const std::int64_t n = e.n, rank = e.rank;
  Dense x{n, Array<double>(n * n, 0.0)};
  // The inverse has the columns of M as its rows.
  HostPlace::for_each(rank, [&](std::int64_t k) {
    for (std::int64_t l = 0; l < rank; ++l) x.row(e.cols[k])[e.rows[l]] = e.row(k)[l];
  });
  if (rank == n) return x;
  std::vector<std::vector<double>> right, left;  // M right = 0, left^T M = 0
  for (std::int64_t free = rank; free < n; ++free) {
    std::vector<double> z(n, 0.0), w(n, 0.0);
    for (std::int64_t k = 0; k < rank; ++k) {
      z[e.cols[k]] = -e.row(k)[free];
      w[e.rows[k]] = e.row(free)[k];
    }
    z[e.cols[free]] = w[e.rows[free]] = 1;
    right.push_back(std::move(z));
    left.push_back(std::move(w));
  }
  orthonormalise(right);
  orthonormalise(left);
  project_rows(x, right);
  transpose_in_place(x);
  project_rows(x, left);
  transpose_in_place(x);
  return x;
}

// Rounding errors are compared with the diagonal, which is 1 or -1 where it is not 0: small entries
// may be what is left of large terms.
bool is_symmetric(Elimination& a) {
  return !HostPlace::maximum(a.n, false, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < i; ++j) {
      const double diagonal = std::min(std::abs(a.row(i)[i]), std::abs(a.row(j)[j]));
      const double size = std::max(diagonal, std::abs(a.row(i)[j]));
      if (std::abs(a.row(i)[j] - a.row(j)[i]) > 1e-12 * size) return true;
    }
    return false;
  });
}

}  // namespace

ScaledMatrix scaled_dense(const CsrView<double>& a) {
  const std::int64_t n = a.rows;
  ScaledMatrix m{{.n = n, .values = Array<double>(n * n, 0.0), .rows{}, .cols{}},
                 std::vector<double>(n, 0.0)};
  std::vector<double>& scale = m.scale;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (!std::isfinite(a.values[k]))
        fail(ExitCode::input, "the coarsest matrix of multigrid has infinity or NaN in row {}", i);
      if (a.col_idx[k] == i) scale[i] += a.values[k];
    }
  for (double& s : scale) s = s == 0 ? 1 : 1 / std::sqrt(std::abs(s));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      m.elimination.row(i)[a.col_idx[k]] += a.values[k] * scale[i] * scale[a.col_idx[k]];
  m.symmetric = is_symmetric(m.elimination);
  return m;
}

void eliminate(Elimination& elimination) { Steps{elimination}.run(); }

DenseInverse inverse_from(ScaledMatrix&& eliminated) {
  const std::int64_t n = eliminated.elimination.n;
  const std::vector<double>& scale = eliminated.scale;
  Dense x = generalised_inverse(eliminated.elimination);
  HostPlace::for_each(n, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < n; ++j) x.row(i)[j] *= scale[i] * scale[j];
  });
  if (eliminated.symmetric)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j)
        x.row(i)[j] = x.row(j)[i] = 0.5 * (x.row(i)[j] + x.row(j)[i]);
  return {std::move(x.values), n, eliminated.elimination.rank};
}

DenseInverse dense_inverse(const CsrView<double>& a) {
  ScaledMatrix m = scaled_dense(a);
  if (!m.symmetric || !eliminate_semidefinite(m.elimination)) eliminate(m.elimination);
  return inverse_from(std::move(m));
}

}  // namespace trireme::multigrid
