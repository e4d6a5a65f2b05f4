// SPDX-License-Identifier: BSD-3-Clause
// Any structure that HDF5 can write. The input is a recipe, which begins with a good matrix and
// replaces some of its parts by other datasets, attributes and links.
#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"
#include "fuzz/read_hdf5.hpp"

namespace {

// Takes choices from the input, and the first choice of each kind after its end.
class Recipe {
 public:
  Recipe(const std::uint8_t* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}
  bool ended() const { return at_ == end_; }
  std::size_t below(std::size_t bound) { return ended() ? 0 : *at_++ % bound; }
  template <class T, std::size_t n>
  const T& one_of(const T (&choices)[n]) {
    return choices[below(n)];
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

constexpr const char* objects[] = {"/A/indptr", "/A/indices", "/A/data", "/A/jc", "/A/ir",
                                   "/b",        "/x",         "/A",      "/B",    "/A/b"};
constexpr const char* attributes[] = {"shape",         "format",        "MATLAB_class",
                                      "MATLAB_sparse", "encoding-type", "h5sparse_shape"};
constexpr const char* words[] = {"csr", "csc", "double", "", "csr_matrix", "coo", "a\nb"};
constexpr hsize_t extents[] = {4, 5, 7,  0,          1,          2,
                               3, 8, 16, 2147483647, 2147483648, hsize_t{1} << 40};
constexpr std::int64_t numbers[] = {0, 1, 2,  3,  4,          5,
                                    7, 8, -1, 16, 2147483647, std::int64_t{1} << 62};

hid_t type_of(Recipe& recipe) {
  switch (recipe.below(10)) {
    case 0:
      return H5Tcopy(H5T_NATIVE_INT64);
    case 1:
      return H5Tcopy(H5T_NATIVE_DOUBLE);
    case 2:
      return H5Tcopy(H5T_STD_I32BE);
    case 3:
      return H5Tcopy(H5T_STD_U64LE);
    case 4:
      return H5Tcopy(H5T_IEEE_F32BE);
    case 5:
      return H5Tcopy(H5T_NATIVE_INT8);
    case 6: {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, 5);
      return text;
    }
    case 7: {
      const hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
      H5Tinsert(pair, "r", 0, H5T_NATIVE_DOUBLE);
      H5Tinsert(pair, "i", 8, H5T_NATIVE_DOUBLE);
      return pair;
    }
    case 8:
      return H5Tvlen_create(H5T_NATIVE_INT32);
    default:
      return H5Tcopy(H5T_STD_B16LE);
  }
}

hid_t space_of(Recipe& recipe, std::vector<hsize_t>& sizes) {
  const std::size_t rank = recipe.below(6);
  if (rank == 4) return H5Screate(H5S_NULL);
  if (rank == 5) return H5Screate(H5S_SCALAR);
  for (std::size_t i = 0; i < (rank == 0 ? 1 : rank); ++i) sizes.push_back(recipe.one_of(extents));
  return H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
}

// Writes small integers or doubles of any bits, by the type; nothing for types of other lengths.
void write_some(hid_t dataset, hid_t space, Recipe& recipe) {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count <= 0 || count > 64) return;
  if (recipe.below(4) == 3) {
    std::vector<double> reals(count);
    for (double& value : reals) {
      std::uint64_t bits = 0;
      for (int i = 0; i < 8; ++i) bits = bits << 8 | recipe.below(256);
      std::memcpy(&value, &bits, sizeof value);
    }
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, reals.data());
    return;
  }
  std::vector<std::int64_t> integers(count);
  for (std::int64_t& value : integers) value = recipe.one_of(numbers);
  H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, integers.data());
}

void put_dataset(hid_t file, const char* name, Recipe& recipe) {
  const hid_t type = type_of(recipe);
  std::vector<hsize_t> sizes;
  const hid_t space = space_of(recipe, sizes);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const std::size_t layout = recipe.below(4);
  if (layout >= 2 && !sizes.empty()) {
    std::vector<hsize_t> chunk(sizes.size());
    for (std::size_t i = 0; i < chunk.size(); ++i)
      chunk[i] = std::min<hsize_t>(std::max<hsize_t>(sizes[i], 1), 1 << (2 + 4 * recipe.below(3)));
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (layout == 3) H5Pset_deflate(creation, 1);
  }
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (dataset >= 0) {
    write_some(dataset, space, recipe);
    H5Dclose(dataset);
  }
  H5Pclose(creation);
  H5Sclose(space);
  H5Tclose(type);
}

void put_attribute(hid_t object, const char* name, Recipe& recipe) {
  H5Adelete(object, name);
  std::vector<hsize_t> sizes;
  if (recipe.below(2) == 0) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool fixed = recipe.below(2) == 0;
    H5Tset_size(type, fixed ? 8 : H5T_VARIABLE);
    const hid_t space = recipe.below(8) == 7 ? H5Screate(H5S_NULL) : H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    char text[16] = {};
    const char* word = recipe.one_of(words);
    std::strncpy(text, word, 8);
    if (recipe.below(8) != 7) H5Awrite(attribute, type, fixed ? static_cast<void*>(text) : &word);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return;
  }
  const hsize_t count = recipe.below(4);
  const hid_t space = count == 3 ? H5Screate(H5S_NULL) : H5Screate_simple(1, &count, nullptr);
  const hid_t type = type_of(recipe);
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const std::int64_t values[3] = {recipe.one_of(numbers), recipe.one_of(numbers), 0};
  H5Awrite(attribute, H5T_NATIVE_INT64, values);
  H5Aclose(attribute);
  H5Tclose(type);
  H5Sclose(space);
}

void put_link(hid_t file, const char* name, Recipe& recipe) {
  const char* to = recipe.one_of(objects);
  switch (recipe.below(4)) {
    case 0:
      H5Lcreate_soft(to, file, name, H5P_DEFAULT, H5P_DEFAULT);
      break;
    case 1:
      H5Lcreate_hard(file, to, file, name, H5P_DEFAULT, H5P_DEFAULT);
      break;
    case 2:
      H5Lcreate_external("/proc/self/exe", to, file, name, H5P_DEFAULT, H5P_DEFAULT);
      break;
    default:
      H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
}

template <class T, std::size_t n>
void put(hid_t file, const char* name, hid_t type, const T (&values)[n]) {
  const hsize_t count = n;
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(dataset);
  H5Sclose(space);
}

void put_text_attribute(hid_t object, const char* name, const char* text) {
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, std::strlen(text));
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, text);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

// A good 4 x 4 matrix in the layout of scipy (by rows or columns), of PETSc, or of MATLAB.
void put_good_matrix(hid_t file, std::size_t layout) {
  const bool scipy = layout < 2, by_columns = layout % 2 == 1;
  const std::int64_t pointers[] = {0, 2, 4, 4, 7}, indices[] = {0, 1, 1, 3, 0, 2, 3};
  const double values[] = {1, 2, 3, 4, 5, 6, 7}, b[] = {1, 2, 3, 4};
  const hid_t group = H5Gcreate2(file, "/A", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(file, scipy ? "/A/indptr" : "/A/jc", H5T_NATIVE_INT64, pointers);
  put(file, scipy ? "/A/indices" : "/A/ir", H5T_NATIVE_INT64, indices);
  put(file, "/A/data", H5T_NATIVE_DOUBLE, values);
  put(file, "/b", H5T_NATIVE_DOUBLE, b);
  if (by_columns) put_text_attribute(group, scipy ? "format" : "MATLAB_class", "csc");
  const hsize_t count = scipy ? 2 : 1;
  const std::int64_t shape[] = {4, 4};
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t attribute = H5Acreate2(group, scipy ? "shape" : "MATLAB_sparse", H5T_NATIVE_INT64,
                                     space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT64, shape);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Gclose(group);
}

void follow(Recipe& recipe, const char* path) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  put_good_matrix(file, recipe.below(4));
  while (!recipe.ended()) {
    const std::size_t kind = recipe.below(3);
    const char* name = recipe.one_of(objects);
    if (kind == 0) {
      const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
      if (object < 0) continue;
      put_attribute(object, recipe.one_of(attributes), recipe);
      H5Oclose(object);
      continue;
    }
    H5Ldelete(file, name, H5P_DEFAULT);
    if (kind == 1)
      put_dataset(file, name, recipe);
    else
      put_link(file, name, recipe);
  }
  H5Fclose(file);
  H5Pclose(access);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  MPI_Init(nullptr, nullptr);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  trireme::fuzz::limit_memory(trireme::fuzz::kMaxMemory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto path = trireme::fuzz::as_file(nullptr, 0);
  Recipe recipe(bytes, std::min<std::size_t>(size, 4096));
  follow(recipe, path.c_str());
  trireme::fuzz::read_all_of_hdf5(path);
  return 0;
}
