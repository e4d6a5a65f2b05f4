// SPDX-License-Identifier: BSD-3-Clause
// The products of an AIJ matrix by a Trireme kernel: which kernel is wanted, and the operator that
// follows the matrix.
//
//   no operator --first product--> operator --new values--> the same operator, values updated
//                                     |
//                                     +--new pattern, or other settings--> built anew
//
// PETSc counts every change of a Mat and every change of its pattern (aij_state.hpp), so that each
// product compares counters and nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "distributed/gpus_of_ranks.hpp"
#include "distributed/operator.hpp"
#include "petsc/log_events.hpp"
#include "petsc/mat/aij_blocks.hpp"
#include "petsc/mat/aij_state.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// Where products run: on the CPU, on a GPU, or (automatic) on the CPU until a resident KSP asks for
// the operator, and from then on on a GPU if every rank has one.
enum class WantedDevice { automatic, cpu, cuda };

// What a user asked for; an empty member is not asked for and takes its default: kernel auto,
// device automatic, precision full.
struct ProductSettings {
  std::optional<std::string> kernel;  // a name of kernel_registry() or auto
  std::optional<WantedDevice> device;
  std::optional<Precision> precision;
  bool operator==(const ProductSettings&) const = default;
};
// The words of options and of the C interface. Each throws Error{usage} for any other word; the
// message says which words there are.
std::string kernel_of_word(const std::string& word);
WantedDevice device_of_word(const std::string& word);
Precision precision_of_word(const std::string& word);
const char* word_of(WantedDevice device);
const char* word_of(Precision precision);

class AijProducts {
 public:
  // Who asks for the operator: MatMult, or a KSP that runs its whole loop with the operator.
  enum class Caller { mat_mult, resident_loop };

  bool options_read = false;  // see mat_trireme_options.hpp

  AijProducts() = default;
  ~AijProducts();
  AijProducts(const AijProducts&) = delete;
  AijProducts& operator=(const AijProducts&) = delete;

  const ProductSettings& settings() const { return settings_; }
  // Other settings discard the operator. Returns whether they are others.
  bool set(const ProductSettings& settings);

  // The operator of `mat` as it is at this moment. Null where the matrix is not square or its rows
  // and columns are split differently: AIJ multiplies by such a matrix itself. Throws the same
  // Error on every rank. Collective.
  const std::shared_ptr<Operator>& operator_for(Mat mat, Caller caller);

  // The operator of the last product; null where there was none.
  const Operator* current() const { return op_.get(); }
  bool on_gpu() const { return on_gpu_; }
  // Whether the operator of a resident loop is on a GPU, or would be. Throws what operator_for()
  // throws where it would not be built. Collective.
  bool prefers_gpu(MPI_Comm comm) {
    return decide_device(comm, Caller::resident_loop) == Device::cuda;
  }
  std::int64_t products_since_build() const { return op_ ? op_->times().count() : 0; }
  int builds() const { return builds_; }    // operators built so far
  int updates() const { return updates_; }  // new values handed to an operator so far

 private:
  Precision precision() const { return settings_.precision.value_or(Precision::full); }
  WantedDevice wanted() const { return settings_.device.value_or(WantedDevice::automatic); }
  bool must_move_to_gpu(MPI_Comm comm, Caller caller);
  bool gpu_on_every_rank(MPI_Comm comm);
  Device decide_device(MPI_Comm comm, Caller caller);
  void make_operator(Caller caller);
  void build(Mat mat, Caller caller);
  void update(Mat mat, const AijBlocks& blocks);
  void discard();

  ProductSettings settings_;
  std::optional<bool> split_alike_;
  std::optional<GpusOfRanks> gpus_;  // asked for once
  AijState state_;                   // of the matrix that op_ multiplies by
  std::shared_ptr<DistributedMatrix> matrix_;
  std::shared_ptr<Operator> op_;
  std::optional<LoggedProduct> log_;
  bool on_gpu_ = false;  // where op_ multiplies, or where it did before it was discarded
  int builds_ = 0, updates_ = 0;
};

}  // namespace trireme
