// SPDX-License-Identifier: BSD-3-Clause
// Writes the result file.
#include "io/result.hpp"

#include <fmt/format.h>

#include "io/output_file.hpp"

namespace trireme {

void write_result(MPI_Comm comm, const std::filesystem::path& path, const ResultFile& result) {
  OutputFile file(comm, path);
  file.write_vectors("/x", result.rows, result.x);
  complete_result(file, result);
}

void complete_result(OutputFile& file, const ResultFile& result) {
  for (const auto& [name, value] : result.attributes) file.write_attribute(name, value);
  file.write_list("/residual_history", result.residual_history, "1");
  file.write_list("/kernel_time", result.kernel_time, "us");
  file.commit();
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace trireme
