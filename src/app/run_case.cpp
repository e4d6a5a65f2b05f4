// SPDX-License-Identifier: BSD-3-Clause
// Case -> Problem -> for each kernel: operator, solves, measurements -> CaseOutcome.
#include "app/run_case.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/kernel_run.hpp"
#include "app/machine_facts.hpp"
#include "app/memory.hpp"
#include "app/system_scale.hpp"
#include "base/nearest.hpp"
#include "device/device.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "io/fingerprint.hpp"
#include "io/problem.hpp"
#include "io/result.hpp"
#include "parallel/collective.hpp"
#include "petsc/block_size.hpp"
#include "petsc/kernel_for_matrix.hpp"
#include "petsc/ksp_solver.hpp"
#include "petsc/ksp_types.hpp"
#include "petsc/session.hpp"
#include "planning/bandwidth.hpp"
#include "planning/break_even.hpp"
#include "planning/choose.hpp"

namespace trireme {
namespace {

// Below this the matrix fits into caches, where memory bandwidth is no yardstick.
constexpr std::int64_t kSmallestForBandwidth = std::int64_t{64} << 20;

class Stages {
 public:
  Stages(MPI_Comm comm, Progress* progress) : progress_(rank_of(comm) == 0 ? progress : nullptr) {}
  void stage(const std::string& text) const {
    if (progress_) progress_->stage(text);
  }
  void solve_begins(int run, const std::string& kernel) const {
    if (progress_) progress_->solve_begins(run, kernel);
  }
  IterationCallback iterations_of(int run) const {
    if (!progress_) return {};
    return [progress = progress_, run](std::int64_t iteration, double residual) {
      progress->iteration(run, iteration, residual);
    };
  }

 private:
  Progress* progress_;
};

// Where a named kernel runs: as the case says, or on a GPU where there is one and it can.
Device device_of(const std::string& kernel, std::optional<Device> device, const GpusOfRanks& gpus) {
  if (device) return *device;
  if (kernel == kAuto) return choose_device(gpus.everywhere);
  if (kernel == "petsc-aij")
    return petsc_has_cuda() && gpus.everywhere ? Device::cuda : Device::cpu;
  const KernelEntry& entry = find_kernel(kernel);
  return !entry.host<double>() || (entry.cuda<double>() && gpus.everywhere) ? Device::cuda
                                                                            : Device::cpu;
}

// PETSc's own matrix on a GPU: what it needs.
void require_petsc_gpu(const Case& c) {
  if (!petsc_has_cuda())
    fail(ExitCode::resource,
         "kernel 'petsc-aij' on a GPU needs a PETSc with CUDA, and PETSc {} here has none; use "
         "device: cpu, or build one by scripts/build-petsc-cuda",
         petsc_version());
  if (c.solver.engine == Engine::resident)
    fail(ExitCode::usage,
         "kernel 'petsc-aij' on a GPU has no engine: resident; use engine: petsc or device: cpu");
}

// Mixed precision is the resident engine's: another loop would converge to a neighbour of x.
void require_resident_engine(const Case& c) {
  const std::string why = c.solver.engine == Engine::petsc
                              ? "solver.engine is petsc"
                              : why_not_resident(c.solver.method, c.solver.preconditioner);
  if (!why.empty())
    fail(ExitCode::usage, "precision: mixed needs the resident engine: {}; use precision: double",
         why);
}

// Throws Error{resource} where a rank has no GPU for it.
bool has_executor(const Case& c, const KernelChoice& kernel, const GpusOfRanks& gpus) {
  const bool on_cuda = kernel.device == Device::cuda;
  if (kernel.name == "petsc-aij" && on_cuda) require_petsc_gpu(c);
  const bool exists = kernel.name == "petsc-aij"
                          ? kernel.precision == Precision::full && (!on_cuda || gpus.everywhere)
                          : find_kernel(kernel.name).runs_on(kernel.device, kernel.precision);
  if (on_cuda && !gpus.everywhere) {
    const bool also_on_cpu = kernel.name == "petsc-aij" ||
                             find_kernel(kernel.name).runs_on(Device::cpu, kernel.precision);
    if (exists && also_on_cpu) return true;  // what selects the device knows why there is none
    fail(ExitCode::resource, "kernel '{}' needs a GPU, and there is none {}; use {}", kernel.name,
         gpus.lacking.empty() ? "here" : "on " + gpus.lacking,
         also_on_cpu ? "device: cpu" : "a kernel for CPUs, see solve --list-kernels");
  }
  return exists;
}

// The kernels of a case, in the order of the case, each in each precision. auto stays auto until
// the matrix is known. Throws Error{usage} for what has no such executor.
std::vector<KernelChoice> requested_kernels(const Case& c, const GpusOfRanks& gpus) {
  const auto wants = [&](Precision precision) {
    return std::ranges::find(c.precisions, precision) != c.precisions.end();
  };
  if (wants(Precision::mixed)) require_resident_engine(c);
  std::vector<KernelChoice> choices;
  for (const std::string& name : c.kernels)
    for (const Precision precision : c.precisions) {
      const KernelChoice kernel{name, device_of(name, c.device, gpus), precision};
      if (name != kAuto && !has_executor(c, kernel, gpus)) {
        if (precision == Precision::mixed && wants(Precision::full)) continue;
        fail(ExitCode::usage, "kernel '{}' has no {} executor for {}; see solve --list-kernels",
             name, kernel.device == Device::cuda ? "CUDA" : "CPU",
             precision == Precision::mixed ? "mixed precision" : "double");
      }
      choices.push_back(kernel);
    }
  return choices;
}

// Decides auto, and keeps what is named twice once. Collective.
std::vector<KernelChoice> decided(const std::vector<KernelChoice>& requested,
                                  const DistributedMatrix& matrix) {
  std::vector<KernelChoice> kernels;
  for (KernelChoice kernel : requested) {
    if (kernel.name == kAuto)
      kernel.name = choose_kernel_for(matrix, kernel.device, kernel.precision);
    const bool named_before =
        std::any_of(kernels.begin(), kernels.end(), [&](const KernelChoice& other) {
          return other.name == kernel.name && other.device == kernel.device &&
                 other.precision == kernel.precision;
        });
    if (!named_before) kernels.push_back(kernel);
  }
  return kernels;
}

std::string name_of(const KernelChoice& kernel) {
  return kernel.name + (kernel.precision == Precision::mixed ? "-mixed" : "");
}

// This rank's GPU, by its number on the node, where a kernel runs on one. Collective.
void select_gpu(MPI_Comm comm, const std::vector<KernelChoice>& kernels, const GpusOfRanks& gpus,
                MachineFacts* machine) {
  if (std::none_of(kernels.begin(), kernels.end(),
                   [](const KernelChoice& kernel) { return kernel.device == Device::cuda; }))
    return;
  if (!gpus.lacking.empty())
    fail(ExitCode::resource,
         "there is no usable GPU on {}; use device: cpu, or nodes with a GPU and a driver only",
         gpus.lacking);
  const DeviceProperties gpu = select_gpu_of_rank(comm);
  if (machine) machine->gpu = gpu.name;
}

// What was meant by `word`, of the names in a list of PETSc's and one more.
std::string meant(const std::string& word, PetscFunctionList list, const char* one_more) {
  std::vector<std::string> names{one_more};
  const char** registered = nullptr;
  int count = 0;
  petsc_check(PetscFunctionListGet(list, &registered, &count));
  for (int k = 0; k < count && registered[k]; ++k)  // some releases count a null at the end
    names.emplace_back(registered[k]);
  petsc_check(PetscFree(registered));
  const auto near = nearest(word, names);
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

// Method and preconditioner by creating them on an empty system.
void require_known_names(MPI_Comm comm, const SolverSpec& spec) {
  KspHandle ksp;
  petsc_check(KSPCreate(comm, ksp.put()));
  if (KSPSetType(ksp, ksp_type(spec.method).c_str()) != kPetscSuccess)
    fail(ExitCode::usage, "solver.method '{}' is neither cg, bicgstab nor a KSP of this PETSc{}",
         spec.method, meant(spec.method, KSPList, "bicgstab"));
  register_resident_types();
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  if (PCSetType(pc, spec.preconditioner.c_str()) != kPetscSuccess)
    fail(ExitCode::usage,
         "solver.preconditioner '{}' is neither none, jacobi nor a PC of this PETSc{}",
         spec.preconditioner, meant(spec.preconditioner, PCList, "none"));
}

struct Bandwidth {
  double host = 0, gpu = 0;  // GB/s of all ranks together; gpu: 0 where none is used
};

Bandwidth measured_bandwidth(MPI_Comm comm, MachineFacts& machine) {
  const HostBandwidth mine = measure_host_bandwidth();
  double rates[] = {mine.triad, mine.best(), 0};
  if (!machine.gpu.empty()) collectively(comm, [&] { rates[2] = measure_device_bandwidth(); });
  MPI_Allreduce(MPI_IN_PLACE, rates, 3, MPI_DOUBLE, MPI_SUM, comm);
  machine.triad_gbytes_per_s = rates[0];
  return {.host = rates[1], .gpu = rates[2]};
}

void add_break_even(std::vector<RunOutcome>& runs, const std::vector<KernelChoice>& kernels,
                    const std::shared_ptr<DistributedMatrix>& matrix) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    std::optional<KernelCost> baseline;
    for (std::size_t k = 0; k < runs.size(); ++k)
      if (kernels[k].device == device && kernels[k].name == baseline_kernel(device) &&
          kernels[k].precision == Precision::full && runs[k].kernel_us.count > 0)
        baseline = {runs[k].seconds.build + runs[k].seconds.upload, runs[k].kernel_us.median};
    for (std::size_t k = 0; k < runs.size(); ++k) {
      if (kernels[k].device != device || runs[k].kernel_us.count == 0) continue;
      if (!baseline) baseline = measure_baseline(matrix, device);
      runs[k].break_even_products = break_even_products(
          {runs[k].seconds.build + runs[k].seconds.upload, runs[k].kernel_us.median}, *baseline);
    }
  }
}

// What mixed precision gained over double: by the runs of this case, or how to find out.
void compare_precisions(std::vector<RunOutcome>& runs) {
  for (RunOutcome& mixed : runs) {
    if (mixed.precision != Precision::mixed) continue;
    const auto full = std::ranges::find_if(runs, [&](const RunOutcome& run) {
      return run.precision == Precision::full && run.kernel == mixed.kernel &&
             run.device == mixed.device;
    });
    if (full == runs.end())
      mixed.notes.emplace_back("precision: [double, mixed] compares the two");
    else if (full->converged && mixed.converged && mixed.seconds.solve > 0)
      mixed.notes.push_back(fmt::format(
          "{:.2f} times as fast as double: {:.3g} s and {} iterations against {:.3g} s and {}",
          full->seconds.solve / mixed.seconds.solve, mixed.seconds.solve, mixed.iterations,
          full->seconds.solve, full->iterations));
  }
}

// solution.h5, or solution-<label>.h5 where several are compared.
void write_solution(MPI_Comm comm, const Case& c, const KernelRun& run, const RowRange& rows,
                    bool compared) {
  const RunOutcome& o = run.outcome;
  collectively(comm, [&] {
    std::error_code error;
    if (rank_of(comm) == 0) std::filesystem::create_directories(c.report.directory, error);
    if (error)
      fail(ExitCode::usage, "cannot make the report directory {}: {}", c.report.directory.string(),
           error.message());
  });
  const std::string name = compared ? fmt::format("solution-{}.h5", label(o)) : "solution.h5";
  write_result(
      comm, c.report.directory / name,
      {.rows = rows,
       .x = run.solutions,
       .residual_history = o.history,
       .kernel_time = run.product_us,
       .attributes = {{"case", c.text},
                      {"trireme", TRIREME_VERSION},
                      {"petsc", petsc_version()},
                      {"kernel", o.kernel},
                      {"device", std::string(to_string(o.device))},
                      {"precision", std::string(to_string(o.precision))},
                      {"method", o.method},
                      {"preconditioner", o.preconditioner},
                      {"reason", o.reason},
                      {"relative_residual", fmt::format("{:.17g}", o.relative_residual)}}});
}

std::uint64_t sum_over_ranks(MPI_Comm comm, std::uint64_t fingerprint) {
  MPI_Allreduce(MPI_IN_PLACE, &fingerprint, 1, MPI_UINT64_T, MPI_SUM, comm);
  return fingerprint;
}

// What a run must have in common with the one that it goes on from. Collective.
RunIdentity identity_of(MPI_Comm comm, const Case& c, const Problem& problem) {
  const std::int64_t first = problem.matrix.first_row;
  std::uint64_t b = 0;
  for (std::size_t k = 0; k < problem.rhs.size(); ++k)
    b += fingerprint(problem.rhs[k], first, static_cast<std::int64_t>(k));
  const std::uint64_t x0 = problem.x0 ? fingerprint(*problem.x0, first) : 0;
  const auto fingerprints = [&](std::int64_t count, std::uint64_t of_this_rank) {
    return fmt::format("{}, {:016x}", count, sum_over_ranks(comm, of_this_rank));
  };
  std::string petsc;
  for (const auto& [option, value] : c.petsc) petsc += fmt::format("-{} {} ", option, value);
  std::vector<std::string_view> precisions;
  for (const Precision precision : c.precisions) precisions.push_back(to_string(precision));
  return {
      {"the matrix", fingerprints(problem.matrix.global_rows, fingerprint(problem.matrix)), false},
      {"b", fingerprints(std::ssize(problem.rhs), b), false},
      {"x0", fingerprints(problem.x0 ? 1 : 0, x0), false},
      {"solver.method", c.solver.method},
      {"solver.engine", std::string(to_string(c.solver.engine))},
      {"solver.preconditioner", c.solver.preconditioner},
      {"solver.rtol", fmt::format("{}", c.solver.rtol)},
      {"solver.atol", fmt::format("{}", c.solver.atol)},
      {"kernel", fmt::format("{}", fmt::join(c.kernels, ", "))},
      {"precision", fmt::format("{}", fmt::join(precisions, ", "))},
      {"repeat", fmt::format("{}", c.repeat)},
      {"petsc", petsc}};
}

void require_one_kernel(const std::vector<KernelChoice>& kernels) {
  if (kernels.size() > 1)
    fail(ExitCode::usage,
         "--resume goes on with one kernel in one precision, and this case compares {}; name one "
         "by --kernel and --set precision=",
         kernels.size());
}

}  // namespace

std::vector<std::filesystem::path> files_of_run(const Case& c) {
  std::vector<std::filesystem::path> files{c.report.directory / "state.h5"};
  if (!c.report.solution) return files;
  files.push_back(c.report.directory / "solution.h5");
  if (c.kernels.size() * c.precisions.size() == 1) return files;
  const auto add = [&](const std::string& kernel) {
    for (const char* of : {"", "-mixed"})
      files.push_back(c.report.directory / fmt::format("solution-{}{}.h5", kernel, of));
  };
  for (const std::string& kernel : c.kernels) {
    if (kernel != kAuto)
      add(kernel);
    else
      for (const KernelEntry& any : kernel_registry()) add(std::string(any.name));
  }
  return files;
}

void check_case(MPI_Comm comm, const Case& c) {
  const GpusOfRanks gpus = gpus_of_ranks(comm);
  select_gpu(comm, requested_kernels(c, gpus), gpus, nullptr);
  require_known_names(comm, c.solver);
}

CaseOutcome run_case(MPI_Comm comm, const Case& c, Progress* progress, InterruptGuard* interrupts) {
  const std::int64_t resident_before = resident_bytes();
  const Stages stages(comm, progress);
  const GpusOfRanks gpus = gpus_of_ranks(comm);
  const std::vector<KernelChoice> requested = requested_kernels(c, gpus);
  const SavedRunFile state(c.report.directory);
  if (c.report.resume) state.require(comm);
  CaseOutcome outcome;
  outcome.machine = machine_facts(comm);
  select_gpu(comm, requested, gpus, &outcome.machine);
  require_known_names(comm, c.solver);

  stages.stage("reading " + problem_name(c.problem));
  ProblemSpec spec = c.problem;
  spec.rows_together = block_size_option();
  Problem problem = load_problem(comm, spec);
  outcome.problem = {.name = problem.name,
                     .generated = c.problem.generated(),
                     .rows = problem.matrix.global_rows,
                     .cols = problem.matrix.global_cols,
                     .nnz = problem.matrix.global_nnz,
                     .rhs = to_string(c.problem.rhs)};
  const RunIdentity identity = identity_of(comm, c, problem);
  const auto matrix = distribute(comm, std::move(problem.matrix), problem.row_starts);
  const int matrix_exponent = scale_matrix(*matrix);
  const std::vector<KernelChoice> kernels = decided(requested, *matrix);
  if (c.report.resume) require_one_kernel(kernels);
  const RowRange rows{matrix->first_row(), matrix->local_rows(), matrix->global_rows()};
  std::optional<Keeping> keeping;
  if (kernels.size() == 1)
    keeping = {.file = state,
               .identity = identity,
               .rows = rows,
               .interval = c.report.checkpoint,
               .resume = c.report.resume};
  PlainProduct plain(matrix);
  const SolveContext context{.spec = c,
                             .problem = problem,
                             .matrix = matrix,
                             .plain = plain,
                             .keeping = keeping,
                             .matrix_exponent = matrix_exponent,
                             .load_peak_bytes = peak_resident_bytes(),
                             .resident_before = resident_before};

  std::vector<std::string> notes;
  if (!gpus.lacking.empty() && !c.device)
    notes.push_back("no usable GPU on " + gpus.lacking + ": every rank computes on its CPU");
  if (problem.duplicates_summed > 0)
    notes.push_back(fmt::format("{} duplicate entries were added up", problem.duplicates_summed));
  if (ksp_type(c.solver.method) == KSPCG && !plain.looks_symmetric())
    notes.emplace_back("the matrix is not symmetric, which cg needs; bicgstab does not");

  if (matrix_exponent != 0)
    notes.push_back(fmt::format(
        "the solver works on the matrix times 2^{}, where no square leaves the range of double",
        -matrix_exponent));

  if (interrupts) interrupts->begin();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const int number = static_cast<int>(k);
    const std::string name = name_of(kernels[k]);
    if (k > 0 && InterruptGuard::asked_anywhere(comm)) {
      outcome.not_run.push_back(name);
      continue;
    }
    stages.stage("building " + name);
    stages.solve_begins(number, name);
    KernelRun run = run_kernel(context, kernels[k], stages.iterations_of(number));
    if (c.report.solution) write_solution(comm, c, run, rows, kernels.size() > 1);
    run.outcome.notes.insert(run.outcome.notes.begin(), notes.begin(), notes.end());
    outcome.runs.push_back(std::move(run.outcome));
  }
  if (12 * outcome.problem.nnz >= kSmallestForBandwidth) {  // last: its arrays count as peak memory
    stages.stage("measuring memory bandwidth");
    const Bandwidth machine = measured_bandwidth(comm, outcome.machine);
    for (RunOutcome& run : outcome.runs) {
      const double rate = run.device == Device::cpu ? machine.host : machine.gpu;
      if (rate > 0) run.bandwidth_fraction = run.gbytes_per_s / rate;
    }
  }
  add_break_even(outcome.runs, kernels, matrix);
  compare_precisions(outcome.runs);
  for (const std::string& option : PetscSession::unused_options())
    for (RunOutcome& run : outcome.runs)
      run.notes.push_back("PETSc option " + option + " was not used; is it misspelt?");
  return outcome;
}

}  // namespace trireme
