// SPDX-License-Identifier: BSD-3-Clause
// The matrix that kernel_bench multiplies: generated, or read from a file.
#pragma once

#include <string>

#include "sparse/csr.hpp"
#include "sparse/generators.hpp"

namespace trireme::bench {

struct NamedMatrix {
  std::string name;
  CsrMatrix<double> matrix;
};

// `source` is a kind of sparse/generators.hpp, whose size `spec` gives, or a file of any format of
// io/formats.hpp. `group` names the matrix in an HDF5 file.
NamedMatrix load_matrix(const std::string& source, const std::string& group, GenerateSpec spec);

}  // namespace trireme::bench
