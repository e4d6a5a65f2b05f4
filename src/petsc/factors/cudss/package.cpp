// SPDX-License-Identifier: BSD-3-Clause
// A MatShell whose operations are those of a factored matrix.
#include "petsc/factors/cudss/package.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "base/array.hpp"
#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"
#include "petsc/vec_product.hpp"

namespace trireme::cudss {
namespace {

int allocate(void*, void** data, std::size_t bytes, StreamRef stream) {
  try {
    *data = memory::allocate_device(bytes, stream);
    return 0;
  } catch (const Error&) {
    return 1;
  }
}
int release(void*, void* data, std::size_t, StreamRef stream) {
  memory::free_device_in_stream(data, stream);
  return 0;
}
constexpr MemoryHandler kOurMemory = {nullptr, allocate, release, "trireme"};

// The rows of an assembled matrix on one rank, while this lives.
class AijRows {
 public:
  explicit AijRows(Mat mat) : mat_(mat) {
    PetscBool done = PETSC_FALSE;
    petsc_check(MatGetRowIJ(mat, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &row_ptr_, &columns_, &done));
    if (!done) fail(ExitCode::usage, "cuDSS needs a matrix of type seqaij");
    petsc_check(MatSeqAIJGetArrayRead(mat, &values_));
  }
  ~AijRows() {
    PetscBool done = PETSC_FALSE;
    static_cast<void>(MatSeqAIJRestoreArrayRead(mat_, &values_));
    static_cast<void>(
        MatRestoreRowIJ(mat_, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &row_ptr_, &columns_, &done));
  }
  AijRows(const AijRows&) = delete;
  AijRows& operator=(const AijRows&) = delete;

  std::int64_t rows() const { return rows_; }
  std::int64_t end(std::int64_t row) const { return row_ptr_[row + 1]; }
  // The first entry of the row; with `upper`, of its part from the diagonal on.
  std::int64_t begin(std::int64_t row, bool upper) const {
    const PetscInt* const first = columns_ + row_ptr_[row];
    return upper ? std::lower_bound(first, columns_ + end(row), row) - columns_ : row_ptr_[row];
  }
  std::int64_t column(std::int64_t entry) const { return columns_[entry]; }
  const double* values() const { return values_; }

 private:
  Mat mat_;
  PetscInt rows_ = 0;
  const PetscInt *row_ptr_ = nullptr, *columns_ = nullptr;
  const PetscScalar* values_ = nullptr;
};

class FactoredMat {
 public:
  explicit FactoredMat(bool symmetric) : symmetric_(symmetric) {}

  void set_matching() { matching_ = true; }
  void set_positive() { positive_ = symmetric_; }

  void analyse(Mat mat) {
    if (factors_) return;
    const Stopwatch watch;
    const AijRows from(mat);
    const std::int64_t rows = from.rows();
    std::int64_t nonzeros = 0;
    Array<std::int32_t> row_ptr(rows + 1);
    for (std::int64_t i = 0; i < rows; ++i) {
      row_ptr[i] = static_cast<std::int32_t>(nonzeros);
      nonzeros += from.end(i) - from.begin(i, symmetric_);
      if (nonzeros > std::numeric_limits<std::int32_t>::max())
        fail(ExitCode::resource, "cuDSS takes at most 2^31-1 nonzeros");
    }
    row_ptr[rows] = static_cast<std::int32_t>(nonzeros);
    Array<std::int32_t> columns(nonzeros);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows; ++i) {
      std::int64_t to = row_ptr[i];
      for (std::int64_t k = from.begin(i, symmetric_); k < from.end(i); ++k)
        columns[to++] = static_cast<std::int32_t>(from.column(k));
    }
    row_ptr_ = to_device(std::span<const std::int32_t>(row_ptr), stream_);
    columns_ = to_device(std::span<const std::int32_t>(columns), stream_);
    values_ = DeviceBuffer<double>(nonzeros, stream_);
    b_ = DeviceBuffer<double>(rows, stream_);
    x_ = DeviceBuffer<double>(rows, stream_);
    host_row_ptr_ = std::move(row_ptr);
    upload_values(from);
    factors_ = std::make_unique<Factors>(
        open_library(), Rows{rows, nonzeros, row_ptr_.data(), columns_.data(), values_.data()},
        Options{.type = positive_    ? kPositive
                        : symmetric_ ? kSymmetric
                                     : kGeneral,
                .matching = matching_,
                .scratch = b_.data(),
                .stream = stream_,
                .memory = &kOurMemory});
    facts_.version = factors_->library().version();
    facts_.estimate = factors_->analyse();
    facts_.nonzeros = factors_->nonzeros();
    synchronize(stream_);
    facts_.analysis_seconds = watch.seconds();
  }

  // False: there are no factors.
  bool factorise(Mat mat) {
    const Stopwatch watch;
    upload_values(AijRows(mat));
    factors_->factorise();
    synchronize(stream_);
    facts_.failed = factors_->failed();
    facts_.nonzeros = factors_->nonzeros();
    facts_.small_pivots = factors_->small_pivots();
    facts_.factor_seconds = watch.seconds();
    return !facts_.failed;
  }

  // For as many vectors, one after the other, as the spans have.
  void solve(std::span<const double> b, std::span<double> x) {
    if (b_.size() < b.size()) {
      b_ = DeviceBuffer<double>(b.size(), stream_);
      x_ = DeviceBuffer<double>(b.size(), stream_);
    }
    const std::size_t rows = host_row_ptr_.size() - 1;
    copy_to_device(b, b_.span().subspan(0, b.size()), stream_);
    factors_->solve(b_.data(), x_.data(),
                    static_cast<std::int64_t>(rows > 0 ? b.size() / rows : 1));
    copy_to_host(x_.view().subspan(0, x.size()), x, stream_);
    synchronize(stream_);
  }

  const Facts& facts() const { return facts_; }

 private:
  void upload_values(const AijRows& from) {
    std::span<const double> values(from.values(), values_.size());
    if (symmetric_) {
      packed_.resize(values_.size());
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < from.rows(); ++i)
        std::copy(from.values() + from.begin(i, true), from.values() + from.end(i),
                  packed_.data() + host_row_ptr_[i]);
      values = packed_;
    }
    copy_to_device(values, values_.span(), stream_);
    synchronize(stream_);
  }

  bool symmetric_, positive_ = false, matching_ = false;
  StreamRef stream_ = petsc_stream();
  Array<std::int32_t> host_row_ptr_;
  Array<double> packed_;
  DeviceBuffer<std::int32_t> row_ptr_, columns_;
  DeviceBuffer<double> values_, b_, x_;
  Facts facts_;
  std::unique_ptr<Factors> factors_;
};

FactoredMat& factored(Mat factors) {
  FactoredMat* mat = nullptr;
  petsc_check(MatShellGetContext(factors, static_cast<void*>(&mat)));
  return *mat;
}

PetscErrorCode analyse_lu(Mat factors, Mat mat, IS, IS, const MatFactorInfo*) {
  return petsc_guard(comm_of(mat), [&] { factored(factors).analyse(mat); });
}
PetscErrorCode analyse_cholesky(Mat factors, Mat mat, IS, const MatFactorInfo*) {
  return analyse_lu(factors, mat, nullptr, nullptr, nullptr);
}
PetscErrorCode factorise(Mat factors, Mat mat, const MatFactorInfo*) {
  return petsc_guard(comm_of(mat), [&] {
    const bool made = factored(factors).factorise(mat);
    set_factor_error(factors, made ? MAT_FACTOR_NOERROR : MAT_FACTOR_NUMERIC_ZEROPIVOT);
  });
}
PetscErrorCode solve(Mat factors, Vec b, Vec x) {
  return petsc_guard(comm_of(factors), [&] {
    const ReadSpan from(b);
    const WriteSpan to(x);
    factored(factors).solve(from.span(), to.span());
  });
}
PetscErrorCode solve_block(Mat factors, Mat b, Mat x) {
  return petsc_guard(comm_of(factors), [&] {
    PetscInt rows = 0, width = 0;
    petsc_check(MatGetSize(b, &rows, &width));
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    petsc_check(MatDenseGetArrayRead(b, &from));
    petsc_check(MatDenseGetArrayWrite(x, &to));
    factored(factors).solve({from, count}, {to, count});
    petsc_check(MatDenseRestoreArrayWrite(x, &to));
    petsc_check(MatDenseRestoreArrayRead(b, &from));
  });
}
PetscErrorCode get_info(Mat factors, MatInfoType, MatInfo* info) {
  *info = {};
  info->nz_used = static_cast<PetscLogDouble>(factored(factors).facts().nonzeros);
  return kPetscSuccess;
}
PetscErrorCode get_package(Mat, MatSolverType* package) {
  *package = kPackage;
  return kPetscSuccess;
}
PetscErrorCode destroy(Mat factors) {
  return petsc_guard(comm_of(factors), [&] { delete &factored(factors); });
}

PetscErrorCode make(Mat mat, MatFactorType type, Mat* factors) {
  return petsc_guard(comm_of(mat), [&] {
    PetscInt rows = 0;
    petsc_check(MatGetLocalSize(mat, &rows, nullptr));
    auto context = std::make_unique<FactoredMat>(type == MAT_FACTOR_CHOLESKY);
    MatHandle shell;
    petsc_check(MatCreateShell(comm_of(mat), rows, rows, rows, rows, context.get(), shell.put()));
    static_cast<void>(context.release());  // destroy() deletes it
    const auto set = [&](MatOperation operation, auto* function) {
      petsc_check(MatShellSetOperation(shell, operation, petsc_operation(function)));
    };
    set(MATOP_DESTROY, destroy);
    set(MATOP_LUFACTOR_SYMBOLIC, analyse_lu);
    set(MATOP_LUFACTOR_NUMERIC, factorise);
    set(MATOP_CHOLESKY_FACTOR_SYMBOLIC, analyse_cholesky);
    set(MATOP_CHOLESKY_FACTOR_NUMERIC, factorise);
    set(MATOP_SOLVE, solve);
    set(MATOP_MAT_SOLVE, solve_block);
    set(MATOP_GETINFO, get_info);
    petsc_check(PetscObjectComposeFunction(object_of(static_cast<Mat>(shell)),
                                           "MatFactorGetSolverType_C",
                                           petsc_operation(get_package)));
    petsc_check(MatSetUp(shell));
    petsc_check(MatSetFactorType(shell, type));
    *factors = shell.release();
  });
}

}  // namespace

void register_package() {
  for (const MatFactorType type : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    petsc_check(MatSolverTypeRegister(kPackage, MATSEQAIJ, type, make));
}

void set_matching(Mat factors) { factored(factors).set_matching(); }
void set_positive(Mat factors) { factored(factors).set_positive(); }

Facts facts_of(Mat factors) { return factored(factors).facts(); }

}  // namespace trireme::cudss
