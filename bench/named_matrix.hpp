// SPDX-License-Identifier: BSD-3-Clause
// The matrices that benchmark programs take on their command lines.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "io/problem.hpp"
#include "sparse/generators.hpp"

namespace trireme {

// The matrix named GENERATOR:N, or the one in a file of any format that `solve` reads.
inline CsrMatrix<double> named_matrix(const std::string& name) {
  if (std::filesystem::exists(name)) {
    ProblemSpec spec;
    spec.source = SystemFile{.file = name, .matrix = "/A", .x0 = {}, .x_exact = {}};
    return load_matrix(MPI_COMM_SELF, spec).slab.local;
  }
  const auto colon = name.find(':');
  if (colon == std::string::npos) fail(ExitCode::usage, "{} is no file and no GENERATOR:N", name);
  GenerateSpec spec;
  spec.kind = name.substr(0, colon);
  spec.n = std::stoll(name.substr(colon + 1));
  return generate(spec, 0, generator_shape(spec).rows).local;
}

}  // namespace trireme
