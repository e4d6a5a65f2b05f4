// SPDX-License-Identifier: BSD-3-Clause
// The calls of cuDSS in their order.
#include "petsc/factors/cudss/factors.hpp"

#include <utility>

namespace trireme::cudss {
namespace {

// A view of vectors.
class Dense {
 public:
  Dense(const Library& library, std::int64_t rows, std::int64_t width, const double* data)
      : library_(library) {
    library.check(library.create_dense(&view_, rows, width, rows, data, kFloat64, kByColumns),
                  "the view of a vector");
  }
  ~Dense() {
    if (view_) library_.destroy_matrix(view_);
  }
  Dense(const Dense&) = delete;
  Dense& operator=(const Dense&) = delete;
  Matrix get() const { return view_; }

 private:
  const Library& library_;
  Matrix view_ = nullptr;
};

}  // namespace

Factors::Factors(std::shared_ptr<const Library> library, const Rows& rows, const Options& options)
    : library_(std::move(library)), rows_(rows), options_(options) {
  const Library& by = *library_;
  try {
    by.check(by.create(&handle_), "the start");
    if (options.memory) by.check(by.set_memory_handler(handle_, options.memory), "the start");
    if (!by.threading_layer().empty())
      by.check(by.set_threading_layer(handle_, by.threading_layer().c_str()), "the start");
    by.check(by.set_stream(handle_, options.stream), "the start");
    by.check(by.create_config(&config_), "the start");
    const int matching = by.matching();
    if (options.matching)
      by.check(by.set_config(config_, by.config_matching(), &matching, sizeof matching),
               "the settings");
    by.check(by.create_data(handle_, &data_), "the start");
    by.check(by.create_csr(&matrix_, rows.rows, rows.nonzeros, rows.row_ptr, rows.columns,
                           rows.values, options.type, options.type == kGeneral ? kFull : kUpper),
             "the view of the matrix");
  } catch (...) {
    release();
    throw;
  }
}

Factors::~Factors() { release(); }

void Factors::release() noexcept {
  if (matrix_) library_->destroy_matrix(matrix_);
  if (data_) library_->destroy_data(handle_, data_);
  if (config_) library_->destroy_config(config_);
  if (handle_) library_->destroy(handle_);
}

template <class Number>
Number Factors::get(int what) const {
  Number value{};
  std::size_t written = 0;
  return library_->get_data(handle_, data_, what, &value, sizeof value, &written) == kSuccess
             ? value
             : Number{};
}

void Factors::make(Phase phase, const char* what) const {
  const Dense no_vector(*library_, rows_.rows, 1, options_.scratch);
  library_->check(
      library_->execute(handle_, phase, config_, data_, matrix_, no_vector.get(), no_vector.get()),
      what);
}

Estimate Factors::analyse() {
  make(kAnalysis, "the analysis");
  struct Bytes {
    std::int64_t device, most_of_device, host, most_of_host, others[12];
  };
  const auto bytes = get<Bytes>(library_->data_memory());
  return {.device_bytes = bytes.most_of_device, .host_bytes = bytes.most_of_host};
}

void Factors::factorise() {
  make(made_ ? kFactoriseAgain : kFactorise, "the factorisation");
  made_ = true;
}

void Factors::solve(const double* b, double* x, std::int64_t width) const {
  const Dense of_x(*library_, rows_.rows, width, x), of_b(*library_, rows_.rows, width, b);
  library_->check(
      library_->execute(handle_, kSolve, config_, data_, matrix_, of_x.get(), of_b.get()),
      "the solution");
}

bool Factors::failed() const { return get<int>(library_->data_info()) != 0; }
std::int64_t Factors::nonzeros() const { return get<std::int64_t>(library_->data_nonzeros()); }
std::int64_t Factors::small_pivots() const { return get<int>(library_->data_pivots()); }

}  // namespace trireme::cudss
