// SPDX-License-Identifier: BSD-3-Clause
// The table of the lines that help with HDF5 files of other programs: each input and its message.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <functional>
#include <string>

#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"

namespace trireme::reader_messages {
namespace {

using test::SharedFile;
using test::SmallMatrix;

using Names = std::vector<const char*>;

// An attribute of `type`.
void put_attribute(hid_t object, const char* name, hid_t type, std::vector<hsize_t> extents,
                   const void* values) {
  const hdf5::Handle space(extents.empty() ? H5Screate(H5S_SCALAR)
                                           : H5Screate_simple(1, extents.data(), nullptr));
  const hdf5::Handle attribute(
      H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  H5Awrite(attribute.get(), type, values);
}

// A dataset of `type` and zeros.
void put_zeros(hid_t group, const char* name, hid_t type, hsize_t count,
               hid_t creation = H5P_DEFAULT) {
  const hdf5::Handle space(H5Screate_simple(1, &count, nullptr));
  const hdf5::Handle dataset(
      H5Dcreate2(group, name, type, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT));
  const std::vector<char> zeros(count * H5Tget_size(type));
  H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data());
}

hdf5::Handle boolean() {
  hdf5::Handle type(H5Tenum_create(H5T_NATIVE_INT8));
  const std::array<signed char, 2> values{0, 1};
  H5Tenum_insert(type.get(), "FALSE", &values[0]);
  H5Tenum_insert(type.get(), "TRUE", &values[1]);
  return type;
}

hdf5::Handle compound(const Names& members, hid_t of = H5T_NATIVE_DOUBLE) {
  hdf5::Handle type(H5Tcreate(H5T_COMPOUND, members.size() * 8));
  for (std::size_t i = 0; i < members.size(); ++i) H5Tinsert(type.get(), members[i], i * 8, of);
  return type;
}

hdf5::Handle text_of(std::size_t length) {
  hdf5::Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), length);
  return type;
}

// Pretends to be the filter lzf of h5py, which exists while the file is written.
class WithLzf {
 public:
  WithLzf() {
    H5Zregister(&lzf_);
    const hsize_t chunk = 7;
    H5Pset_chunk(creation_.get(), 1, &chunk);
    H5Pset_filter(creation_.get(), lzf_.id, H5Z_FLAG_MANDATORY, 0, nullptr);
  }
  ~WithLzf() { H5Zunregister(lzf_.id); }
  hid_t creation() const { return creation_.get(); }

 private:
  H5Z_class2_t lzf_{.version = H5Z_CLASS_T_VERS,
                    .id = 32000,
                    .encoder_present = 1,
                    .decoder_present = 1,
                    .name = "lzf",
                    .can_apply = nullptr,
                    .set_local = nullptr,
                    .filter = [](unsigned, size_t, const unsigned[], size_t bytes, size_t*,
                                 void**) { return bytes; }};
  hdf5::Handle creation_{H5Pcreate(H5P_DATASET_CREATE)};
};

// Replaces the attribute shape of a whole matrix.
void with_shape(hdf5::File& file, const std::function<void(hid_t)>& put_shape) {
  SmallMatrix().write(file);
  const hdf5::Group group = file.group("/A");
  H5Adelete(group.id(), "shape");
  put_shape(group.id());
}

// Replaces the values of a whole matrix.
void with_data(hdf5::File& file, hid_t type, hid_t creation = H5P_DEFAULT) {
  SmallMatrix().write(file);
  const hdf5::Group group = file.group("/A");
  H5Ldelete(group.id(), "data", H5P_DEFAULT);
  put_zeros(group.id(), "data", type, 7, creation);
}

struct Row {
  const char* input;
  std::function<void(hdf5::File&)> write;
  std::vector<std::string> message;  // its parts
};

const Row kTable[] = {
    {"shape as double",
     [](hdf5::File& f) {
       with_shape(f, [](hid_t group) {
         const std::array<double, 2> shape{4, 4};
         put_attribute(group, "shape", H5T_NATIVE_DOUBLE, {2}, shape.data());
       });
     },
     {"/A: the attribute shape holds real numbers; it must hold integers"}},
    {"shape as string",
     [](hdf5::File& f) {
       with_shape(
           f, [](hid_t group) { put_attribute(group, "shape", text_of(6).get(), {}, "(4, 4)"); });
     },
     {"/A: the attribute shape holds strings; it must hold integers"}},
    {"shape of three",
     [](hdf5::File& f) {
       with_shape(f, [](hid_t group) {
         const std::array<std::int64_t, 3> shape{4, 4, 1};
         put_attribute(group, "shape", H5T_NATIVE_INT64, {3}, shape.data());
       });
     },
     {"the attribute shape has 3 numbers; two are needed"}},
    {"block_size as double",
     [](hdf5::File& f) {
       SmallMatrix().write(f);
       const double size = 2;
       put_attribute(f.group("/A").id(), "block_size", H5T_NATIVE_DOUBLE, {}, &size);
     },
     {"the attribute block_size holds real numbers; it must hold integers"}},
    {"shape as dataset, as 10x Genomics writes it",
     [](hdf5::File& f) {
       with_shape(f, [](hid_t) {});
       hdf5::Group group = f.group("/A");
       test::put<std::int64_t>(group, "shape", {4, 4});
     },
     {"/A: shape is a dataset", "10x", "g.attrs[\"shape\"] = g[\"shape\"][:]", "csc"}},
    {"JLD2: a compound for a sparse matrix",
     [](hdf5::File& f) {
       put_zeros(f.id(), "A", compound({"m", "n", "colptr", "rowval", "nzval"}).get(), 1);
     },
     {"/A is a dataset of a compound of m, n, colptr, rowval, nzval", "JLD2", "colptr .- 1"}},
    {"JLD2 under another name",
     [](hdf5::File& f) {
       put_zeros(f.id(), "K", compound({"m", "colptr"}).get(), 1);
     },
     {"no group /A, nor any other", "there are the datasets /K", "indptr, indices and data"}},
    {"a dense matrix",
     [](hdf5::File& f) {
       f.create_dataset<double>("/A", {4, 4});
     },
     {"/A is a dataset of real numbers", "scipy.sparse.csr_matrix"}},
    {"the matrix at the top",
     [](hdf5::File& f) {
       test::put<std::int64_t>(f, "indptr", {0, 1});
     },
     {"no group /A; the file itself has indptr: matrix: /"}},
    {"boolean values",
     [](hdf5::File& f) { with_data(f, boolean().get()); },
     {"/A/data holds booleans; integers or real numbers are needed", "astype(float)"}},
    {"complex values",
     [](hdf5::File& f) {
       with_data(f, compound({"r", "i"}).get());
     },
     {"/A/data holds complex numbers; complex systems are not supported"}},
    {"strings for values",
     [](hdf5::File& f) { with_data(f, text_of(3).get()); },
     {"/A/data holds strings; integers or real numbers are needed"}},
    {"real numbers for columns",
     [](hdf5::File& f) {
       SmallMatrix().write(f);
       const hdf5::Group group = f.group("/A");
       H5Ldelete(group.id(), "indices", H5P_DEFAULT);
       put_zeros(group.id(), "indices", H5T_NATIVE_DOUBLE, 7);
     },
     {"/A/indices holds real numbers; it must hold integers"}},
    {"the filter lzf of h5py",
     [](hdf5::File& f) {
       const WithLzf lzf;
       with_data(f, H5T_NATIVE_DOUBLE, lzf.creation());
     },
     {"/A/data is compressed by the filter lzf (number 32000)", "compression=\"gzip\""}},
    {"a boolean right-hand side",
     [](hdf5::File& f) {
       SmallMatrix().write(f);
       put_zeros(f.id(), "b", boolean().get(), 4);
     },
     {"/b holds booleans; integers or real numbers are needed"}},
};

TEST(ReaderMessages, NameWhatIsThereAndWhatToDo) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.input);
    SharedFile file("foreign.h5");
    file.write(row.write);
    ProblemSpec spec;
    spec.source.emplace<SystemFile>().file = file.path();
    spec.with_modes = true;
    try {
      load_problem(MPI_COMM_WORLD, spec);
      ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_EQ(text.find('\n'), std::string::npos);
      EXPECT_NE(text.find("foreign.h5"), std::string::npos) << text;
      for (const std::string& part : row.message)
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace trireme::reader_messages
