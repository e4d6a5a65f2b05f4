// SPDX-License-Identifier: BSD-3-Clause
// A vector that the file decided about names in its errors the key that leaves it aside.
#include "io/right_hand_side.hpp"

#include <fmt/format.h>

#include "io/formats.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// Collective.
bool has(MPI_Comm comm, const SystemSource& source, const std::string& name) {
  bool has = false;
  collectively(comm, [&] { has = source.has_vectors(name); });
  return has;
}

// Where step 0 of a sequence brings a right-hand side, no step solves that of the problem.
bool steps_bring_b(const ProblemSpec& spec) {
  return !spec.steps.empty() && spec.steps.front().rhs.has_value();
}

bool has_names(const std::filesystem::path& file) {
  const InputFormat* format = find_format(file);
  return format && format->content == Content::named_objects;
}

// "b.mtx", "other.h5:/c".
std::string name_of(const VectorFile& vectors) {
  return vectors.file.filename().string() + (has_names(vectors.file) ? ":" + vectors.name : "");
}

// The file of its own that holds the initial guess; null where the guess is a dataset or absent.
const VectorFile* file_of_x0(const SystemFile& system) {
  return system.x0 ? std::get_if<VectorFile>(&*system.x0) : nullptr;
}

// Calls `read`, whose errors end with `advice`. Collective.
template <class Read>
auto with_advice(MPI_Comm comm, const std::string& advice, Read read) {
  try {
    return read();
  } catch (const AgreedError& error) {
    collectively(comm, [&] { fail(error.code(), "{}; {}", error.what(), advice); });
    throw;
  }
}

}  // namespace

ChosenVectors choose_vectors(MPI_Comm comm, const SystemSource& source, const ProblemSpec& spec) {
  ChosenVectors chosen;
  const auto* system = std::get_if<SystemFile>(&spec.source);
  const bool has_b = system && has(comm, source, kUsualB);
  const bool automatic = !spec.rhs;
  if (spec.rhs)
    chosen.rhs = *spec.rhs;
  else if (has_b && !steps_bring_b(spec))
    chosen.rhs = Dataset{kUsualB};
  chosen.b = to_string(chosen.rhs);
  if (const auto* dataset = std::get_if<Dataset>(&chosen.rhs)) {
    chosen.b = source.origin_of(dataset->name);
    chosen.b_note = chosen.b == dataset->name ? "of the file" : "beside the file";
  } else if (const auto* vectors = std::get_if<VectorFile>(&chosen.rhs)) {
    chosen.b = name_of(*vectors);
  } else if (automatic && steps_bring_b(spec)) {
    chosen.b = "from the steps";
  } else if (system) {
    chosen.b_note = has_b ? source.origin_of(kUsualB) + " is left aside" : "the file has no /b";
  }
  if (!system) return chosen;
  if (const VectorFile* own = file_of_x0(*system)) {
    chosen.x0 = name_of(*own);
  } else if (system->x0) {
    const std::string& name = std::get<Dataset>(*system->x0).name;
    if (name != kNoDataset) chosen.x0 = name;
  } else if (has(comm, source, kUsualX0)) {
    chosen.x0 = kUsualX0;
  }
  return chosen;
}

std::vector<Array<double>> read_right_hand_sides(MPI_Comm comm, SystemSource& source,
                                                 const ProblemSpec& spec,
                                                 const ChosenVectors& chosen,
                                                 const RowRange& rows) {
  if (const auto* vectors = std::get_if<VectorFile>(&chosen.rhs))
    return open_vectors(comm, vectors->file)->read_vectors(vectors->name, rows);
  const std::string& name = std::get<Dataset>(chosen.rhs).name;
  if (spec.rhs) return source.read_vectors(name, rows);
  return with_advice(comm, "problem.rhs: from-ones leaves it aside",
                     [&] { return source.read_vectors(name, rows); });
}

Array<double> read_initial_guess(MPI_Comm comm, SystemSource& source, const ProblemSpec& spec,
                                 const ChosenVectors& chosen, const RowRange& rows) {
  const auto& system = std::get<SystemFile>(spec.source);
  const VectorFile* own = file_of_x0(system);
  const auto read = [&] {
    std::vector<Array<double>> x0 =
        own ? open_vectors(comm, own->file)
                  ->read_vectors(has_names(own->file) ? own->name : kUsualB, rows)
            : source.read_vectors(chosen.x0, rows);
    collectively(comm, [&] {
      if (x0.size() != 1)
        fail(ExitCode::input, "{} of {} holds {} vectors; an initial guess is one vector",
             chosen.x0, (own ? own->file : system.file).filename().string(), x0.size());
    });
    return std::move(x0.front());
  };
  if (system.x0) return read();
  return with_advice(comm, "problem.x0: none leaves it aside", read);
}

}  // namespace trireme
