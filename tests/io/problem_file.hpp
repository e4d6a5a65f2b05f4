// SPDX-License-Identifier: BSD-3-Clause
// Small HDF5 problems, which rank 0 writes into a folder of the test.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "parallel/collective.hpp"

namespace trireme::test {

// A path that all ranks share. Rank 0 removes its folder at the end.
class SharedFile {
 public:
  explicit SharedFile(const std::string& name) {
    long id = getpid();
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    folder_ = std::filesystem::temp_directory_path() / ("trireme-io-" + std::to_string(id));
    if (rank_of(MPI_COMM_WORLD) == 0) std::filesystem::create_directories(folder_);
    path_ = folder_ / name;
  }
  ~SharedFile() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (rank_of(MPI_COMM_WORLD) == 0) std::filesystem::remove_all(folder_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

  void write(const std::function<void(hdf5::File&)>& fill) {
    if (rank_of(MPI_COMM_WORLD) == 0) {
      std::filesystem::remove(path_);
      hdf5::File file = hdf5::File::create(path_);
      fill(file);
      file.close();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  std::filesystem::path folder_, path_;
};

template <class T>
void put(hdf5::Group& group, const std::string& name, const std::vector<T>& values) {
  group.create_dataset<T>(name, {std::ssize(values)}).write(0, std::ssize(values), values.data());
}

// The 4 x 4 matrix of the bad-input tests, each of which spoils one part of it.
struct SmallMatrix {
  std::vector<std::int64_t> indptr{0, 2, 4, 4, 7};
  std::vector<std::int64_t> indices{0, 1, 1, 3, 0, 2, 3};
  std::vector<double> data{4, -1, 5, 2, 1, 3, 6};
  std::vector<std::int64_t> shape{4, 4};

  void write(hdf5::File& file, const std::string& path = "/A") const {
    hdf5::Group group = file.create_group(path);
    group.write_attribute("format", "csr");
    group.write_attribute("shape", shape);
    put(group, "indptr", indptr);
    put(group, "indices", indices);
    put(group, "data", data);
  }
};

// 200 on the diagonal; 1 in the rest of the first row and of the first column.
inline SmallMatrix arrow_matrix(std::int64_t rows) {
  SmallMatrix arrow{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < rows; ++column)
      if (row == column || row == 0 || column == 0) {
        arrow.indices.push_back(column);
        arrow.data.push_back(row == column ? 200.0 : 1.0);
      }
    arrow.indptr.push_back(std::ssize(arrow.indices));
  }
  return arrow;
}

}  // namespace trireme::test
