// SPDX-License-Identifier: BSD-3-Clause
// Data that all threads read from the file itself: the same numbers and the same faults as from
// HDF5's reader, on any number of ranks.
#include "io/contiguous_data.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using hdf5::ContiguousData;
using test::SharedFile;

constexpr std::int64_t kNumbers = 400'003;  // several pieces, the last one shorter

enum class Layout { contiguous, chunked, compressed };

// A dataset of native numbers of type T, stored as `file_type` in the layout.
template <class T>
void put(hid_t place, const char* name, const std::vector<T>& values, hid_t file_type,
         Layout layout) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t extent = values.size();
  const hsize_t chunk = 30'000;
  if (layout != Layout::contiguous) H5Pset_chunk(creation, 1, &chunk);
  if (layout == Layout::compressed) H5Pset_deflate(creation, 1);
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t dataset =
      H5Dcreate2(place, name, file_type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  ASSERT_GE(H5Dwrite(dataset, hdf5::memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
            0);
  for (const hid_t id : {space, creation}) H5Idec_ref(id);
  H5Dclose(dataset);
}

// Numbers of both signs; as integers some of them need more than 32 bits where T has them.
template <class T>
std::vector<T> numbers() {
  std::vector<T> values(kNumbers);
  for (std::int64_t i = 0; i < kNumbers; ++i)
    values[i] = static_cast<T>((i % 2 ? -1 : 1) * (sizeof(T) == 8 ? 20'011 * i : 4'099 * i));
  return values;
}

bool read_directly(const hdf5::Dataset& dataset) {
  return ContiguousData::of(dataset.id()).has_value();
}

// Reads parts of the dataset as T; the bounds of the parts are no bounds of pieces.
template <class T, class Stored>
void expect_parts(const hdf5::Dataset& dataset, const std::vector<Stored>& stored) {
  const auto expected = [&](std::int64_t i) {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(Stored))
      return std::clamp<Stored>(stored[i], std::numeric_limits<T>::min(),
                                std::numeric_limits<T>::max());
    else
      return stored[i];
  };
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, kNumbers},
                                     {1, 5},
                                     {131'071, 140'000},
                                     {kNumbers - 1, 1},
                                     {kNumbers, 0}}) {
    std::vector<T> got(count, T{77});
    std::vector<int> seen(count, 0);
    dataset.read(first, count, got.data(), [&](std::int64_t at, std::span<const T> part) {
      for (std::size_t i = 0; i < part.size(); ++i) ++seen[at + i];
    });
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i)
      wrong += got[i] != static_cast<T>(expected(first + i)) || seen[i] != 1;
    EXPECT_EQ(wrong, 0) << count << " numbers from " << first;
  }
}

template <class Stored, class... Read>
void expect_every_layout(hid_t native, hid_t swapped) {
  const std::vector<Stored> stored = numbers<Stored>();
  SharedFile shared("layouts.h5");
  shared.write([&](hdf5::File& f) {
    put(f.id(), "contiguous", stored, native, Layout::contiguous);
    put(f.id(), "swapped", stored, swapped, Layout::contiguous);
    put(f.id(), "chunked", stored, native, Layout::chunked);
    put(f.id(), "compressed", stored, native, Layout::compressed);
  });
  const hdf5::File file = hdf5::File::open(shared.path());
  for (const char* name : {"contiguous", "swapped", "chunked", "compressed"}) {
    SCOPED_TRACE(name);
    const hdf5::Dataset dataset = file.dataset(name);
    EXPECT_EQ(read_directly(dataset), std::string(name) == "contiguous");
    (expect_parts<Read>(dataset, stored), ...);
  }
}

TEST(ContiguousData, HasTheNumbersThatHdf5Reads) {
  expect_every_layout<std::int32_t, std::int32_t, std::int64_t>(H5T_STD_I32LE, H5T_STD_I32BE);
  expect_every_layout<std::int64_t, std::int32_t, std::int64_t>(H5T_STD_I64LE, H5T_STD_I64BE);
  expect_every_layout<float, float, double>(H5T_IEEE_F32LE, H5T_IEEE_F32BE);
  expect_every_layout<double, double>(H5T_IEEE_F64LE, H5T_IEEE_F64BE);
}

TEST(ContiguousData, LiesBehindAUserBlock) {
  SharedFile shared("user-block.h5");
  const std::vector<double> stored = numbers<double>();
  if (rank_of(MPI_COMM_WORLD) == 0) {
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, 512);
    const hid_t file = H5Fcreate(shared.path().c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    put(file, "b", stored, H5T_IEEE_F64LE, Layout::contiguous);
    H5Pclose(creation);
    H5Fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const hdf5::Dataset b = hdf5::File::open(shared.path()).dataset("b");
  EXPECT_TRUE(read_directly(b));
  expect_parts<double>(b, stored);
}

TEST(ContiguousData, IsNoneInAFileThatThisProcessWrites) {
  SharedFile shared("written.h5");
  shared.write([&](hdf5::File& f) {
    put(f.id(), "b", numbers<double>(), H5T_IEEE_F64LE, Layout::contiguous);
    EXPECT_FALSE(read_directly(f.dataset("b")));
  });
}

TEST(ContiguousData, GivesAnErrorWhereTheFileIsShortenedWhileItIsRead) {
  SharedFile shared("short.h5");
  shared.write([&](hdf5::File& f) {
    put(f.id(), "b", numbers<double>(), H5T_IEEE_F64LE, Layout::contiguous);
  });
  const hdf5::Dataset b = hdf5::File::open(shared.path()).dataset("b");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of(MPI_COMM_WORLD) == 0) std::filesystem::resize_file(shared.path(), 2'000'000);
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<double> got(kNumbers);
  try {
    b.read(0, kNumbers, got.data());
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(std::string(error.what()).find("short.h5: /b: cannot read data: the file ends"),
              std::string::npos)
        << error.what();
  }
}

// A diagonal matrix, whose arrays are several pieces long.
struct LongMatrix {
  std::vector<std::int64_t> indptr = std::vector<std::int64_t>(kNumbers + 1);
  std::vector<std::int64_t> indices = std::vector<std::int64_t>(kNumbers);
  std::vector<double> data = numbers<double>();

  LongMatrix() {
    std::iota(indptr.begin(), indptr.end(), 0);
    std::iota(indices.begin(), indices.end(), 0);
  }
  void write(hdf5::File& file, Layout layout) const {
    hdf5::Group group = file.create_group("/A");
    group.write_attribute("format", "csr");
    group.write_attribute("shape", std::vector<std::int64_t>{kNumbers, kNumbers});
    put(group.id(), "indptr", indptr, H5T_STD_I64LE, layout);
    put(group.id(), "indices", indices, H5T_STD_I64LE, layout);
    put(group.id(), "data", data, H5T_IEEE_F64LE, layout);
  }
};

std::string refusal_of(const LongMatrix& matrix, Layout layout) {
  SharedFile shared("long.h5");
  shared.write([&](hdf5::File& f) { matrix.write(f, layout); });
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = shared.path();
  try {
    load_matrix(MPI_COMM_WORLD, spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

// Both readers give the message, which ends with `fault`.
void expect_fault(const LongMatrix& matrix, const std::string& fault) {
  const std::string direct = refusal_of(matrix, Layout::contiguous);
  EXPECT_EQ(direct, refusal_of(matrix, Layout::chunked));
  EXPECT_NE(direct.find("long.h5: /A/" + fault), std::string::npos) << direct;
}

TEST(ContiguousData, HasItsFirstFaultNamed) {
  LongMatrix values;
  values.data[399'999] = std::numeric_limits<double>::infinity();
  values.data[390'001] = values.data[390'002] = std::numeric_limits<double>::quiet_NaN();
  expect_fault(values, "data[390001] = nan in row 390001, column 390001; values must be finite");

  LongMatrix columns;
  columns.indices[140'000] = -1;
  columns.indices[131'073] = std::int64_t{1} << 40;
  expect_fault(columns, "indices[131073] = 1099511627776 is out of range");

  for (const std::int64_t at : {131'072, 262'143, 262'145}) {  // about the bounds of pieces
    LongMatrix pointers;
    pointers.indptr[at] = at - 2;
    expect_fault(pointers, fmt::format("indptr[{}] = {} comes after {}", at, at - 2, at - 1));
  }
  LongMatrix last;
  last.indptr.back() = kNumbers - 1;
  expect_fault(last, "indptr[400003] = 400002, but there are 400003 nonzeros");
  LongMatrix first;
  first.indptr.front() = 1;
  expect_fault(first, "indptr[0] = 1; pointers must start at 0");
}

}  // namespace
}  // namespace trireme
