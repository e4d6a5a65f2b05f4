// SPDX-License-Identifier: BSD-3-Clause
#include "api/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "api/caller_matrix.hpp"
#include "base/error.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "planning/choose.hpp"
#include "sparse/orthonormal_columns.hpp"
#include "sparse/rigid_body_modes.hpp"

namespace trireme::api {
namespace {

template <class Choice>
Choice parsed(const std::string& word, const char* option) {
  if (const auto choice = choice_of<Choice>(word)) return *choice;
  std::string known;
  for (const auto& entry : WordsOf<Choice>::all)
    known += (known.empty() ? "" : ", ") + std::string(entry.word);
  fail(ExitCode::usage, "{} cannot be '{}'; use one of: {}", option, word, known);
}

template <class Choice>
std::optional<Choice> parsed_or_auto(const std::string& word, const char* option) {
  if (word == kAuto) return std::nullopt;
  return parsed<Choice>(word, option);
}

multigrid::Options multigrid_options(const SolverOptions& options) {
  const MultigridOptions& asked = options.multigrid;
  multigrid::Options of;
  of.smoother = parsed<Smoother>(asked.smoother, "multigrid.smoother");
  of.cycle = parsed<CycleKind>(asked.cycle, "multigrid.cycle");
  of.degree = asked.degree;
  of.threshold = asked.threshold;
  of.smoothed_prolongator = asked.smoothed_prolongator;
  of.fill = asked.fill;
  of.aggressive_levels = asked.aggressive_levels;
  of.max_levels = asked.max_levels;
  of.coarsest_rows = asked.coarsest_rows;
  of.block_size = options.block_size;
  return of;
}

factors::IluOptions ilu_options(const SolverOptions& asked) {
  factors::IluOptions options{
      .levels = asked.ilu_levels,
      .order = parsed_or_auto<factors::RowOrder>(asked.ilu_order, "ilu_order")};
  if (asked.ilu_levels < 0 || asked.ilu_levels > factors::kMostLevels)
    fail(ExitCode::usage, "ilu_levels is 0 to {}, not {}", factors::kMostLevels, asked.ilu_levels);
  return options;
}

Modes modes_of_bodies(const Ranks& ranks, const std::vector<double>& coordinates,
                      std::int32_t dimensions) {
  const auto nodes = static_cast<std::int64_t>(coordinates.size()) / dimensions;
  std::vector<Array<double>> axes(static_cast<std::size_t>(dimensions));
  std::vector<double> minus_low, high;
  for (std::int32_t d = 0; d < dimensions; ++d) {
    Array<double>& axis = axes[d];
    for (std::int64_t node = 0; node < nodes; ++node)
      axis.push_back(coordinates[node * dimensions + d]);
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double place : axis) {
      least = std::min(least, place);
      most = std::max(most, place);
    }
    minus_low.push_back(-least);
    high.push_back(most);
  }
  ranks.largest(minus_low);
  ranks.largest(high);
  std::vector<double> low;
  for (const double value : minus_low) low.push_back(-value);
  Modes modes = rigid_body_modes(axes, centred(low, high));
  orthonormalise(modes, [&](std::span<double> sums) { ranks.sum(sums); });
  return modes;
}

multigrid::NearNullspace near_nullspace(const Ranks& ranks, const SolverOptions& options,
                                        std::int64_t rows) {
  if (ranks.any(!options.coordinates.empty())) {
    ranks.checked([&] {
      if (options.dimensions != 2 && options.dimensions != 3)
        fail(ExitCode::usage, "coordinates have 2 or 3 dimensions, not {}", options.dimensions);
      if (options.block_size != options.dimensions)
        fail(ExitCode::usage,
             "coordinates of {} dimensions are those of nodes with as many unknowns; block_size is "
             "{}",
             options.dimensions, options.block_size);
      require_size(options.coordinates.size(), rows, "coordinates");
      require_finite(options.coordinates, "coordinates");
    });
    Modes modes = modes_of_bodies(ranks, options.coordinates, options.dimensions);
    return {.values = std::move(modes.values), .width = modes.width};
  }
  const bool given = ranks.any(!options.near_nullspace.empty());
  ranks.checked([&] {
    if (options.modes < 0) fail(ExitCode::usage, "modes cannot be {}", options.modes);
    if (!given) return;
    require_size(options.near_nullspace.size(), rows * options.modes, "near_nullspace");
    require_finite(options.near_nullspace, "near_nullspace");
  });
  if (!given) return {};
  return {.values = {options.near_nullspace.begin(), options.near_nullspace.end()},
          .width = options.modes};
}

// What must be the same on all ranks. An option that is new in the structs does not compile here.
std::string words_of(const MultigridOptions& options) {
  const auto& [cycle, smoother, degree, threshold, smoothed_prolongator, fill, aggressive_levels,
               max_levels, coarsest_rows] = options;
  return fmt::format("{} {} {} {} {} {} {} {} {}", cycle, smoother, degree, threshold,
                     smoothed_prolongator, fill, aggressive_levels, max_levels, coarsest_rows);
}

std::string words_of(const SolverOptions& options) {
  const auto& [method, preconditioner, kernel, precision, device, scaling, block_size, restart,
               chebyshev_degree, ilu_levels, ilu_order, multigrid, coordinates, dimensions,
               near_nullspace, modes, communicator] = options;
  return fmt::format(
      "method {}, preconditioner {}, kernel {}, precision {}, device {}, scaling {}, "
      "block_size {}, restart {}, chebyshev_degree {}, ilu_levels {}, ilu_order {}, dimensions {}, "
      "modes {}, multigrid {}",
      method, preconditioner, kernel, precision, device, scaling, block_size, restart,
      chebyshev_degree, ilu_levels, ilu_order, dimensions, modes, words_of(multigrid));
}

Options checked(const SolverOptions& asked, bool many) {
  Options options{.scaling = parsed_or_auto<Scaling>(asked.scaling, "scaling"),
                  .kernel = asked.kernel,
                  .precision = parsed<Precision>(asked.precision, "precision"),
                  .restart = asked.restart};
  if (asked.method != kAuto) {
    options.method = solvers::method_named(asked.method);
    if (!options.method || options.method->info.block)
      fail(ExitCode::usage, "there is no method '{}'; use one of: {}, {}", asked.method, kAuto,
           fmt::join(methods(), ", "));
  }
  if (asked.preconditioner != kAuto)
    options.preconditioner = preconditioner_of(asked.preconditioner);
  if (asked.kernel != kAuto) find_kernel(asked.kernel);
  if (asked.restart < 1) fail(ExitCode::usage, "restart is at least 1, not {}", asked.restart);
  if (asked.block_size < 1 || asked.block_size > 32)
    fail(ExitCode::usage, "block_size is 1 to 32, not {}", asked.block_size);
  if (many && asked.device != kAuto && asked.device != to_string(Device::cpu))
    fail(ExitCode::usage,
         "device is {}; a solver on several processes works on CPUs, and the program solve or the "
         "plugin for PETSc on GPUs",
         asked.device);
  const int gpu = many ? -1 : gpu_for(asked.device);
  if (gpu >= 0) {
    options.device = Device::cuda;
    options.gpu = gpu;
  }
  return options;
}

}  // namespace

int gpu_for(const std::string& device) {
  constexpr std::string_view numbered = "cuda:";
  int number = 0;
  if (device == kAuto) {
    if (choose_device(cuda_available()) == Device::cpu) return -1;
  } else if (device.starts_with(numbered)) {
    const char* const end = device.data() + device.size();
    const auto [read, error] = std::from_chars(device.data() + numbered.size(), end, number);
    if (error != std::errc() || read != end || number < 0)
      fail(ExitCode::usage, "device cannot be '{}'; number a GPU as in cuda:1", device);
  } else if (parsed<Device>(device, "device") == Device::cpu) {
    return -1;
  }
  if (select_device(number).index != number)
    fail(ExitCode::resource, "there is no GPU {}; the first one is cuda:0", number);
  return number;
}

Options checked(const Ranks& ranks, const SolverOptions& asked) {
  ranks.require_same(words_of(asked));
  Options options;
  ranks.checked([&] { options = checked(asked, ranks.many()); });
  return options;
}

PreconditionerData preconditioner_data(const Ranks& ranks, const SolverOptions& asked,
                                       std::int64_t rows) {
  PreconditionerData data{.block_size = asked.block_size,
                          .chebyshev_degree = asked.chebyshev_degree};
  ranks.checked([&] {
    data.multigrid = multigrid_options(asked);
    data.ilu = ilu_options(asked);
  });
  data.modes = near_nullspace(ranks, asked, rows);
  return data;
}

}  // namespace trireme::api
