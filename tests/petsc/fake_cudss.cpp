// SPDX-License-Identifier: BSD-3-Clause
// Stands in for libcudss in tests: the functions that Trireme calls, with their numbers of version
// FAKE_MAJOR, for arrays in host memory. The factors are dense. As cuDSS does, it exchanges no rows
// and replaces pivots that are zero, unless matching is on; of a matrix that is called positive
// definite, it counts pivots that are not positive.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace {

enum Status { kSuccess = 0, kInvalid = 3 };

struct Matrix {
  std::int64_t rows = 0, width = 0;
  const int *row_ptr = nullptr, *columns = nullptr;
  double* values = nullptr;
  bool upper = false, positive = false;
};
struct Data {
  std::vector<double> lu;
  std::vector<std::int64_t> row_of;
  bool analysed = false, factored = false;
  int replaced = 0, not_positive = 0;
};
using Config = std::map<int, int>;

std::vector<double> dense(const Matrix& a) {
  std::vector<double> all(a.rows * a.rows, 0.0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (int k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int64_t j = a.columns[k];
      if (a.upper && j < i) continue;
      all[i * a.rows + j] = a.values[k];
      if (a.upper) all[j * a.rows + i] = a.values[k];
    }
  return all;
}

void factorise(const Matrix& a, bool exchange, Data& data) {
  constexpr double kSmall = 1e-10;
  const std::int64_t n = a.rows;
  std::vector<double> lu = dense(a);
  data.row_of.resize(n);
  data.replaced = data.not_positive = 0;
  for (std::int64_t i = 0; i < n; ++i) data.row_of[i] = i;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k; exchange && i < n; ++i)
      if (std::abs(lu[i * n + k]) > std::abs(lu[best * n + k])) best = i;
    std::swap_ranges(lu.begin() + k * n, lu.begin() + (k + 1) * n, lu.begin() + best * n);
    std::swap(data.row_of[k], data.row_of[best]);
    double& pivot = lu[k * n + k];
    if (a.positive && !(pivot > 0)) ++data.not_positive;
    if (std::abs(pivot) < kSmall) {
      pivot = kSmall;
      ++data.replaced;
    }
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = lu[i * n + k] /= pivot;
      for (std::int64_t j = k + 1; j < n; ++j) lu[i * n + j] -= factor * lu[k * n + j];
    }
  }
  data.lu = std::move(lu);
  data.factored = true;
}

void solve(const Data& data, const double* b, double* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = b[data.row_of[i]];
    for (std::int64_t j = 0; j < i; ++j) x[i] -= data.lu[i * n + j] * x[j];
  }
  for (std::int64_t i = n; i-- > 0;) {
    for (std::int64_t j = i + 1; j < n; ++j) x[i] -= data.lu[i * n + j] * x[j];
    x[i] /= data.lu[i * n + i];
  }
}

template <class Number>
int answer(void* into, std::size_t room, Number value) {
  if (room != sizeof value) return kInvalid;
  std::memcpy(into, &value, sizeof value);
  return kSuccess;
}

}  // namespace

extern "C" {

int cudssCreate(void** handle) {
  *handle = new int(0);
  return kSuccess;
}
int cudssDestroy(void* handle) {
  delete static_cast<int*>(handle);
  return kSuccess;
}
int cudssSetStream(void*, void*) { return kSuccess; }
int cudssSetThreadingLayer(void*, const char*) { return kInvalid; }  // there is none beside it
int cudssSetDeviceMemHandler(void*, const void*) { return kSuccess; }
int cudssGetProperty(int part, int* value) {
  const int version[] = {FAKE_MAJOR, 7 - 7 * FAKE_MAJOR, 3};
  *value = version[part];
  return kSuccess;
}
int cudssConfigCreate(void** config) {
  *config = new Config;
  return kSuccess;
}
int cudssConfigDestroy(void* config) {
  delete static_cast<Config*>(config);
  return kSuccess;
}
int cudssConfigSet(void* config, int what, const void* value, std::size_t bytes) {
  if (bytes != sizeof(int)) return kInvalid;
  std::memcpy(&(*static_cast<Config*>(config))[what], value, bytes);
  return kSuccess;
}
int cudssDataCreate(void*, void** data) {
  *data = new Data;
  return kSuccess;
}
int cudssDataDestroy(void*, void* data) {
  delete static_cast<Data*>(data);
  return kSuccess;
}
int cudssDataGet(void*, void* data, int what, void* into, std::size_t room, std::size_t*) {
  struct Bytes {
    std::int64_t of[16];
  };
  const auto& from = *static_cast<Data*>(data);
  if (what == 0) return answer(into, room, from.not_positive);
  if (what == 1) return answer(into, room, static_cast<std::int64_t>(from.lu.size()));
  if (what == 2) return answer(into, room, from.replaced);
  if (what == 12 + FAKE_MAJOR) return answer(into, room, Bytes{{100, 200, 300, 400}});
  return kInvalid;
}
int cudssMatrixCreateDn(void** matrix, std::int64_t rows, std::int64_t width, std::int64_t leading,
                        double* values, int type, int layout) {
  if (leading != rows || type != 1 || layout != 0 || !values) return kInvalid;
  *matrix = new Matrix{.rows = rows, .width = width, .values = values};
  return kSuccess;
}
int cudssMatrixCreateCsr(void** matrix, std::int64_t rows, std::int64_t columns,
                         std::int64_t nonzeros, const int* row_ptr, const int* row_end,
                         const int* columns_of, double* values,
#if FAKE_MAJOR > 0
                         int type_of_offsets,
#endif
                         int type_of_columns, int type_of_values, int kind, int view, int base) {
#if FAKE_MAJOR > 0
  if (type_of_offsets != 10) return kInvalid;
#endif
  const bool positive = kind == 3, symmetric = kind == 1 || positive;
  if (rows != columns || row_ptr[rows] != nonzeros || row_end || type_of_columns != 10 ||
      type_of_values != 1 || (kind > 0 && !symmetric) || view != (symmetric ? 2 : 0) || base != 0)
    return kInvalid;
  *matrix = new Matrix{rows, 0, row_ptr, columns_of, values, symmetric, positive};
  return kSuccess;
}
int cudssMatrixDestroy(void* matrix) {
  delete static_cast<Matrix*>(matrix);
  return kSuccess;
}
int cudssExecute(void*, int phase, void* config, void* data, void* matrix, void* x, void* b) {
  auto& into = *static_cast<Data*>(data);
  const auto& a = *static_cast<Matrix*>(matrix);
  const auto& to = *static_cast<Matrix*>(x);
  const auto& from = *static_cast<Matrix*>(b);
  if (to.rows != a.rows || from.rows != a.rows) return kInvalid;
  if (phase == 3) into.analysed = true;
  if (!into.analysed || (phase == 4 && into.factored) || (phase >= 8 && !into.factored))
    return kInvalid;
  const int matching = FAKE_MAJOR == 0 ? 1 : 6;
  if (phase == 4 || phase == 8) factorise(a, (*static_cast<Config*>(config))[3] == matching, into);
  for (std::int64_t k = 0; phase == 1008 && k < to.width; ++k)
    solve(into, from.values + k * a.rows, to.values + k * a.rows, a.rows);
  return kSuccess;
}
}
