// SPDX-License-Identifier: BSD-3-Clause
// The thread goes from what every run needs to what one of several kernels needs.
#include "app/system/gpu_warm_up.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>

#include "app/requested_kernels.hpp"
#include "app/system/entries_of_case.hpp"
#include "device/device.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/device_blocks.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/cuda/device_ghosts.hpp"
#include "multigrid/cuda/device_set_up.hpp"
#include "multigrid/cuda/level_parts_of.hpp"
#include "parallel/collective.hpp"
#include "parallel/nodes.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "planning/choose.hpp"
#include "solvers/cuda_kernel_system.hpp"
#include "solvers/cuda_solver.hpp"
#include "sparse/generators.hpp"

namespace trireme {
namespace {

// Rows enough for several blocks of every kernel, and few enough to be built at once.
constexpr std::int64_t kPointsPerSide = 16;

bool on_gpu(const KernelChoice& kernel) {
  return kernel.device == Device::cuda && kernel.name != kPetscAij;
}

// The kernels that a run may begin with.
std::vector<std::string_view> names_of(const KernelChoice& kernel) {
  if (kernel.name != kAuto) return {kernel.name};
  return kernels_to_begin_with(Device::cuda);
}

class TinySystem {
 public:
  TinySystem() {
    GenerateSpec spec;
    spec.kind = "poisson3d";
    spec.n = kPointsPerSide;
    matrix_ = generate(spec, 0, generator_shape(spec).rows).local;
    on_device_ = to_device(matrix_.view(), stream_);
    x_ = DeviceBuffer<double>(matrix_.rows, stream_);
    y_ = DeviceBuffer<double>(matrix_.rows, stream_);
    fill_zero(x_.span(), stream_);
    stream_.synchronize();
  }

  void load_kernel(std::string_view name, Precision precision) {
    if (!find_kernel(name).runs_on(Device::cuda, precision)) return;
    const auto kernel = build(name, precision);
    kernel->multiply(x_.view(), y_.span(), Accumulate::no, stream_);
    const DeviceBuffer<double> partials(kernel->dot_partials(), stream_);
    if (!partials.empty()) kernel->multiply_and_dot(x_.view(), y_.span(), partials.span(), stream_);
    stream_.synchronize();
  }

  // The first solve loads the kernels one by one. In a capture, as of the second one, a kernel that
  // is loaded while other threads load theirs makes the capture fail now and then.
  void load_solver(solvers::Method method, solvers::PreconditionerKind preconditioner) {
    for (const solvers::CudaMode mode : {solvers::CudaMode::stepped, solvers::CudaMode::graph})
      solve(method, preconditioner, mode);
  }

  // The set-up of multigrid with one unknown per node, and the layouts of the cycle.
  void load_multigrid(const multigrid::Options& options) {
    const multigrid::DeviceSetUp set_up(on_device_.view(), {}, options);
    const multigrid::CudaHierarchy cycle(multigrid::level_parts_of(set_up.levels()), options.cycle);
  }

 private:
  // Large systems, whose start matters, run as a graph.
  void solve(solvers::Method method, solvers::PreconditionerKind preconditioner,
             solvers::CudaMode mode) {
    const auto kernel = build(plain_kernel(Device::cuda).name, Precision::full);
    solvers::CudaKernelSystem system(*kernel, on_device_.view());
    const Array<double> ones(matrix_.rows, 1.0);
    Array<double> solution(matrix_.rows);
    solvers::PreconditionerSpec spec;
    spec.kind = preconditioner;
    spec.diagonal = ones;
    solvers::CudaOptions options;
    options.mode = mode;
    solvers::CudaSolver solver(system, method, solvers::Variant::automatic, spec, options);
    solvers::Tolerances rule;
    rule.max_iterations = 3;
    solver.solve({ones, solution, true}, rule);
  }

  std::unique_ptr<CudaKernel<double>> build(std::string_view name, Precision precision) {
    return precision == Precision::mixed
               ? build_mixed_cuda_kernel(name, on_device_.view(), stream_)
               : build_cuda_kernel<double>(name, on_device_.view(), stream_);
  }

  Stream stream_;
  CsrMatrix<double> matrix_;
  DeviceCsrMatrix<double> on_device_;
  DeviceBuffer<double> x_, y_;
};

// Of the resident engine. What needs more than a diagonal needs rows of the real matrix, and shares
// the kernels of Jacobi's.
solvers::PreconditionerKind kind_of(const AnyPreconditioner& preconditioner) {
  using Data = solvers::PreconditionerData;
  const auto* const own = preconditioner.own();
  const Data data = own ? own->info.data : Data::blocks;
  return data == Data::nothing || data == Data::diagonal ? own->kind
                                                         : solvers::PreconditionerKind::jacobi;
}

}  // namespace

GpuWarmUp::GpuWarmUp(MPI_Comm comm, const std::vector<KernelChoice>& kernels,
                     const GpusOfRanks& gpus, const Case& c)
    : comm_(comm),
      kernels_(kernels),
      gpus_(gpus),
      case_(c),
      alone_(size_of(comm) == 1),
      shares_blocks_(std::ranges::any_of(kernels, on_gpu)) {
  if (!gpus.everywhere) select_gpu(comm, kernels, gpus);
  if (!shares_blocks_ || !gpus.everywhere) return;
  if (!c.problem.generated() && alone_) early_.emplace(entries_for(c));
  const int rank = rank_on_node(comm);
  threads_ = omp_get_max_threads();
  opening_ = opened_.get_future().share();
  thread_ = std::thread([this, rank, threads = threads_] {
    bool is_open = false;
    try {  // see the class
      open(rank, threads);
      is_open = true;
    } catch (const std::exception&) {
    }
    opened_.set_value();
    try {
      if (is_open) load();
    } catch (const std::exception&) {
    }
  });
  if (threads_ > 1 && threads_ >= omp_get_num_procs()) omp_set_num_threads(threads_ - 1);
}

GpuWarmUp::~GpuWarmUp() { finish(); }

void GpuWarmUp::finish() {
  hurry_ = true;
  if (!thread_.joinable()) return;
  thread_.join();
  omp_set_num_threads(threads_);
}

void GpuWarmUp::open(int rank_of_node, int threads) {
  omp_set_num_threads(1);  // of this thread: the other threads read the problem
  available_ = cuda_available();
  select_device(rank_of_node);
  if (early_) early_->open(threads);
  uploader_ = std::make_unique<Uploader>(threads);
  uploader_->make_chunks();
  if (!alone_) PinnedBuffer<char>{multigrid::GhostWords::kLeastBytes};
}

void GpuWarmUp::load() {
  TinySystem tiny;
  const AnyPreconditioner preconditioner = case_.solver.first_preconditioner();
  if (const auto method = solvers::method_named(case_.solver.first_method());
      method && choose_engine(case_.solver).resident())
    tiny.load_solver(method->method, kind_of(preconditioner));
  if (preconditioner.is_multigrid() && alone_ && !hurry_ && choose_engine(case_.solver).resident())
    tiny.load_multigrid(multigrid_options(case_.solver));
  for (const KernelChoice& kernel : kernels_)
    for (const std::string_view name : names_of(kernel))
      if (on_gpu(kernel) && !hurry_) tiny.load_kernel(name, kernel.precision);
}

bool GpuWarmUp::is_missing() {
  if (opening_.valid()) {
    opening_.wait();
    return !available_;
  }
  return std::ranges::any_of(
             kernels_, [](const KernelChoice& kernel) { return kernel.device == Device::cuda; }) &&
         !cuda_available();
}

std::string GpuWarmUp::wait_until_open() {
  if (opening_.valid()) opening_.wait();
  if (!alone_) finish();
  return select_gpu(comm_, kernels_, gpus_);
}

void GpuWarmUp::reading_has_ended() {
  if (early_) early_->end();
}

void GpuWarmUp::upload(DistributedMatrix& matrix, bool as_read) {
  if (!shares_blocks_ || !gpus_.everywhere) return;
  DeviceBlocks::MakeLocal rest;
  if (early_ && as_read && early_->has_entries())
    rest = [this](const CsrMatrix<double>& csr, Uploader& uploader, StreamRef stream) {
      return early_->finish(csr, uploader, stream);
    };
  collectively(comm_, [&] {
    if (!rest && early_) early_->drop();
    DeviceBlocks::prepare(matrix, std::move(uploader_), rest, entries_for(case_));
  });
}

}  // namespace trireme
