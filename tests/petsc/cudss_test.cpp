// SPDX-License-Identifier: BSD-3-Clause
// The calls of cuDSS, of both versions, through a library that stands in for it.
#include "petsc/factors/cudss/library.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "petsc/factors/cudss/factors.hpp"
#include "petsc/factors/cudss/package.hpp"
#include "petsc/factors/package.hpp"

namespace trireme {
namespace {

using cudss::Library;

std::string refusal(const std::string& named) {
  try {
    const Library library(named);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    return error.what();
  }
  ADD_FAILURE() << named << " was accepted";
  return "";
}

TEST(CudssLibrary, SaysWhatIsMissing) {
  EXPECT_EQ(refusal("/nowhere/libcudss.so.0"),
            "TRIREME_CUDSS is /nowhere/libcudss.so.0, where no cuDSS can be opened (there is no "
            "such file)");
  EXPECT_NE(refusal("/proc/self").find("is /proc/self, where no cuDSS"), std::string::npos);
  EXPECT_NE(refusal("libm.so.6").find("has no cudssCreate"), std::string::npos);
}

// The environment variable has another value while this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(CudssLibrary, IsFoundAmongThePackagesOfPython) {
  namespace fs = std::filesystem;
  for (const auto* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string name = fmt::format("trireme-python-{}-{}", variable, getpid());
    const fs::path root = fs::temp_directory_path() / name;
    const fs::path packages = root / "lib/python3.11/site-packages/nvidia";
    const Variable here(variable, root.string());
    for (const auto& [folder, file] :
         {std::pair("cu13", TRIREME_FAKE_CUDSS_1), std::pair("cu12", TRIREME_FAKE_CUDSS_0)}) {
      fs::create_directories(packages / folder / "lib");
      fs::copy_file(file, packages / folder / "lib" /
                              (folder == std::string("cu13") ? "libcudss.so.1" : "libcudss.so.0"));
    }
    EXPECT_TRUE(cudss::seems_installed());
    EXPECT_EQ(Library("").version(), "1.0.3") << "cu13 comes first";
    fs::remove_all(packages / "cu13");
    EXPECT_EQ(Library("").version(), "0.7.3");
    const bool by_this_folder = cudss::seems_installed();
    fs::remove_all(root);
    EXPECT_TRUE(by_this_folder);
  }
}

class CudssFactors : public testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<const Library> library = std::make_shared<const Library>(GetParam());
};

// 4 -1 at the boundary of the band; `corner` is the lower one.
const std::vector<std::int32_t> kRowPtr = {0, 2, 5, 7}, kColumns = {0, 1, 0, 1, 2, 1, 2};
std::vector<double> values(double corner) { return {4, -1, corner, 4, -1, -1, 4}; }

TEST_P(CudssFactors, SolveForSeveralVectorsAndTakeNewValues) {
  std::vector<double> a = values(2), scratch(3);
  cudss::Factors factors(library, {3, 7, kRowPtr.data(), kColumns.data(), a.data()},
                         {.scratch = scratch.data()});
  EXPECT_EQ(factors.analyse().device_bytes, 200);
  for (const double corner : {2.0, -3.0}) {
    std::ranges::copy(values(corner), a.begin());
    factors.factorise();
    const std::vector<double> b = {2, corner + 5, 10, 4, corner, 0};  // of (1, 2, 3), (1, 0, 0)
    std::vector<double> x(6);
    factors.solve(b.data(), x.data(), 2);
    const std::vector<double> expected = {1, 2, 3, 1, 0, 0};
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-14) << i;
  }
  EXPECT_FALSE(factors.failed());
  EXPECT_EQ(factors.nonzeros(), 9);
  EXPECT_EQ(factors.small_pivots(), 0);
}

TEST_P(CudssFactors, TakeTheUpperTriangleOfASymmetricMatrix) {
  const std::vector<std::int32_t> row_ptr = {0, 2, 4, 5}, columns = {0, 1, 1, 2, 2};
  const std::vector<double> upper = {4, -1, 4, -1, 4}, b = {2, 4, 10};
  for (const auto type : {cudss::kSymmetric, cudss::kPositive}) {
    std::vector<double> x(3);
    cudss::Factors factors(library, {3, 5, row_ptr.data(), columns.data(), upper.data()},
                           {.type = type, .scratch = x.data()});
    factors.analyse();
    factors.factorise();
    EXPECT_FALSE(factors.failed());
    factors.solve(b.data(), x.data(), 1);
    for (const std::int64_t i : {0, 1, 2}) EXPECT_NEAR(x[i], static_cast<double>(i + 1), 1e-14);
  }
}

TEST_P(CudssFactors, SayThatAMatrixIsNotPositiveDefinite) {
  const std::vector<std::int32_t> row_ptr = {0, 2, 3}, columns = {0, 1, 1};
  const std::vector<double> upper = {1, 2, 1};
  std::vector<double> x(2);
  for (const auto type : {cudss::kSymmetric, cudss::kPositive}) {
    cudss::Factors factors(library, {2, 3, row_ptr.data(), columns.data(), upper.data()},
                           {.type = type, .scratch = x.data()});
    factors.analyse();
    factors.factorise();
    EXPECT_EQ(factors.failed(), type == cudss::kPositive);
  }
}

TEST_P(CudssFactors, ExchangeRowsWhereThatIsAskedFor) {
  const std::vector<std::int32_t> row_ptr = {0, 1, 2}, columns = {1, 0};
  const std::vector<double> a = {2, 3}, b = {4, 3};
  for (const bool matching : {false, true}) {
    std::vector<double> x(2);
    cudss::Factors factors(library, {2, 2, row_ptr.data(), columns.data(), a.data()},
                           {.matching = matching, .scratch = x.data()});
    factors.analyse();
    factors.factorise();
    factors.solve(b.data(), x.data(), 1);
    EXPECT_EQ(factors.small_pivots() > 0, !matching);
    EXPECT_EQ(x == (std::vector<double>{1, 2}), matching);
  }
}

TEST_P(CudssFactors, SayWhichCallFailed) {
  std::vector<double> a = values(2), scratch(3);
  cudss::Factors factors(library, {3, 7, kRowPtr.data(), kColumns.data(), a.data()},
                         {.scratch = scratch.data()});
  try {
    factors.factorise();  // without an analysis
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cuDSS ended the factorisation with status 3");
  }
}

INSTANTIATE_TEST_SUITE_P(OfBothVersions, CudssFactors,
                         testing::Values(TRIREME_FAKE_CUDSS_0, TRIREME_FAKE_CUDSS_1));

TEST(Packages, AreCudssOnOneRankWithAGpu) {
  const FactorPackages all{.mumps_lu = true, .mumps_cholesky = true, .cudss = true};
  EXPECT_EQ(choose_factors(all, true, 1).package, cudss::kPackage);
  EXPECT_TRUE(choose_factors(all, true, 1).symmetric);
  EXPECT_FALSE(choose_factors(all, false, 1).symmetric);
  EXPECT_EQ(choose_factors(all, true, 2).package, MATSOLVERMUMPS);
}

}  // namespace
}  // namespace trireme
