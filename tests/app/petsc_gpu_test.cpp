// SPDX-License-Identifier: BSD-3-Clause
// PETSc's own loop on a GPU: its matrix there, and what crosses the bus. Run on 1 and 2 ranks.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "app/run_case.hpp"
#include "config/read_case.hpp"
#include "device/device.hpp"
#include "parallel/collective.hpp"
#include "petsc/session.hpp"
#include "support/cg_unless_named.hpp"
#include "support/petsc_environment.hpp"

namespace trireme {
namespace {

CaseOutcome solve(const std::string& rest) {
  return run_case(
      MPI_COMM_WORLD,
      test::parse_with_cg("problem: {generate: convection3d, n: 20}\nreport: {solution: false}\n"
                          "device: cuda\n" +
                              rest,
                          "test.yaml"),
      nullptr);
}

std::string error_of(const std::string& rest, ExitCode code) {
  try {
    solve(rest);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << rest;
  return "";
}

TEST(PetscAijOnAGpu, NeedsAPetscWithCudaAndAGpu) {
  if (petsc_has_cuda() && cuda_available()) GTEST_SKIP() << "both are here";
  const std::string message = error_of("kernel: petsc-aij\n", ExitCode::resource);
  EXPECT_NE(message.find(petsc_has_cuda() ? "CUDA" : "build-petsc-cuda"), std::string::npos)
      << message;
}

class WithCudaPetsc : public testing::Test {
 protected:
  void SetUp() override {
    if (!petsc_has_cuda()) GTEST_SKIP() << "PETSc has no CUDA";
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
  }

  // Of the note that counts them.
  static std::int64_t copies_of(const RunOutcome& run) {
    for (const std::string& note : run.notes)
      if (note.starts_with("PETSc copied ")) return std::stoll(note.substr(13));
    ADD_FAILURE() << "no note says what PETSc copied";
    return -1;
  }
};

TEST_F(WithCudaPetsc, PetscAijIterationsAreThoseOfOurKernels) {
  const CaseOutcome outcome =
      solve("solver: {method: bicgstab, engine: petsc}\nkernel: [csr-vector, petsc-aij]\n");
  const RunOutcome &ours = outcome.runs[0], &theirs = outcome.runs[1];
  EXPECT_TRUE(theirs.converged) << theirs.reason;
  EXPECT_EQ(theirs.device, Device::cuda);
  EXPECT_LE(theirs.relative_residual, 1e-8);
  EXPECT_NEAR(static_cast<double>(theirs.iterations), static_cast<double>(ours.iterations), 2);
  EXPECT_GE(theirs.kernel_us.count, 2 * theirs.iterations);
  EXPECT_GT(theirs.kernel_us.median, 0);
}

TEST_F(WithCudaPetsc, VectorsStayOnTheGpuForTheWholeSolve) {
  if (size_of(MPI_COMM_WORLD) > 1) GTEST_SKIP() << "the halo goes through the host";
  const std::string method = "solver: {method: bicgstab, engine: petsc, rtol: ",
                    kernels = "}\nkernel: [sell, petsc-aij]\n";
  const CaseOutcome coarse = solve(method + "1e-2" + kernels),
                    fine = solve(method + "1e-10" + kernels);
  for (std::size_t k = 0; k < 2; ++k) {
    SCOPED_TRACE(fine.runs[k].kernel);
    EXPECT_GT(fine.runs[k].iterations, coarse.runs[k].iterations + 10);
    EXPECT_EQ(copies_of(fine.runs[k]), copies_of(coarse.runs[k]));  // at the ends
    EXPECT_LE(copies_of(fine.runs[k]), 6);
  }
}

TEST_F(WithCudaPetsc, APreconditionerOnTheHostShowsInTheCopies) {
  const RunOutcome run =
      solve("solver: {method: bicgstab, engine: petsc, preconditioner: sor}\nkernel: sell\n")
          .runs[0];
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_GE(copies_of(run), 2 * run.iterations);
}

TEST_F(WithCudaPetsc, PetscAijRefusesTheResidentEngine) {
  const std::string message =
      error_of("kernel: petsc-aij\nsolver: {engine: resident}\n", ExitCode::usage);
  EXPECT_NE(message.find("engine: petsc"), std::string::npos) << message;
}

}  // namespace
}  // namespace trireme
