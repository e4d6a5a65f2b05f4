// SPDX-License-Identifier: BSD-3-Clause
// The figures of report.json as a whole: the problem, the machine, the start and the pattern.
#include "report/figures.hpp"

namespace trireme::json {
namespace {

// What "problem" and "versions" of report.json are made of.
struct ProblemPart {
  const CaseOutcome& outcome;
};
struct VersionsPart {
  const MachineDescription& machine;
};

// The place of a member of the problem.
template <class T>
auto of_problem(T ProblemDescription::*member) {
  return [member](const ProblemPart& p) { return p.outcome.problem.*member; };
}

// The place of a text of the outcome; an empty one is unknown.
auto hash(std::string CaseOutcome::*member) {
  return [member](const ProblemPart& p) { return known(member)(p.outcome); };
}

auto version(std::string MachineDescription::*member) {
  return [member](const VersionsPart& v) { return v.machine.*member; };
}

auto built(std::string MachineDescription::*member) {
  return [member](const VersionsPart& v) { return known(member)(v.machine); };
}

std::optional<PatternPicture> gathered(const CaseOutcome& outcome) {
  return outcome.pattern.cells == 0 ? std::nullopt : std::optional(outcome.pattern);
}

}  // namespace

template <>
const Figures<ProblemPart>& figures() {
  const Json of_hash = {{"pattern", "^[0-9a-f]{16}$"}};
  static const Figures<ProblemPart> table = {
      {"name", "", "file and group, `cant.h5:/A`, or the generator and its size",
       of_problem(&ProblemDescription::name)},
      {"generated", "", "whether a generator made it", of_problem(&ProblemDescription::generated)},
      {"rows", "1", "of the whole matrix", of_problem(&ProblemDescription::rows)},
      {"cols", "1", "of the whole matrix", of_problem(&ProblemDescription::cols)},
      {"nnz", "1", "stored entries of the whole matrix, after duplicates were added up",
       of_problem(&ProblemDescription::nnz)},
      {"rhs", "",
       "where b comes from: a dataset such as `/b`, the name of a file, or what was made "
       "(`from-ones`, ...); `from the steps` where step 0 of a sequence brings it",
       of_problem(&ProblemDescription::rhs)},
      {"x0", "", "the dataset or the file of the initial guess; null: zero",
       [](const ProblemPart& p) { return known(&ProblemDescription::x0)(p.outcome.problem); }},
      {"looks", "",
       "what a look at the matrix has told, in words: symmetry, signs of the diagonal, sizes of "
       "rows "
       "and columns; null: the run did not need one",
       [](const ProblemPart& p) { return known(&ProblemDescription::looks)(p.outcome.problem); }},
      {"pattern_hash", "",
       "16 hexadecimal digits of the numbers of rows and columns and of the places of all "
       "nonzeros; null: not computed",
       hash(&CaseOutcome::pattern_hash), of_hash},
      {"values_hash", "", "the same of the values", hash(&CaseOutcome::values_hash), of_hash}};
  return table;
}

template <>
const Figures<NodeDescription>& figures() {
  static const Figures<NodeDescription> table = {{"host", "", "its name", &NodeDescription::host},
                                                 {"ranks",
                                                  "",
                                                  "the numbers of the ranks that ran there",
                                                  &NodeDescription::ranks,
                                                  {{"minItems", 1}}}};
  return table;
}

template <>
const Figures<VersionsPart>& figures() {
  static const Figures<VersionsPart> table = {
      {"trireme", "", "of Trireme", version(&MachineDescription::trireme)},
      {"petsc", "", "of PETSc", version(&MachineDescription::petsc)},
      {"hdf5", "", "of HDF5", version(&MachineDescription::hdf5)},
      {"mpi", "", "of MPI", version(&MachineDescription::mpi)},
      {"commit", "",
       "of the sources of Trireme, with `-dirty` after it where they had other changes; null: they "
       "were no checkout",
       built(&MachineDescription::commit)},
      {"compiler", "", "of C++; null: not known", built(&MachineDescription::compiler)},
      {"cuda", "", "of the compiler of CUDA; null: built without",
       built(&MachineDescription::cuda)},
      {"driver", "", "of the NVIDIA GPUs of rank 0's machine; null: there is none",
       built(&MachineDescription::driver)}};
  return table;
}

template <>
const Figures<MachineDescription>& figures() {
  static const Figures<MachineDescription> table = {
      {"host", "", "name of rank 0's machine", &MachineDescription::host},
      {"nodes",
       "",
       "one object per machine, in the order of their lowest ranks",
       &MachineDescription::nodes,
       {{"minItems", 1}}},
      {"cpu", "", "model name", &MachineDescription::cpu},
      {"gpu", "", "model name; empty: no GPU was used", &MachineDescription::gpu},
      {"simd", "", "the instruction set that Highway chose at run time", &MachineDescription::simd},
      {"ranks", "1", "processes", &MachineDescription::ranks, at_least_one()},
      {"threads_per_rank", "1", "OpenMP threads of each process",
       &MachineDescription::threads_per_rank, at_least_one()},
      {"triad_gbytes_per_s", "GB/s",
       "memory bandwidth of all ranks together (a[i] = b[i] + s c[i]), measured by this run; 0: "
       "not measured",
       &MachineDescription::triad_gbytes_per_s},
      {"best_gbytes_per_s", "GB/s",
       "bandwidth of all ranks' CPUs together: the best of copy, triad and read; 0: not measured",
       &MachineDescription::best_gbytes_per_s},
      {"gpu_gbytes_per_s", "GB/s",
       "bandwidth of copies in the memory of all GPUs together; 0: not measured",
       &MachineDescription::gpu_gbytes_per_s},
      {"in_cache_gbytes_per_s", "GB/s",
       "bandwidth of all ranks' CPUs together over arrays that are as large as the matrix: the "
       "best of copy, triad and read; 0: not measured, because the matrix exceeds caches",
       &MachineDescription::in_cache_gbytes_per_s},
      {"gpu_in_cache_gbytes_per_s", "GB/s",
       "bandwidth of all GPUs together over arrays that are as large as the matrix: the better one "
       "of copy and read; 0: not measured, because the matrix exceeds caches or no GPU was used",
       &MachineDescription::gpu_in_cache_gbytes_per_s},
      {"versions", "", "of what ran", [](const MachineDescription& m) { return VersionsPart{m}; }}};
  return table;
}

template <>
const Figures<StartSeconds>& figures() {
  static const Figures<StartSeconds> table = {
      {"libraries", "s", "before `main()`, MPI and PETSc", &StartSeconds::libraries},
      {"device", "s", "choosing and opening the GPU, as far as the program waited for it",
       &StartSeconds::device},
      {"read", "s",
       "file to memory, or generating the problem; entries may go up to the GPU meanwhile",
       &StartSeconds::read},
      {"check", "s",
       "rules of the file format, as far as they took time of their own; whether the matrix looks "
       "symmetric",
       &StartSeconds::check},
      {"split", "s", "local and ghost columns, the halo, the hashes", &StartSeconds::split},
      {"upload", "s", "as in `seconds` of a run, of what was not uploaded while the file was read",
       &StartSeconds::upload},
      {"build", "s", "as in `seconds` of a run, before the first iteration", &StartSeconds::build},
      {"tune", "s", "as in `seconds` of a run, before the first iteration", &StartSeconds::tune},
      {"setup", "s", "as in `seconds` of a run, before the first iteration", &StartSeconds::setup},
      {"total", "s", "all of it; what no part names is the difference", &StartSeconds::total}};
  return table;
}

template <>
const Figures<RefusedRun>& figures() {
  static const Figures<RefusedRun> table = {
      {"kernel", "", "the name of the run", &RefusedRun::kernel, not_empty()},
      {"reason", "", "one line: what, where, what to do", &RefusedRun::reason}};
  return table;
}

template <>
const Figures<PatternPicture>& figures() {
  static const Figures<PatternPicture> table = {
      {"cells", "1", "cells per side of the picture, at most 64", &PatternPicture::cells,
       at_least_one()},
      {"density", "1", "nonzeros of each cell, row by row", &PatternPicture::density},
      {"row_lengths", "1",
       "rows by their number of nonzeros: `[0]` empty rows, `[k]` rows of 2^(k-1) to 2^k - 1 "
       "nonzeros",
       &PatternPicture::row_lengths}};
  return table;
}

template <>
const Figures<CaseOutcome>& figures() {
  static const Figures<CaseOutcome> table = {
      {"schema",
       "",
       "the number of this schema",
       [](const CaseOutcome&) { return kSchema; },
       {{"const", kSchema}}},
      {"date", "", "when the run began, in UTC: `2026-11-28T01:25:03Z`; null: not known",
       known(&CaseOutcome::date)},
      {"problem", "", "the system",
       [](const CaseOutcome& outcome) { return ProblemPart{outcome}; }},
      {"machine", "", "where it ran", &CaseOutcome::machine},
      {"start_seconds", "s",
       "from the start of the process to the first iteration of the first run, on rank 0",
       &CaseOutcome::start},
      {"distribution", "", "how the rows lie on the ranks; null: there is one rank",
       &CaseOutcome::distribution},
      {"runs", "", "one object per kernel and precision, in the order in which they ran",
       &CaseOutcome::runs},
      {"refused", "",
       "kernels that refused the matrix or lacked memory, while other kernels of the case ran",
       &CaseOutcome::refused},
      {"not_run", "", "names of the kernels that did not run, because a signal came before them",
       &CaseOutcome::not_run},
      {"account", "", "what each kernel costs over a number of products",
       [](const CaseOutcome& outcome) { return AccountPart(outcome); }},
      {"pattern", "", "a picture of the matrix; null: not gathered", gathered},
      {"case", "", "the case as read, and what replaced keys of it", &CaseOutcome::case_text},
      {"command", "", "the command that repeats the run", &CaseOutcome::command}};
  return table;
}

}  // namespace trireme::json
