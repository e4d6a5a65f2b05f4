// SPDX-License-Identifier: BSD-3-Clause
// Every input format of the list reads the same system, on any number of ranks. A format is tested
// once it is in the list and write_samples.py writes the system in it.
#include "io/formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "io/fingerprint.hpp"
#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "io/scatter.hpp"
#include "parallel/collective.hpp"
#include "sparse/generators.hpp"
#include "sparse/partition.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;
using test::SharedFile;

const fs::path samples = TRIREME_FORMAT_SAMPLES;

// The matrix that every sample holds, and the right-hand side of those that hold one.
const CsrMatrix<double>& expected_matrix() {
  static const CsrMatrix<double> matrix{.rows = 6,
                                        .cols = 6,
                                        .row_ptr = {0, 2, 5, 5, 6, 9, 11},
                                        .col_idx = {0, 1, 0, 1, 5, 3, 0, 2, 4, 1, 5},
                                        .values = {4, -1, -1, 4, .5, 2.25, 1, -3, 8, .125, 16}};
  return matrix;
}
const Array<double> expected_b = {1, -2, 3, -4, 5, -6.5};

std::vector<fs::path> sample_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(samples)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

ProblemSpec spec_of(const fs::path& file) {
  ProblemSpec spec;
  spec.source = SystemFile{.file = file, .matrix = "/A", .x0 = {}, .x_exact = {}};
  return spec;
}

class FormatSample : public testing::TestWithParam<fs::path> {
 protected:
  ProblemSpec spec_ = spec_of(GetParam());
  const InputFormat* format_ = find_format(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Formats, FormatSample, testing::ValuesIn(sample_files()),
                         [](const testing::TestParamInfo<fs::path>& sample) {
                           std::string name = sample.param.filename().string();
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(InputFormats, EachHasASample) {
  for (const InputFormat& format : input_formats()) {
    const fs::path sample = samples / ("system" + std::string(format.extensions.front()));
    EXPECT_TRUE(fs::exists(sample))
        << format.name << ": let tests/io/write_samples.py write " << sample;
  }
}

TEST_P(FormatSample, IsRecognisedByItsContentAlone) {
  ASSERT_NE(format_, nullptr);
  for (const InputFormat& format : input_formats())
    EXPECT_EQ(format.recognises(GetParam()), &format == format_) << format.name;
}

TEST_P(FormatSample, GivesEachRankItsRows) {
  const CsrMatrix<double>& whole = expected_matrix();
  const MatrixOnRanks read = load_matrix(MPI_COMM_WORLD, spec_);
  const int ranks = size_of(MPI_COMM_WORLD);
  EXPECT_EQ(read.row_starts,
            split_by_nonzeros(std::span<const std::int32_t>(whole.row_ptr), ranks));
  const RowSlab& slab = read.slab;
  EXPECT_EQ(slab.global_rows, whole.rows);
  EXPECT_EQ(slab.global_cols, whole.cols);
  EXPECT_EQ(slab.global_nnz, whole.nnz());
  EXPECT_EQ(slab.first_row, read.row_starts[rank_of(MPI_COMM_WORLD)]);
  EXPECT_EQ(slab.local.cols, whole.cols);
  ASSERT_EQ(slab.local.rows, read.row_starts[rank_of(MPI_COMM_WORLD) + 1] - slab.first_row);
  const std::int32_t first_entry = whole.row_ptr[slab.first_row];
  for (std::int64_t row = 0; row <= slab.local.rows; ++row)
    EXPECT_EQ(slab.local.row_ptr[row], whole.row_ptr[slab.first_row + row] - first_entry);
  ASSERT_EQ(std::ssize(slab.local.col_idx), slab.local.row_ptr.back());
  for (std::int64_t k = 0; k < slab.local.nnz(); ++k) {
    EXPECT_EQ(slab.local.col_idx[k], whole.col_idx[first_entry + k]);
    EXPECT_EQ(slab.local.values[k], whole.values[first_entry + k]);
  }
}

TEST_P(FormatSample, KeepsRowsTogether) {
  spec_.rows_together = 3;
  for (const std::int64_t start : load_matrix(MPI_COMM_WORLD, spec_).row_starts)
    EXPECT_EQ(start % 3, 0);
}

// solve --resume recognises the matrix by these numbers.
TEST_P(FormatSample, HasTheFingerprintsOfTheMatrix) {
  const RowSlab whole{.global_rows = 6,
                      .global_cols = 6,
                      .global_nnz = 11,
                      .first_row = 0,
                      .local = expected_matrix()};
  const Problem read = load_problem(MPI_COMM_WORLD, spec_);
  for (const std::optional<EntryHashes>& known : {std::optional<EntryHashes>(), read.hashes}) {
    EXPECT_EQ(pattern_fingerprint(MPI_COMM_WORLD, read.matrix, known),
              pattern_fingerprint(MPI_COMM_SELF, whole));
    EXPECT_EQ(values_fingerprint(MPI_COMM_WORLD, read.matrix, known),
              values_fingerprint(MPI_COMM_SELF, whole));
  }
}

TEST(InputFormats, AMatrixByRowsIsHashedWhileItIsRead) {
  EXPECT_TRUE(load_problem(MPI_COMM_WORLD, spec_of(samples / "system.h5")).hashes);
}

TEST_P(FormatSample, MakesARightHandSideOrReadsIts) {
  spec_.rhs = MadeRhs::from_ones;
  const Problem made = load_problem(MPI_COMM_WORLD, spec_);
  ASSERT_EQ(made.rhs.size(), 1u);
  for (std::int64_t row = 0; row < made.matrix.local.rows; ++row) {
    const Array<double> sums{3, 3.5, 0, 2.25, 6, 16.125};
    EXPECT_EQ(made.rhs[0][row], sums[made.matrix.first_row + row]);
  }
  if (!format_->open(MPI_COMM_WORLD, GetParam())->has_vectors("/b"))
    GTEST_SKIP() << "the sample holds no right-hand side";
  for (const auto& rhs : {std::optional<RightHandSide>(Dataset{"/b"}), {}}) {
    spec_.rhs = rhs;
    const Problem read = load_problem(MPI_COMM_WORLD, spec_);
    ASSERT_EQ(read.rhs.size(), 1u);
    ASSERT_EQ(std::ssize(read.rhs[0]), read.matrix.local.rows);
    for (std::int64_t row = 0; row < read.matrix.local.rows; ++row)
      EXPECT_EQ(read.rhs[0][row], expected_b[read.matrix.first_row + row]);
  }
}

TEST_P(FormatSample, SaysInOneLineThatItLacksAVector) {
  spec_.rhs = Dataset{"/no-such-vector"};
  try {
    load_problem(MPI_COMM_WORLD, spec_);
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    const std::string text = error.what();
    EXPECT_NE(text.find("/no-such-vector"), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().filename().string()), std::string::npos) << text;
  }
}

TEST_P(FormatSample, RefusesANameWhereAFileHoldsOneMatrix) {
  if (format_->content == Content::named_objects) GTEST_SKIP() << "its matrices have names";
  std::get<SystemFile>(spec_.source).matrix = "/K";
  try {
    load_problem(MPI_COMM_WORLD, spec_);
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find(format_->name), std::string::npos) << error.what();
  }
}

// Every truncation of a file is refused on every rank, unless it cuts off nothing but blanks.
TEST_P(FormatSample, RefusesATruncatedFile) {
  std::ifstream in(GetParam(), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  SharedFile file("cut" + std::string(format_->extensions.front()));
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / 40);
  for (std::size_t size = 0; size < bytes.size() - 1; size += step) {
    if (rank_of(MPI_COMM_WORLD) == 0)
      std::ofstream(file.path(), std::ios::binary) << bytes.substr(0, size);
    MPI_Barrier(MPI_COMM_WORLD);
    spec_ = spec_of(file.path());
    try {
      const MatrixOnRanks read = load_matrix(MPI_COMM_WORLD, spec_);
      EXPECT_EQ(read.slab.global_nnz, expected_matrix().nnz()) << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input) << error.what();
    }
  }
}

TEST(Scatter, GivesEachRankTheRowsAndEntriesThatItOwns) {
  const GenerateSpec spec{.kind = "circuit", .n = 20'000};
  const int rank = rank_of(MPI_COMM_WORLD);
  const RowSlab whole = generate(spec, 0, 20'000);
  CsrMatrix<double> on_rank_0 = rank == 0 ? whole.local : CsrMatrix<double>();
  const MatrixOnRanks read = scatter_matrix(MPI_COMM_WORLD, "test", std::move(on_rank_0), 1);
  EXPECT_EQ(read.row_starts, split_by_nonzeros(std::span<const std::int32_t>(whole.local.row_ptr),
                                               size_of(MPI_COMM_WORLD)));
  const RowSlab mine = generate(spec, read.row_starts[rank], read.row_starts[rank + 1]);
  EXPECT_EQ(read.slab.global_nnz, whole.local.nnz());
  EXPECT_EQ(read.slab.local.row_ptr, mine.local.row_ptr);
  EXPECT_EQ(read.slab.local.col_idx, mine.local.col_idx);
  EXPECT_EQ(read.slab.local.values, mine.local.values);

  const RowRange rows{read.slab.first_row, read.slab.local.rows, 20'000};
  const Array<double> vector = random_vector({0, 20'000, 20'000}, 5);
  EXPECT_EQ(scatter_vector(MPI_COMM_WORLD, rank == 0 ? vector : Array<double>(), rows),
            random_vector(rows, 5));
}

TEST(InputFormats, ContentDecidesBeforeTheName) {
  SharedFile file("text.h5");
  if (rank_of(MPI_COMM_WORLD) == 0)
    std::ofstream(file.path()) << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(load_matrix(MPI_COMM_WORLD, spec_of(file.path())).slab.global_nnz, 1);
}

TEST(InputFormats, NamesAllWhereNoneFits) {
  SharedFile file("system.txt");
  if (rank_of(MPI_COMM_WORLD) == 0) std::ofstream(file.path()) << "hello\n";
  MPI_Barrier(MPI_COMM_WORLD);
  try {
    load_matrix(MPI_COMM_WORLD, spec_of(file.path()));
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    for (const InputFormat& format : input_formats())
      EXPECT_NE(std::string(error.what()).find(format.name), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trireme
