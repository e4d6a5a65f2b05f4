// SPDX-License-Identifier: BSD-3-Clause
// A SavedRun to HDF5 and back.
#include "app/kept/saved_run.hpp"

#include <system_error>
#include <utility>

#include "io/hdf5.hpp"
#include "io/output_file.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr const char* kVersion = "2";
constexpr std::int64_t kMaxHistory = 1'000'000;

std::string directions_of(std::size_t solve) { return fmt::format("/directions_{}", solve); }
std::string history_of(std::size_t solve) { return fmt::format("/residual_history_{}", solve); }

template <class Of>
std::vector<double> numbers(const SavedRun& run, Of of) {
  std::vector<double> all;
  for (const SavedSolve& solve : run.solves) all.push_back(static_cast<double>(of(solve)));
  return all;
}

std::string or_empty(const std::string& value) { return value.empty() ? "empty" : value; }

std::vector<double> read_numbers(const hdf5::File& file, const std::string& path,
                                 std::int64_t max_count) {
  const hdf5::Dataset dataset = file.dataset(path);
  if (dataset.extents().size() != 1 || dataset.extents()[0] > max_count)
    fail(ExitCode::input, "{} is not a list of at most {} numbers", dataset.name(), max_count);
  std::vector<double> values(static_cast<std::size_t>(dataset.extents()[0]));
  dataset.read(0, dataset.extents()[0], values.data());
  return values;
}

}  // namespace

void SavedRunFile::require(MPI_Comm comm) const {
  collectively(comm, [&] {
    std::error_code error;
    if (rank_of(comm) == 0 && !std::filesystem::exists(path_, error))
      fail(ExitCode::usage,
           "--resume: there is no {}, which a stopped run would have left; solve without --resume",
           path_.string());
  });
}

void SavedRunFile::write(MPI_Comm comm, const RunIdentity& identity, const SavedRun& run,
                         const RowRange& rows, std::span<const Array<double>> x) const {
  collectively(comm, [&] {
    std::error_code error;
    if (rank_of(comm) == 0) std::filesystem::create_directories(path_.parent_path(), error);
    if (error)
      fail(ExitCode::usage, "cannot make the report directory {}: {}", path_.parent_path().string(),
           error.message());
  });
  OutputFile file(comm, path_);
  file.write_attribute("trireme_state", kVersion);
  for (const RunPart& part : identity) file.write_attribute(part.name, part.value);
  const double before[] = {static_cast<double>(run.solves_before)};
  file.write_list("/solves_before", before, "1");
  file.write_list("/converged", numbers(run, [](const auto& s) { return s.converged; }), "1");
  file.write_list("/iterations", numbers(run, [](const auto& s) { return s.stopped.iterations; }),
                  "1");
  file.write_list("/reference", numbers(run, [](const auto& s) { return s.stopped.reference; }),
                  "of ||b||");
  file.write_list("/replacements",
                  numbers(run, [](const auto& s) { return s.stopped.replacements; }), "1");
  file.write_list("/exact_from", numbers(run, [](const auto& s) { return s.stopped.exact_from; }),
                  "1");
  file.write_vectors("/x", rows, x);
  for (std::size_t k = 0; k < run.solves.size(); ++k) {
    const SavedSolve& solve = run.solves[k];
    if (solve.converged) continue;
    if (!solve.stopped.directions.empty())
      file.write_vectors(directions_of(k), rows, solve.stopped.directions);
    file.write_list(history_of(k), solve.history, "1");
  }
  file.commit();
}

SavedRun SavedRunFile::read(MPI_Comm comm, const RunIdentity& identity, const RowRange& rows,
                            std::vector<Array<double>>& x) const {
  require(comm);
  SavedRun run;
  collectively(comm, [&] { run = read_here(identity, rows, x); });
  return run;
}

SavedRun SavedRunFile::read_here(const RunIdentity& identity, const RowRange& rows,
                                 std::vector<Array<double>>& x) const {
  const hdf5::File file = hdf5::File::open(path_);
  if (file.string_attribute("trireme_state") != kVersion)
    fail(ExitCode::usage,
         "--resume: this release of solve cannot go on from {}; solve without --resume",
         path_.string());
  for (const RunPart& part : identity) {
    const std::optional<std::string> was = file.string_attribute(part.name);
    if (was.value_or("") == part.value) continue;
    const std::string how =
        part.printed ? fmt::format("was {} and is {}", was ? or_empty(*was) : "not noted",
                                   or_empty(part.value))
                     : std::string("has changed");
    fail(ExitCode::usage, "--resume: {} belongs to another run: {} {}; solve without --resume",
         path_.string(), part.name, how);
  }
  x = read_vectors(file, "/x", rows);
  const std::int64_t count = std::ssize(x);
  SavedRun run;
  const auto before = read_numbers(file, "/solves_before", 1);
  run.solves_before = before.empty() ? 0 : static_cast<std::int64_t>(before[0]);
  const auto converged = read_numbers(file, "/converged", count);
  const auto iterations = read_numbers(file, "/iterations", count);
  const auto reference = read_numbers(file, "/reference", count);
  const auto replacements = read_numbers(file, "/replacements", count);
  const auto exact_from = read_numbers(file, "/exact_from", count);
  for (const auto* list : {&converged, &iterations, &reference, &replacements, &exact_from})
    if (std::ssize(*list) != count)
      fail(ExitCode::input, "{} is damaged: its lists are of different lengths", path_.string());
  for (std::size_t k = 0; k < x.size(); ++k) {
    SavedSolve& solve = run.solves.emplace_back();
    solve.converged = converged[k] != 0;
    solve.stopped.iterations = static_cast<std::int64_t>(iterations[k]);
    solve.stopped.reference = reference[k];
    solve.stopped.replacements = static_cast<std::int32_t>(replacements[k]);
    solve.stopped.exact_from = static_cast<std::int64_t>(exact_from[k]);
    if (solve.converged) continue;
    if (file.has_dataset(directions_of(k)))
      solve.stopped.directions = read_vectors(file, directions_of(k), rows);
    solve.history = read_numbers(file, history_of(k), kMaxHistory);
  }
  return run;
}

bool SavedRunFile::is_of(MPI_Comm comm, const RunIdentity& identity) const {
  require(comm);
  bool same = true;
  collectively(comm, [&] {
    const hdf5::File file = hdf5::File::open(path_);
    for (const RunPart& part : identity)
      same = same && file.string_attribute(part.name).value_or("") == part.value;
  });
  return same;
}

void SavedRunFile::remove(MPI_Comm comm) const {
  std::error_code ignored;
  if (rank_of(comm) == 0) std::filesystem::remove(path_, ignored);
}

}  // namespace trireme
