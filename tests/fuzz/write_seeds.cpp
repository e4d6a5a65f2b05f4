// SPDX-License-Identifier: BSD-3-Clause
// Writes the inputs from which the fuzzers begin: one folder per harness, with small files, good
// and unusual ones.
//
// usage: fuzz_write_seeds FOLDER
#include <fmt/format.h>
#include <mpi.h>
#include <zlib.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5.hpp"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void write_cases(const fs::path& folder) {
  const std::pair<const char*, const char*> cases[] = {
      {"smallest", "problem: {generate: poisson3d, n: 8}\n"},
      {"every-key",
       "problem: {file: cant.h5, matrix: /M, rhs: /b, x0: /x0, x_exact: /x}\n"
       "solver:\n  method: bicgstab\n  engine: petsc\n  preconditioner: ilu\n  rtol: 1e-10\n"
       "  atol: 1.5\n  max_iterations: 1e4\nkernel: [csr, petsc-aij]\ndevice: cpu\n"
       "precision: [double, mixed]\nrepeat: 3\n"
       "report: {directory: out, formats: [json, csv, html], solution: false}\n"
       "petsc: {ksp: {monitor: null, gmres_restart: 50}, log_view: \":log.txt\", f: [1, 2]}\n"},
      {"generated", "problem: {generate: random, n: 100, k: 7, seed: 3, rhs: random}\n"},
      {"misspelt", "problm: {genrate: poison3d, n: '8'}\nsolver: {rtol: -1}\n"},
      {"aliases",
       "problem: &p {generate: poisson2d, n: 4}\npetsc: {a: &a [1, 2], b: *a, c: &c {d: *a}, e: "
       "*c}\n"},
      {"cycle", "problem: {generate: poisson2d, n: 4}\npetsc: &a {b: *a}\n"},
      {"merge", "a: &a {generate: poisson2d}\nproblem:\n  <<: *a\n  n: 4\n"},
      {"block", "? [a, b]\n: |\n  text\n  text\n--- # two\n- !!int 5\n- \"\\u00e9\\n\"\n...\n"},
      {"directives", "%YAML 1.2\n%TAG ! tag:x,2000:\n---\n!a problem: !!map {n: ~, k: .nan}\n"},
  };
  for (const auto& [name, text] : cases) write(folder / name, text);
}

std::string gzip(const std::string& text, const fs::path& scratch) {
  const gzFile file = gzopen(scratch.c_str(), "wb9");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  std::ifstream in(scratch, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  fs::remove(scratch);
  return bytes;
}

void write_matrix_market(const fs::path& folder) {
  const std::string banner = "%%MatrixMarket matrix ";
  const std::pair<const char*, std::string> files[] = {
      {"general",
       "coordinate real general\n% a comment\n\n 3 4 5 \n3 1 1.5\n1 4 -2e3\n1\t2   "
       "+.5 \r\n3 1 0.25\n1 1 0"},
      {"symmetric", "coordinate real symmetric\n3 3 4\n1 1 2\n2 2 2\n3 3 2\n2 1 -1\n"},
      {"skew", "coordinate real skew-symmetric\n3 3 2\n2 1 3\n3 2 4\n"},
      {"pattern", "coordinate pattern general\n2 3 2\n1 3\n2 1\n"},
      {"integer", "coordinate integer general\n2 2 2\n1 1 7\n2 2 -9\n"},
      {"array", "array real general\n2 3\n1\n2\n0\n4\n5\n6\n"},
      {"array-symmetric", "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"},
      {"array-skew", "array integer skew-symmetric\n3 3\n1\n2\n3\n"},
      {"complex", "coordinate complex hermitian\n1 1 1\n1 1 1 0\n"},
      {"empty", "coordinate real general\n0 5 0"},
      {"large-claim", "coordinate real general\n2147483647 2147483647 1000000000000\n1 1 1\n"},
      {"many-rows", "coordinate real general\n2147483647 2147483647 1\n1 1 1\n"},
      {"wide-array", "array real general\n1 2147483647\n1\n"},
      {"comments",
       "coordinate real general\n" + std::string(3000, '%') + "\n%\n%\n%\n1 1 1\n1 1 1"},
  };
  for (const auto& [name, text] : files) {
    write(folder / name, banner + text);
    write(folder / (std::string(name) + ".gz"), gzip(banner + text, folder / "scratch"));
  }
}

// Collects integers of `width` bytes and doubles, all big-endian.
class BigEndian {
 public:
  explicit BigEndian(int width) : width_(width) {}
  BigEndian& integers(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) word(static_cast<std::uint64_t>(value), width_);
    return *this;
  }
  BigEndian& reals(std::initializer_list<double> values) {
    for (const double value : values) word(std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void word(std::uint64_t value, int width) {
    for (int i = width - 1; i >= 0; --i) bytes_ += static_cast<char>(value >> 8 * i);
  }

  int width_;
  std::string bytes_;
};

void write_petsc_binary(const fs::path& folder) {
  constexpr std::int64_t matrix = 1211216, vector = 1211214;
  for (const int width : {4, 8}) {
    const auto named = [&](const char* name) { return folder / (name + std::to_string(width)); };
    BigEndian system(width);
    system.integers({matrix, 3, 3, 5, 2, 1, 2, 0, 1, 1, 2, 0}).reals({4, -1, 4, 4, 1});
    write(named("matrix"), system.bytes());
    system.integers({vector, 3}).reals({1, 2, 3});
    write(named("system"), system.bytes());
    BigEndian rectangular(width);
    rectangular.integers({matrix, 2, 5, 2, 1, 1, 4, 0}).reals({1e300, -1e-300});
    write(named("rectangular"), rectangular.bytes());
    write(named("empty"), BigEndian(width).integers({matrix, 0, 0, 0}).bytes());
    write(named("dense"), BigEndian(width).integers({matrix, 2, 2, -1}).reals({1, 2}).bytes());
    write(named("claim"),
          BigEndian(width).integers({matrix, 0x7fffffff, 0x7fffffff, 0x7fffffff}).bytes());
  }
}

using trireme::hdf5::Dataset;
using trireme::hdf5::File;
using trireme::hdf5::Group;

template <class T>
void put(Group& group, const std::string& name, const std::vector<T>& values) {
  group.create_dataset<T>(name, {std::ssize(values)}).write(0, std::ssize(values), values.data());
}

Group add_scipy(File& file, const std::string& path, const char* format) {
  Group group = file.create_group(path);
  group.write_attribute("format", format);
  group.write_attribute("shape", std::vector<std::int64_t>{4, 4});
  put<std::int64_t>(group, "indptr", {0, 2, 4, 4, 7});
  put<std::int32_t>(group, "indices", {0, 1, 1, 3, 0, 2, 3});
  put<double>(group, "data", {1, 2, 3, 4, 5, 6, 7});
  return group;
}

// A matrix in jc, ir and data: by rows for PETSc, by columns for MATLAB.
void add_petsc_or_matlab(File& file, const std::string& path, bool matlab) {
  Group group = file.create_group(path);
  group.write_attribute("MATLAB_sparse", std::int64_t{4});
  if (matlab) group.write_attribute("MATLAB_class", "double");
  put<std::int64_t>(group, "jc", {0, 1, 2, 2, 3});
  put<std::int64_t>(group, "ir", {0, 3, 1});
  put<double>(group, "data", {1, 2, 3});
}

// A dataset of 4 x 2 doubles in chunks, deflated and shuffled; never written where `hollow`.
void add_chunked(File& file, const char* path, bool hollow) {
  const hsize_t extents[] = {4, 2}, chunk[] = {2, 2};
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 2, chunk);
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 6);
  H5Pset_fletcher32(creation);
  const hid_t space = H5Screate_simple(2, extents, nullptr);
  const hid_t dataset =
      H5Dcreate2(file.id(), path, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (!hollow) H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(creation);
}

void write_hdf5(const fs::path& folder) {
  const auto with = [&](const char* name, const auto& fill) {
    File file = File::create(folder / name);
    fill(file);
    file.close();
  };
  with("csr", [](File& file) {
    add_scipy(file, "/A", "csr");
    put<double>(file, "b", {1, 2, 3, 4});
  });
  with("csc", [](File& file) { add_scipy(file, "/A", "csc"); });
  with("petsc", [](File& file) { add_petsc_or_matlab(file, "/A", false); });
  with("matlab", [](File& file) { add_petsc_or_matlab(file, "/A", true); });
  with("vectors", [](File& file) {
    add_chunked(file, "/compressed", false);
    add_chunked(file, "/hollow", true);
    Dataset wide = file.create_dataset<double>("wide", {2, 4});
    const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    wide.write(0, 2, values);
    wide.write_attribute("MATLAB_class", "double");
    file.create_dataset<float>("empty", {0});
    file.soft_link("/wide", "/soft");
  });
}

// Recipes of choices in the order in which hdf5_fuzz.cpp takes them: an empty one, which gives a
// good matrix, and some that replace each part once.
void write_hdf5_recipes(const fs::path& folder) {
  for (char layout = 0; layout < 4; ++layout) {
    write(folder / fmt::format("good{}", +layout), std::string(1, layout));
    for (char object = 0; object < 10; ++object)
      for (char kind = 0; kind < 3; ++kind) {
        std::string recipe{layout, kind, object};
        for (int i = 0; i < 24; ++i) recipe += static_cast<char>(7 * i + object + kind);
        write(folder / fmt::format("replace{}-{}-{}", +layout, +kind, +object), recipe);
      }
    // As the indices: seven contiguous integers, one of which is out of range.
    const char indices = layout < 2 ? 1 : 4;
    write(folder / fmt::format("indices{}", +layout),
          std::string{layout, 1, indices, 0, 1, 2, 0, 0, 0, 1, 1, 3, 0, 9, 3});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  const fs::path folder = argv[1];
  const std::pair<const char*, void (*)(const fs::path&)> harnesses[] = {
      {"case", write_cases},
      {"matrix_market", write_matrix_market},
      {"petsc_binary", write_petsc_binary},
      {"hdf5", write_hdf5_recipes},
      {"hdf5_bytes", write_hdf5}};
  for (const auto& [name, write_all] : harnesses) {
    fs::remove_all(folder / name);
    fs::create_directories(folder / name);
    write_all(folder / name);
  }
  MPI_Finalize();
  return 0;
}
