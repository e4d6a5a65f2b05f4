// SPDX-License-Identifier: BSD-3-Clause
// A sum over the arrays that a run is known to hold, checked against the peaks of runs
// (tests/end_to_end/memory_forecast_test.py).
#include "app/figures/memory_forecast.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

#include "app/system/entries_of_case.hpp"
#include "distributed/scaling/on_rank_zero.hpp"
#include "io/require_memory.hpp"
#include "petsc/mat/case_kernels.hpp"
#include "petsc/pc/petsc_preconditioners.hpp"
#include "planning/bandwidth.hpp"
#include "report/words.hpp"
#include "solvers/solver.hpp"

namespace trireme {
namespace {

constexpr double kVector = sizeof(double);  // bytes per row

// Work vectors of the preconditioner, and its diagonal: the most that any of the list takes.
double vectors_of_preconditioner() {
  int most = 0;
  solvers::for_each_preconditioner([&](solvers::PreconditionerKind, auto m) {
    most = std::max(most, decltype(m)::type::work_vectors);
  });
  return most + 1;
}

// Whether no run of the case is in double. `precision: auto` may be.
bool is_mixed(const Case& c) {
  return std::ranges::all_of(c.precisions, [](const auto& p) { return p == Precision::mixed; });
}

// Those that a method which restarts has for its cycle.
double vectors_of_cycle(const Case& c) {
  const auto method = solvers::method_named(c.solver.first_method());
  return method && method->info.restarts
             ? solvers::vectors_of_cycle(static_cast<std::int32_t>(c.solver.restart), is_mixed(c))
             : 0;
}

// Whether the loops of all runs on a GPU have FP32 vectors. What does not get on in FP32 takes the
// memory of FP64 then.
bool has_fp32_loops(const Case& c) {
  const auto method = solvers::method_named(c.solver.first_method());
  const auto* const own = c.solver.first_preconditioner().own();
  return is_mixed(c) && method && !method->info.block && !method->info.host_only && own &&
         solvers::has_fp32_vectors(method->method, method->variant, own->kind,
                                   c.solver.block.value_or(1) > 1);
}

// Work vectors of the loop, with those of the preconditioner and its diagonal.
double work_vectors(const Case& c) {
  const SolverSpec& solver = c.solver;
  constexpr double kOfPetsc = 8;  // PETSc's KSPs differ
  double vectors = kOfPetsc;
  if (const auto method = solvers::method_named(solver.first_method())) {
    vectors = method->vectors + vectors_of_cycle(c);
  } else if (solver.method.ends_with(solvers::info_of(solvers::Method::gmres).name)) {
    vectors = static_cast<double>(solver.restart) + 2;
  }
  return vectors + vectors_of_preconditioner();
}

// Bytes per nonzero of the layout of a kernel that a case names. `auto` may try any.
double layout_bytes(const std::string& kernel, Device device) {
  if (kernel == kAuto) return KernelEntry().host_layout_bytes;
  return find_case_kernel(kernel).layout_bytes_on(device);
}

// Bytes of the kernels of a case on a CPU, beside the matrix itself.
double host_layouts(const Case& c, double nnz) {
  double largest = 0;
  for (const std::string& name : c.kernels)
    largest = std::max(largest, layout_bytes(name, Device::cpu));
  if (c.names_precision(Precision::mixed)) largest += sizeof(float);
  return largest * nnz;
}

// Whether the rows of a generated matrix repeat a few patterns with their values, which the kernel
// sell stores once.
bool rows_repeat(const ProblemSpec& problem) {
  const auto* generated = std::get_if<GenerateSpec>(&problem.source);
  return generated && generated->kind.starts_with("poisson");
}

// Bytes of the kernels of a case on a GPU, beside the matrix itself.
double gpu_layouts(const Case& c, double rows, double nnz) {
  const bool mixed = c.names_precision(Precision::mixed), floats = has_fp32_loops(c);
  constexpr double kPattern = 2;  // bytes per row
  constexpr double kValue = sizeof(float);
  double largest = 0;
  for (const std::string& name : c.kernels) {
    const double of_layout = layout_bytes(name, Device::cuda);
    const auto model = name == kAuto ? std::nullopt : find_case_kernel(name).model_on(Device::cuda);
    const bool by_patterns = model && model->numbers_patterns && rows_repeat(c.problem);
    const auto layout = [&](double bytes_per_nonzero) {
      return by_patterns ? kPattern * rows : bytes_per_nonzero * nnz;
    };
    double bytes = of_layout == 0 ? (mixed ? kValue * nnz : 0) : layout(of_layout);
    if (floats && (name == kAuto || model))  // with row defects
      bytes += kValue * nnz + kValue * rows + (of_layout == 0 ? 0 : layout(of_layout - kValue));
    largest = std::max(largest, bytes);
  }
  return largest;
}

// Vectors that a GPU holds: b and x, those of the loop, and two for the time of a product. Loops
// with FP32 vectors have D^-1 in FP32 too.
double gpu_vectors(const Case& c, double work, double sides, double block) {
  const SolverSpec& solver = c.solver;
  double of_loop = work;
  bool pointwise = false;
  int own_vectors = 0;
  if (const auto* const own = solver.first_preconditioner().own())
    solvers::visit_preconditioner(own->kind, [&](auto m) {
      pointwise = decltype(m)::type::pointwise;
      own_vectors = decltype(m)::type::work_vectors;
    });
  const bool floats = has_fp32_loops(c);
  if (const auto method = solvers::method_named(solver.first_method()); method && pointwise)
    of_loop = (floats ? method->pointwise_vectors_in_fp32 + 0.5 : method->pointwise_vectors) +
              vectors_of_cycle(c) + 1;  // with the diagonal
  else if (method && floats && own_vectors == 0)
    of_loop += method->vectors_in_fp32 - method->vectors;
  return of_loop * block + 2 * sides + 2;
}

// Rows of a dense block: those of the option of the PC or of the matrix. Empty: not known.
std::optional<double> rows_of_block(const Case& c, const solvers::NamedPreconditioner& own) {
  const solvers::PreconditionerParameter parameter = own.parameter();
  const std::string_view option =
      parameter.option.empty() ? "mat_block_size" : parameter.option.substr(1);
  const auto given =
      std::ranges::find(c.petsc, option, [](const auto& pair) { return pair.first; });
  if (given != c.petsc.end()) return std::strtod(given->second.c_str(), nullptr);
  if (parameter.option.empty()) return std::nullopt;
  return parameter.initial;
}

// Preconditioners that no formula foretells are left out.
double preconditioner_bytes(const Case& c, double rows, double nnz,
                            std::vector<std::string>& left_out) {
  if (c.solver.is_direct()) {
    left_out.push_back(fmt::format("the factors of method {}", kDirect));
    return 0;
  }
  if (!c.solver.preconditioner) return 0;
  const AnyPreconditioner& named = *c.solver.preconditioner;
  if (const auto* const own = named.own()) {
    const solvers::PreconditionerMemory& memory = own->info.memory;
    const auto block = memory.per_block_entry > 0 ? rows_of_block(c, *own) : 0.0;
    if (block)
      return (memory.per_row + memory.per_block_entry * *block) * rows + memory.per_nonzero * nnz;
  } else if (const auto* petscs = petsc_preconditioner(named);
             petscs && petscs->bytes_per_nonzero) {
    return *petscs->bytes_per_nonzero * nnz;
  }
  left_out.push_back(fmt::format("preconditioner {}", named.name()));
  return 0;
}

// Copies of the matrix on the host beside it: the scaled one, while columns change their places
// the one that they are taken from, and in a sequence as many for a scaling that is found anew.
double scaled_copies(const Case& c) {
  if (!c.solver.is_scaled()) return 0;
  return (c.solver.scaling == Scaling::matching ? 2 : 1) * (c.problem.steps.empty() ? 1 : 2);
}

// Of rank 0, where it matches the rows and columns of all ranks.
double matching_bytes(const SolverSpec& solver, const MatrixFacts& facts, int ranks) {
  const auto most = static_cast<double>(kMostOnRankZero);
  const auto rows = static_cast<double>(facts.rows);
  if (solver.scaling != Scaling::matching || ranks == 1 || std::max(facts.nnz, rows) > most)
    return 0;
  return bytes_on_rank_zero(rows, facts.nnz);
}

// Of the matrix on a GPU. Where its entries do not fit well, one block of them at a time is there
// while the kernel is built of it, before there are vectors.
double matrix_on_gpu(const Case& c, double rows, double nnz, double vectors, double gpu_free) {
  const bool keeps = gpu_free == 0 || entries_for(c) == Entries::needed ||
                     DeviceBlocks::entries_fit_well(rows, nnz, gpu_free);
  if (keeps) return csr_bytes(rows, nnz);
  constexpr double kEntry = sizeof(std::int32_t) + sizeof(double);
  const double block = std::min<double>(nnz, std::numeric_limits<std::int32_t>::max()) * kEntry;
  return sizeof(std::int32_t) * rows + std::max(0.0, block - vectors);
}

void drop_empty(std::vector<MemoryPart>& parts) {
  std::erase_if(parts, [](const MemoryPart& part) { return part.bytes < 1; });
}

}  // namespace

MemoryForecast forecast_memory(const Case& c, const MatrixFacts& facts, int ranks,
                               double program_bytes, double gpu_free) {
  const double rows = static_cast<double>(facts.rows) / ranks, nnz = facts.nnz / ranks;
  const bool wide = facts.rows > std::numeric_limits<std::int32_t>::max();
  const double matrix = csr_bytes(rows, nnz) + (ranks > 1 ? nnz / 8 : 0);
  // Columns of 64 bits until the rows are split; the columns of a generator, which its rows are
  // made from; the lengths of the rows.
  double making = wide ? 8 * nnz : 0;
  if (c.problem.generated()) making += (wide ? 8 : 4) * nnz + 8 * rows;
  const bool known =
      c.problem.rhs.value_or(MadeRhs::from_ones) == RightHandSide(MadeRhs::from_ones);
  const auto sides = static_cast<double>(c.problem.rhs_count);
  const double work = work_vectors(c);
  const double block = static_cast<double>(std::max<std::int64_t>(1, c.solver.block.value_or(1)));
  constexpr double kOfReports = 3;  // the true residual, and b and x of PETSc
  const bool on_cpu = c.device != Device::cuda;
  const bool loop_on_cpu = on_cpu || c.solver.engine == Engine::petsc;
  const double vectors = sides * (known ? 3 : 2) + kOfReports + (loop_on_cpu ? work * block : 0);

  MemoryForecast forecast;
  const double preconditioner = preconditioner_bytes(c, rows, nnz, forecast.left_out);
  const bool measured = 12 * facts.nnz >= static_cast<double>(std::int64_t{64} << 20);
  forecast.host = {{"program", program_bytes},
                   {"matrix", matrix},
                   {"scaled matrix", scaled_copies(c) * matrix},
                   {"matching, on rank 0", matching_bytes(c.solver, facts, ranks)},
                   {"making rows", making},
                   {"vectors", vectors * kVector * rows}};
  if (on_cpu) {
    forecast.host.push_back({"kernel", host_layouts(c, nnz)});
    forecast.host.push_back({"preconditioner", preconditioner});
  }
  if (measured) forecast.host.push_back({"bandwidth test", 3.0 * kBandwidthArrayBytes});
  const double on_gpu = gpu_vectors(c, work, sides, block) * kVector * rows;
  if (c.device != Device::cpu)
    forecast.gpu = {{"matrix", matrix_on_gpu(c, rows, nnz, on_gpu, gpu_free)},
                    {"scaled matrix", c.solver.is_scaled() ? csr_bytes(rows, nnz) : 0},
                    {"kernel", gpu_layouts(c, rows, nnz)},
                    {"vectors", on_gpu},
                    {"preconditioner", preconditioner}};
  drop_empty(forecast.host);
  drop_empty(forecast.gpu);
  return forecast;
}

double sum_of(const std::vector<MemoryPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const MemoryPart& part) { return sum + part.bytes; });
}

std::string forecast_table(const MemoryForecast& forecast) {
  std::string table = fmt::format("{:<34}{:>12}{}\n", "forecast of the memory per rank", "host",
                                  forecast.gpu.empty() ? "" : "         GPU");
  const auto line = [&](const std::string& name, double host, double gpu) {
    const auto text = [](double bytes) { return bytes < 1 ? "" : words::bytes(bytes); };
    std::string words = fmt::format("  {:<32}{:>12}{:>12}", name, text(host), text(gpu));
    table += words.erase(words.find_last_not_of(' ') + 1) + "\n";
  };
  const auto bytes_of = [](const std::vector<MemoryPart>& parts, const std::string& name) {
    const auto part = std::ranges::find(parts, name, &MemoryPart::name);
    return part == parts.end() ? 0 : part->bytes;
  };
  for (const MemoryPart& part : forecast.host)
    line(part.name, part.bytes, bytes_of(forecast.gpu, part.name));
  for (const MemoryPart& part : forecast.gpu)
    if (bytes_of(forecast.host, part.name) == 0) line(part.name, 0, part.bytes);
  line("in all", sum_of(forecast.host), sum_of(forecast.gpu));
  if (!forecast.left_out.empty())
    table += fmt::format("  without {}\n", fmt::join(forecast.left_out, ", "));
  return table;
}

}  // namespace trireme
