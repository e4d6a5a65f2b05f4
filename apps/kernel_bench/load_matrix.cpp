// SPDX-License-Identifier: BSD-3-Clause
// Files are read by io/, which needs MPI; generated matrices need none, as a machine for measuring
// may lack it.
#include "kernel_bench/load_matrix.hpp"

#include <mpi.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "io/problem.hpp"
#include "parallel/quick_mpi_start.hpp"

namespace trireme::bench {
namespace {

class MpiSession {
 public:
  MpiSession() {
    const QuickMpiStart quick;
    MPI_Init(nullptr, nullptr);
  }
  ~MpiSession() { MPI_Finalize(); }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

NamedMatrix read_file(const std::string& file, const std::string& group) {
  const MpiSession mpi;
  ProblemSpec spec;
  spec.source = SystemFile{.file = file, .matrix = group, .x0 = {}, .x_exact = {}};
  return {problem_name(spec), trireme::load_matrix(MPI_COMM_SELF, spec).slab.local};
}

NamedMatrix generate_whole(const GenerateSpec& spec) {
  const GlobalShape shape = generator_shape(spec);
  const std::string k = spec.kind == "random" || spec.kind == "rmat"
                            ? fmt::format(", k = {}", spec.k)
                            : std::string();
  return {fmt::format("generated: {}, n = {}{}, seed {}", spec.kind, spec.n, k, spec.seed),
          generate(spec, 0, shape.rows).local};
}

}  // namespace

NamedMatrix load_matrix(const std::string& source, const std::string& group, GenerateSpec spec) {
  const auto kinds = generator_names();
  const bool is_kind = std::find(kinds.begin(), kinds.end(), source) != kinds.end();
  // A name that is no kind and no file is taken for a missing file where it has a dot or a slash.
  if (!is_kind &&
      (std::filesystem::exists(source) || source.find_first_of("./") != std::string::npos))
    return read_file(source, group);
  spec.kind = source;
  return generate_whole(spec);
}

}  // namespace trireme::bench
