// SPDX-License-Identifier: BSD-3-Clause
// Builds, updates and moves the operator of an AIJ matrix.
#include "petsc/mat/aij_products.hpp"

#include <utility>

#include "distributed/cuda_operator.hpp"
#include "distributed/float_values.hpp"
#include "distributed/host_operator.hpp"
#include "parallel/collective.hpp"
#include "petsc/exchange_options.hpp"
#include "petsc/private_headers.hpp"
#include "planning/kernel_for_matrix.hpp"

#if defined(PETSC_HAVE_CUDA) && defined(TRIREME_WITH_CUDA)
#include <petscdevice.h>
#endif

namespace trireme {
namespace {

// An event of -log_view around `work`.
template <class Work>
void logged(PetscLogEvent event, Mat mat, Work&& work) {
  petsc_check(PetscLogEventBegin(event, mat, 0, 0, 0));
  work();
  petsc_check(PetscLogEventEnd(event, mat, 0, 0, 0));
}

// Where PETSc has CUDA, its vectors are on its device, and products must be there too.
void select_gpu(MPI_Comm comm) {
#if defined(PETSC_HAVE_CUDA) && defined(TRIREME_WITH_CUDA)
  petsc_check(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  collectively(comm, [] { select_device(device_properties().index); });
#else
  select_gpu_of_rank(comm);
#endif
}

}  // namespace

std::string kernel_of_word(const std::string& word) {
  if (word != "auto") find_kernel(word);
  return word;
}

WantedDevice device_of_word(const std::string& word) {
  for (const WantedDevice device : {WantedDevice::automatic, WantedDevice::cpu, WantedDevice::cuda})
    if (word == word_of(device)) return device;
  fail(ExitCode::usage,
       "a Mat of type trireme has no device '{}'; the devices are auto, cpu and cuda", word);
}

Precision precision_of_word(const std::string& word) {
  for (const Precision precision : {Precision::full, Precision::mixed})
    if (word == word_of(precision)) return precision;
  fail(ExitCode::usage,
       "a Mat of type trireme has no precision '{}'; the precisions are double and mixed", word);
}

const char* word_of(WantedDevice device) {
  switch (device) {
    case WantedDevice::cpu:
      return "cpu";
    case WantedDevice::cuda:
      return "cuda";
    default:
      return "auto";
  }
}

const char* word_of(Precision precision) {
  return precision == Precision::mixed ? "mixed" : "double";
}

AijProducts::~AijProducts() { discard(); }

void AijProducts::discard() {
  if (op_) op_->observe(nullptr);  // a KSP may keep the operator for longer than the log lives
  op_.reset();
  matrix_.reset();
}

bool AijProducts::set(const ProductSettings& settings) {
  if (settings == settings_) return false;
  settings_ = settings;
  on_gpu_ = false;
  discard();
  return true;
}

const std::shared_ptr<Operator>& AijProducts::operator_for(Mat mat, Caller caller) {
  if (!split_alike_) split_alike_ = split_alike(mat);
  if (!*split_alike_) return op_;  // always null
  const MPI_Comm comm = comm_of(mat);
  const AijBlocks blocks = blocks_of(mat);
  AijState now(mat, blocks);
  const bool new_pattern_here = !now.same_pattern(state_);
  // All ranks see a change of the whole matrix. Whoever changes a block alone, by
  // MatMPIAIJGetSeqAIJ, does so on all ranks.
  const bool new_pattern =
      now.same_whole(state_) ? new_pattern_here : any_rank(comm, new_pattern_here);
  if (!op_ || new_pattern)
    build(mat, caller);
  else if (now != state_)
    update(mat, blocks);
  if (now != state_ && now.same_whole(state_)) {
    note_change(mat);  // PETSc does not count the change of a block alone, which concerns a PC too
    now = AijState(mat, blocks);
  }
  state_ = now;
  if (must_move_to_gpu(comm, caller)) make_operator(caller);
  return op_;
}

bool AijProducts::gpu_on_every_rank(MPI_Comm comm) {
  if (!gpus_) gpus_ = gpus_of_ranks(comm);
  return gpus_->everywhere;
}

// A kernel that was asked for by name and has no executor on a GPU stays on the CPU.
bool AijProducts::must_move_to_gpu(MPI_Comm comm, Caller caller) {
  if (caller != Caller::resident_loop || wanted() != WantedDevice::automatic || on_gpu_)
    return false;
  return decide_device(comm, caller) == Device::cuda;
}

Device AijProducts::decide_device(MPI_Comm comm, Caller caller) {
  const std::string kernel = settings_.kernel.value_or("auto");
  switch (wanted()) {
    case WantedDevice::cpu:
      return Device::cpu;
    case WantedDevice::cuda:
      if (!gpu_on_every_rank(comm))
        fail(ExitCode::usage,
             "-mat_trireme_device cuda: there is no usable GPU on {}; use cpu or auto",
             gpus_->lacking.empty() ? "any rank, or this Trireme was built without CUDA"
                                    : gpus_->lacking);
      return Device::cuda;
    default:
      break;
  }
  if (on_gpu_) return Device::cuda;
  if (caller != Caller::resident_loop) return Device::cpu;
  if (kernel != "auto" && !find_kernel(kernel).runs_on(Device::cuda, precision()))
    return Device::cpu;
  return choose_device(gpu_on_every_rank(comm));
}

void AijProducts::make_operator(Caller caller) {
  const MPI_Comm comm = matrix_->comm;
  const Device device = decide_device(comm, caller);
  std::string kernel = settings_.kernel.value_or("auto");
  if (kernel == "auto") kernel = choose_kernel_for(*matrix_, device, precision());
  if (op_) op_->observe(nullptr);
  op_.reset();
  if (device == Device::cuda) {
    select_gpu(comm);
    op_ = std::make_shared<CudaOperator>(matrix_, kernel, precision(), exchange_options());
  } else {
    op_ = std::make_shared<HostOperator>(matrix_, kernel, precision());
  }
  if (!log_) log_.emplace();
  op_->observe(&*log_);
  on_gpu_ = device == Device::cuda;
  ++builds_;
}

void AijProducts::build(Mat mat, Caller caller) {
  logged(log_events().build, mat, [&] {
    discard();
    matrix_ = distributed_matrix_of(mat);
    make_operator(caller);
  });
}

void AijProducts::update(Mat mat, const AijBlocks& blocks) {
  logged(log_events().update, mat, [&] {
    copy_values(blocks, matrix_->blocks);
    ++matrix_->values_version;
    // An operator whose former values FP32 held keeps no exact values, which the new ones may need.
    if (precision() == Precision::mixed && !float_values_are_exact(*matrix_) && !op_->inexact())
      make_operator(Caller::mat_mult);
    else
      op_->refresh_values();
    ++updates_;
  });
}

}  // namespace trireme
