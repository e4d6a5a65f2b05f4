// SPDX-License-Identifier: BSD-3-Clause
// The factors of a matrix by cuDSS. All arrays are the caller's, on the GPU.
#pragma once

#include <cstdint>
#include <memory>

#include "petsc/factors/cudss/library.hpp"

namespace trireme::cudss {

// Rows of 32-bit offsets and ascending columns, which must outlive the factors. Of a symmetric
// matrix only the upper triangle is stored.
struct Rows {
  std::int64_t rows = 0, nonzeros = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* columns = nullptr;
  const double* values = nullptr;
};

struct Options {
  MatrixType type = kGeneral;  // L U; else L D L^T, or L L^T
  // Rows are exchanged ahead, so that large entries are on the diagonal; false: as cuDSS does by
  // default, which is no in 0.7 and its own choice in 1.0.
  bool matching = false;
  const double* scratch = nullptr;  // a vector, because cuDSS wants one where it needs none
  StreamRef stream = nullptr;
  const MemoryHandler* memory = nullptr;  // null: cuDSS's own
};

struct Estimate {
  std::int64_t device_bytes = 0, host_bytes = 0;  // at most, while the factors are made
};

class Factors {
 public:
  // Throws what Library::check() throws, as all members do.
  Factors(std::shared_ptr<const Library> library, const Rows& rows, const Options& options);
  ~Factors();
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;

  // Looks at the pattern, with matching also at the values. Comes once, before the others.
  Estimate analyse();
  // Takes the present values. Later ones keep the order of the first.
  void factorise();
  // x = A^-1 b for `width` vectors one after the other.
  void solve(const double* b, double* x, std::int64_t width) const;

  const Library& library() const { return *library_; }
  // After factorise().
  bool failed() const;                // no factors were made; L L^T: a pivot was not positive
  std::int64_t nonzeros() const;      // of the factors, also after analyse(); 0: not known
  std::int64_t small_pivots() const;  // that were replaced by larger numbers

 private:
  template <class Number>
  Number get(int what) const;
  void make(Phase phase, const char* what) const;
  void release() noexcept;

  std::shared_ptr<const Library> library_;
  Rows rows_;
  Options options_;
  Handle handle_ = nullptr;
  Config config_ = nullptr;
  Data data_ = nullptr;
  Matrix matrix_ = nullptr;
  bool made_ = false;
};

}  // namespace trireme::cudss
