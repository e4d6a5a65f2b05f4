// SPDX-License-Identifier: BSD-3-Clause
// PETSc reads our HDF5 files by MatLoad, and we read the binary files that PETSc writes.
#include <gtest/gtest.h>
#include <petscmat.h>
#include <petscviewerhdf5.h>

#include <string>
#include <vector>

#include "io/output_file.hpp"
#include "io/petsc_binary.hpp"
#include "io/problem.hpp"
#include "io/problem_file.hpp"

namespace trireme {
namespace {

class Petsc : public testing::Environment {
 public:
  void SetUp() override { PetscInitialize(nullptr, nullptr, nullptr, nullptr); }
  void TearDown() override { PetscFinalize(); }
};
const testing::Environment* const petsc = testing::AddGlobalTestEnvironment(new Petsc);

Problem generated(const std::string& kind, std::int64_t n) {
  ProblemSpec spec;
  GenerateSpec& generate = spec.source.emplace<GenerateSpec>();
  generate.kind = kind;
  generate.n = n;
  return load_problem(MPI_COMM_WORLD, spec);
}

// Expects that the rows of PETSc's matrix on this rank are those of `whole`.
void expect_rows(Mat matrix, const CsrMatrix<double>& whole) {
  PetscInt rows = 0, cols = 0, first = 0, last = 0;
  MatGetSize(matrix, &rows, &cols);
  ASSERT_EQ(rows, whole.rows);
  ASSERT_EQ(cols, whole.cols);
  MatGetOwnershipRange(matrix, &first, &last);
  for (PetscInt row = first; row < last; ++row) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* values = nullptr;
    MatGetRow(matrix, row, &count, &columns, &values);
    const std::int32_t begin = whole.row_ptr[row];
    ASSERT_EQ(count, whole.row_ptr[row + 1] - begin) << row;
    for (PetscInt k = 0; k < count; ++k) {
      ASSERT_EQ(columns[k], whole.col_idx[begin + k]) << row;
      ASSERT_EQ(values[k], whole.values[begin + k]) << row;
    }
    MatRestoreRow(matrix, row, &count, &columns, &values);
  }
}

TEST(PetscInterop, MatLoadReadsWhatWeWrite) {
  for (const std::string kind : {"convection3d", "circuit"}) {
    const Problem problem = generated(kind, kind == "circuit" ? 2000 : 8);
    const RowSlab& slab = problem.matrix;
    test::SharedFile shared("problem.h5");
    {
      OutputFile file(MPI_COMM_WORLD, shared.path());
      file.write_matrix("/A", slab);
      file.write_vectors("/b", {slab.first_row, slab.local.rows, slab.global_rows}, problem.rhs);
      file.commit();
    }
    const CsrMatrix<double> whole =
        [&] {
          ProblemSpec spec;
          GenerateSpec& generate = spec.source.emplace<GenerateSpec>();
          generate.kind = kind;
          generate.n = kind == "circuit" ? 2000 : 8;
          return load_matrix(MPI_COMM_SELF, spec);
        }()
            .slab.local;
    PetscViewer viewer = nullptr;
    ASSERT_EQ(PetscViewerHDF5Open(MPI_COMM_WORLD, shared.path().c_str(), FILE_MODE_READ, &viewer),
              0);
    Mat matrix = nullptr;
    MatCreate(MPI_COMM_WORLD, &matrix);
    PetscObjectSetName(reinterpret_cast<PetscObject>(matrix), "A");
    MatSetType(matrix, MATAIJ);
    ASSERT_EQ(MatLoad(matrix, viewer), 0);
    expect_rows(matrix, whole);
    Vec b = nullptr, ones = nullptr;
    MatCreateVecs(matrix, &ones, &b);
    PetscObjectSetName(reinterpret_cast<PetscObject>(b), "b");
    ASSERT_EQ(VecLoad(b, viewer), 0);
    VecSet(ones, -1);
    PetscReal norm = 1;
    MatMultAdd(matrix, ones, b, b);
    VecNorm(b, NORM_INFINITY, &norm);
    EXPECT_LT(norm, 1e-10);
    VecDestroy(&b);
    VecDestroy(&ones);
    MatDestroy(&matrix);
    PetscViewerDestroy(&viewer);
  }
}

TEST(PetscInterop, WeReadWhatMatViewWrites) {
  const Problem problem = generated("circuit", 500);
  const RowSlab& slab = problem.matrix;
  const CsrMatrix<double>& local = slab.local;
  Mat matrix = nullptr;
  const std::vector<PetscInt> offsets(local.row_ptr.begin(), local.row_ptr.end());
  const std::vector<PetscInt> columns(local.col_idx.begin(), local.col_idx.end());
  MatCreateMPIAIJWithArrays(MPI_COMM_WORLD, static_cast<PetscInt>(local.rows),
                            static_cast<PetscInt>(local.rows), PETSC_DETERMINE, PETSC_DETERMINE,
                            offsets.data(), columns.data(), local.values.data(), &matrix);
  Vec b = nullptr;
  MatCreateVecs(matrix, nullptr, &b);
  VecSet(b, 2.5);
  test::SharedFile shared("problem.petsc");
  PetscViewer viewer = nullptr;
  PetscViewerBinaryOpen(MPI_COMM_WORLD, shared.path().c_str(), FILE_MODE_WRITE, &viewer);
  MatView(matrix, viewer);
  VecView(b, viewer);
  PetscViewerDestroy(&viewer);
  const WholeSystem system = read_petsc_binary(shared.path());
  expect_rows(matrix, system.matrix);
  EXPECT_EQ(system.b, std::vector<Array<double>>{Array<double>(500, 2.5)});
  VecDestroy(&b);
  MatDestroy(&matrix);
}

}  // namespace
}  // namespace trireme
