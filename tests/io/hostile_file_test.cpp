// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files that lead to other files, or claim more than they hold, on any number of ranks.
#include <gtest/gtest.h>

#include <fstream>

#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"
#include "support/limited_memory.hpp"

namespace trireme {
namespace {

using test::LimitedMemory;
using test::SharedFile;
using test::SmallMatrix;

// The message of the refusal of a file with a good matrix /A, to which `spoil` adds a right-hand
// side.
std::string refusal(const ProblemSpec& spec, ExitCode code) {
  try {
    load_problem(MPI_COMM_WORLD, spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

template <class Spoil>
std::string refusal_of(Spoil&& spoil, const std::string& rhs = "/b",
                       ExitCode code = ExitCode::input) {
  SharedFile file("hostile.h5");
  file.write([&](hdf5::File& f) {
    SmallMatrix().write(f, "/good");
    spoil(f, file.path());
    if (!f.has("/A")) f.soft_link("/good", "/A");
  });
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = file.path();
  spec.rhs = parse_right_hand_side(rhs);
  return refusal(spec, code);
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// A file with a right-hand side /b and a matrix /M, beside `path`.
std::string other_file(const std::filesystem::path& path) {
  const std::string other = path.parent_path() / "other.h5";
  hdf5::File file = hdf5::File::create(other);
  SmallMatrix().write(file, "/M");
  test::put<double>(file, "b", {1, 2, 3, 4});
  file.close();
  return other;
}

void link_to(const std::string& file, const char* object, hid_t from, const char* name) {
  ASSERT_GE(H5Lcreate_external(file.c_str(), object, from, name, H5P_DEFAULT, H5P_DEFAULT), 0);
}

TEST(HostileFile, FollowsNoExternalLinkToADataset) {
  const std::string text = refusal_of([](hdf5::File& f, const std::filesystem::path& path) {
    link_to(other_file(path), "/b", f.id(), "b");
  });
  expect_contains(text, "hostile.h5: /b: /b is a link to another file");
}

TEST(HostileFile, FollowsNoExternalLinkThroughGroupsAndSoftLinks) {
  expect_contains(refusal_of([](hdf5::File& f, const std::filesystem::path& path) {
                    hdf5::Group group = f.create_group("/g");
                    link_to(other_file(path), "/", group.id(), "out");
                    f.soft_link("g/out/b", "/soft");
                    f.soft_link("/soft", "/b");
                  }),
                  "g/out is a link to another file");
  expect_contains(refusal_of(
                      [](hdf5::File& f, const std::filesystem::path& path) {
                        link_to(other_file(path), "/", f.id(), "out");
                      },
                      "/out/b"),
                  "/out is a link to another file");
}

TEST(HostileFile, FollowsNoExternalLinkToAMatrix) {
  SharedFile file("hostile.h5");
  file.write([&](hdf5::File& f) { link_to(other_file(file.path()), "/M", f.id(), "A"); });
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = file.path();
  expect_contains(refusal(spec, ExitCode::input), "/A is a link to another file");
}

TEST(HostileFile, EndsOnSoftLinksInACircle) {
  expect_contains(refusal_of([](hdf5::File& f, const std::filesystem::path&) {
                    f.soft_link("/c", "/b");
                    f.soft_link("/b", "/c");
                  }),
                  "soft links lead from one to the next");
}

TEST(HostileFile, FollowsNoUserDefinedLink) {
  const H5L_class_t kind{H5L_LINK_CLASS_T_VERS,
                         static_cast<H5L_type_t>(70),
                         "test",
                         nullptr,
                         nullptr,
                         nullptr,
                         [](const char*, hid_t group, const void*, size_t, hid_t, hid_t) {
                           return H5Oopen(group, "/good/data", H5P_DEFAULT);
                         },
                         nullptr,
                         nullptr};
  ASSERT_GE(H5Lregister(&kind), 0);
  expect_contains(refusal_of([](hdf5::File& f, const std::filesystem::path&) {
                    H5Lcreate_ud(f.id(), "b", static_cast<H5L_type_t>(70), nullptr, 0, H5P_DEFAULT,
                                 H5P_DEFAULT);
                  }),
                  "/b is a link to another file");
}

// A dataset "b" of these extents, with the properties that `set` sets.
template <class Set>
void create(hdf5::File& file, const std::vector<hsize_t>& extents, Set&& set,
            const char* name = "b") {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  set(creation);
  const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  const hid_t dataset =
      H5Dcreate2(file.id(), name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  EXPECT_GE(dataset, 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(creation);
}

TEST(HostileFile, TakesNoDataFromExternalStorage) {
  const std::string text = refusal_of([](hdf5::File& f, const std::filesystem::path& path) {
    const std::string secret = path.parent_path() / "secret";
    std::ofstream(secret) << std::string(32, 'x');
    create(f, {4}, [&](hid_t creation) { H5Pset_external(creation, secret.c_str(), 0, 32); });
  });
  expect_contains(text, "/b keeps its data in another file (external storage)");
}

TEST(HostileFile, TakesNoDataFromAVirtualDataset) {
  SharedFile file("virtual.h5");
  if (rank_of(MPI_COMM_WORLD) == 0) {
    const std::string other = other_file(file.path());
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t created = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hsize_t extent = 4;
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(creation, space, other.c_str(), "b", space);
    const hid_t dataset =
        H5Dcreate2(created, "b", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT_GE(dataset, 0);
    for (const hid_t id : {space, creation, access}) H5Idec_ref(id);
    H5Dclose(dataset);
    H5Fclose(created);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  try {
    hdf5::File::open(file.path()).dataset("/b");
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    expect_contains(error.what(), "/b is a virtual dataset");
  }
}

void compressed(hid_t creation, hsize_t chunk) {
  H5Pset_chunk(creation, 1, &chunk);
  H5Pset_deflate(creation, 9);
}

TEST(HostileFile, RefusesLargeDatasetsThatNobodyWrote) {
  expect_contains(refusal_of([](hdf5::File& f, const std::filesystem::path&) {
                    create(f, {2147483648}, [](hid_t creation) { compressed(creation, 1 << 20); });
                  }),
                  "/b claims 2147483648 entries, but nearly none of them was ever written");
  expect_contains(refusal_of([](hdf5::File& f, const std::filesystem::path&) {
                    create(f, {2147483648}, [](hid_t) {});
                  }),
                  "/b claims 2147483648 entries, but nearly none of them was ever written");
}

TEST(HostileFile, ReadsSmallDatasetsThatNobodyWroteAsTheirFillValue) {
  SharedFile file("fill.h5");
  file.write([&](hdf5::File& f) {
    SmallMatrix().write(f);
    create(f, {4}, [](hid_t creation) {
      const double fill = 2.5;
      H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
    });
  });
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = file.path();
  spec.rhs = Dataset{"/b"};
  const Problem problem = load_problem(MPI_COMM_WORLD, spec);
  for (const double value : problem.rhs.at(0)) EXPECT_EQ(value, 2.5);
}

// A dataset of 72 MB of ones takes less than 200 kB in the file.
TEST(HostileFile, IsNoneThatIsOnlyWellCompressed) {
  constexpr std::int64_t n = 9'000'000;
  SharedFile file("compressed.h5");
  file.write([&](hdf5::File& f) {
    create(f, {n}, [](hid_t creation) { compressed(creation, 1 << 20); });
    const Array<double> ones(n, 1.0);
    const hid_t b = H5Dopen2(f.id(), "b", H5P_DEFAULT);
    H5Dwrite(b, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data());
    H5Dclose(b);
  });
  EXPECT_LT(std::filesystem::file_size(file.path()), 200'000u);
  const hdf5::Dataset b = hdf5::File::open(file.path()).dataset("/b");
  double last = 0;
  b.read(n - 1, 1, &last);
  EXPECT_EQ(last, 1.0);
}

TEST(Memory, IsAskedOfTheSystemBeforeAFileThatClaimsALargeMatrixIsRead) {
  SharedFile file("large.h5");
  file.write([&](hdf5::File& f) {
    hdf5::Group group = f.create_group("/A");
    group.write_attribute("MATLAB_sparse", std::int64_t{2147483647});  // rows
    group.write_attribute("MATLAB_class", "double");
    test::put<std::int64_t>(group, "jc", {0, 1, 2});
    test::put<std::int64_t>(group, "ir", {0, 1});
    test::put<double>(group, "data", {1, 2});
  });
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = file.path();
  const LimitedMemory limit(std::size_t{1} << 30);
  const std::string text = refusal(spec, ExitCode::resource);
  expect_contains(text, "large.h5: /A: at least ");
  expect_contains(text, " are available; ");
}

ProblemSpec generated(const std::string& kind, std::int64_t n) {
  ProblemSpec spec;
  GenerateSpec& generate = spec.source.emplace<GenerateSpec>();
  generate.kind = kind;
  generate.n = n;
  return spec;
}

TEST(Memory, IsAskedOfTheSystemBeforeALargeProblemIsGenerated) {
  const ProblemSpec spec = generated("poisson3d", 1290);
  const LimitedMemory limit(std::size_t{4} << 30);
  const std::string text = refusal(spec, ExitCode::resource);
  expect_contains(text, "poisson3d, n = 1290: at least ");
  expect_contains(text, " are needed on each rank, ");
}

TEST(Memory, IsAskedOfTheSystemForVectorsWithoutRows) {
  SharedFile file("columns.h5");
  file.write([&](hdf5::File& f) {
    SmallMatrix empty{{0}, {}, {}, {0, 0}};
    empty.write(f);
    create(f, {0, hsize_t{1} << 40}, [](hid_t) {});
  });
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = file.path();
  spec.rhs = Dataset{"/b"};
  expect_contains(refusal(spec, ExitCode::resource), "/b: at least ");
}

}  // namespace
}  // namespace trireme
