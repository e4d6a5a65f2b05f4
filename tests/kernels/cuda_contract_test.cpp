// SPDX-License-Identifier: BSD-3-Clause
// Tests the kernel contract on every CUDA kernel and precision in the registry.
#include <gtest/gtest.h>

#include <cctype>
#include <ostream>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/graph.hpp"
#include "kernels/registry.hpp"
#include "support/device_product.hpp"
#include "support/refusal.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::contract_shape;
using test::contract_shapes;
using test::DeviceProduct;
using test::random_vector;
using test::same_bits;

// One shape for each code path of the kernels, for tools that make a kernel a hundred times slower.
constexpr const char* kShapesOfEveryKind[] = {"AllRowsEmpty", "SomeRowsEmpty", "RunsOfEmptyRows",
                                              "OneDenseRow",  "SmallAndDense", "AroundFour",
                                              "LongAndShort", "AllMixed"};

enum class Precision { double_, float_, half, mixed };

struct Candidate {
  const KernelEntry* entry;
  Precision precision;
};

std::string name_of(const Candidate& candidate) {
  static constexpr const char* kPrecisions[] = {"Double", "Float", "Half", "Mixed"};
  std::string name(candidate.entry->name);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name + "_" + kPrecisions[static_cast<int>(candidate.precision)];
}
void PrintTo(const Candidate& candidate, std::ostream* out) { *out << name_of(candidate); }

// Our own kernels, or those that call a library.
std::vector<Candidate> candidates(bool library) {
  std::vector<Candidate> all;
  for (const KernelEntry& entry : kernel_registry()) {
    if (entry.library != library) continue;
    if (entry.cuda_double) all.push_back({&entry, Precision::double_});
    if (entry.cuda_float) all.push_back({&entry, Precision::float_});
    if (entry.cuda_half) all.push_back({&entry, Precision::half});
    if (entry.cuda_mixed) all.push_back({&entry, Precision::mixed});
  }
  return all;
}

class CudaKernelContract : public testing::TestWithParam<Candidate> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }

  // True where the kernel must refuse the matrix. The builder is then expected to refuse it.
  template <class Stored, class Vector>
  bool refuses(CudaBuilder<Vector> builder, const CsrMatrix<Stored>& matrix) {
    const std::string_view name = GetParam().entry->name;
    if (!test::must_refuse(name, matrix.view())) return false;
    try {
      DeviceProduct<Stored, Vector>(builder, matrix);
      ADD_FAILURE() << name << " takes a matrix that it must refuse";
    } catch (const Error& error) {
      EXPECT_TRUE(test::is_refusal_of(name, error));
    }
    return true;
  }

  // Calls body.operator()<Stored, Vector>(builder) with the types of the tested precision.
  template <class Body>
  void for_its_types(Body&& body) {
    const KernelEntry& entry = *GetParam().entry;
    switch (GetParam().precision) {
      case Precision::double_:
        return body.template operator()<double, double>(entry.cuda_double);
      case Precision::float_:
        return body.template operator()<float, float>(entry.cuda_float);
      case Precision::half:
        return body.template operator()<Half, Half>(entry.cuda_half);
      case Precision::mixed:
        return body.template operator()<float, double>(entry.cuda_mixed);
    }
  }
};

TEST_P(CudaKernelContract, MatchesReferenceOnEveryShape) {
  for_its_types([&]<class Stored, class Vector>(CudaBuilder<Vector> builder) {
    for (const auto& shape : contract_shapes<Stored>()) {
      SCOPED_TRACE(shape.name);
      if (refuses<Stored>(builder, shape.matrix)) continue;
      DeviceProduct<Stored, Vector> product(builder, shape.matrix);
      EXPECT_TRUE(matches_reference(product));
    }
  });
}

TEST_P(CudaKernelContract, MatchesReferenceOnShapesOfEveryKind) {
  for_its_types([&]<class Stored, class Vector>(CudaBuilder<Vector> builder) {
    for (const char* name : kShapesOfEveryKind) {
      SCOPED_TRACE(name);
      const auto matrix = contract_shape<Stored>(name);
      if (refuses<Stored>(builder, matrix)) continue;
      DeviceProduct<Stored, Vector> product(builder, matrix);
      EXPECT_TRUE(matches_reference(product));
    }
  });
}

TEST_P(CudaKernelContract, GivesTheSameBitsInAHundredRuns) {
  if (!GetParam().entry->deterministic) GTEST_SKIP() << "the kernel does not promise the same bits";
  for_its_types([&]<class Stored, class Vector>(CudaBuilder<Vector> builder) {
    for (const char* name : {"AllMixed", "DenseFirstAndLastRow", "OnlyShortRows"}) {
      SCOPED_TRACE(name);
      const auto matrix = contract_shape<Stored>(name);
      if (refuses<Stored>(builder, matrix)) continue;
      DeviceProduct<Stored, Vector> product(builder, matrix);
      const auto x = random_vector<Vector>(product.matrix().cols);
      const auto first = product.multiply(x);
      for (int run = 1; run < 100; ++run) ASSERT_TRUE(same_bits(first, product.multiply(x))) << run;
      DeviceProduct<Stored, Vector> rebuilt(builder, product.matrix());
      EXPECT_TRUE(same_bits(first, rebuilt.multiply(x))) << "after a rebuild";
    }
  });
}

TEST_P(CudaKernelContract, FollowsNewValues) {
  for_its_types([&]<class Stored, class Vector>(CudaBuilder<Vector> builder) {
    for (const char* name :
         {"AllMixed", "UnsortedColumns", "OneDenseRow", "SmallAndDense", "AllRowsEmpty"}) {
      SCOPED_TRACE(name);
      const auto matrix = contract_shape<Stored>(name);
      if (refuses<Stored>(builder, matrix)) continue;
      DeviceProduct<Stored, Vector> product(builder, matrix);
      product.update_values(random_vector<Stored>(product.matrix().nnz(), 77));
      EXPECT_TRUE(matches_reference(product));
      product.update_values(random_vector<Stored>(product.matrix().nnz(), 78));
      EXPECT_TRUE(matches_reference(product));
    }
  });
}

TEST_P(CudaKernelContract, ReadsNoEntriesOnceItIsBuiltWhereItCopiesThem) {
  if (!GetParam().entry->cuda_copies_entries) GTEST_SKIP() << "the kernel may read them";
  for_its_types([&]<class Stored, class Vector>(CudaBuilder<Vector> builder) {
    for (const auto& shape : contract_shapes<Stored>()) {
      SCOPED_TRACE(shape.name);
      if (refuses<Stored>(builder, shape.matrix)) continue;
      DeviceProduct<Stored, Vector> product(builder, shape.matrix);
      product.poison_entries();
      EXPECT_TRUE(matches_reference(product));
      if (product.kernel().dot_partials() > 0) expect_dot(product);
      product.update_values(random_vector<Stored>(product.matrix().nnz(), 77));
      product.poison_entries();
      EXPECT_TRUE(matches_reference(product));
    }
  });
}

// A kernel may store such values in fewer bytes, until it gets values that FP32 cannot represent.
TEST_P(CudaKernelContract, MatchesReferenceWhereFloatHoldsEveryValue) {
  if (GetParam().precision != Precision::double_)
    GTEST_SKIP() << "only double precision promises it";
  for (const char* name : kShapesOfEveryKind) {
    SCOPED_TRACE(name);
    const CsrMatrix<double> matrix = contract_shape<double>(name);
    const CsrMatrix<double> exact = test::rounded_to_float(matrix);
    if (refuses<double>(GetParam().entry->cuda_double, exact)) continue;
    DeviceProduct<double, double> product(GetParam().entry->cuda_double, exact);
    EXPECT_TRUE(matches_reference(product));
    product.update_values(matrix.values);
    EXPECT_TRUE(matches_reference(product));
  }
}

TEST_P(CudaKernelContract, RunsFromAGraph) {
  for_its_types([&]<class Stored, class Vector>(CudaBuilder<Vector> builder) {
    DeviceProduct<Stored, Vector> product(builder, contract_shape<Stored>("AllMixed"));
    const auto x = random_vector<Vector>(product.matrix().cols);
    const auto expected = product.multiply(x);
    fill_nan(product.y(), product.stream());
    const Graph graph = capture_graph(product.stream(), [&] {
      product.kernel().multiply(product.x(), product.y(), Accumulate::no, product.stream());
    });
    const GraphExec exec(graph);
    for (int launch = 0; launch < 3; ++launch) exec.launch(product.stream());
    const auto y = to_host(DeviceSpan<const Vector>(product.y()), product.stream());
    if (GetParam().entry->deterministic) {
      EXPECT_TRUE(same_bits(expected, y));
    }
    EXPECT_TRUE(test::judge(compare_product<Stored, Vector>(product.matrix().view(), x, y),
                            "captured y = A x"));
  });
}

// Uses the square shapes of the contract only.
TEST_P(CudaKernelContract, DotPartialsSumToTheDotProductOfXAndAx) {
  for_its_types([&]<class Stored, class Vector>(CudaBuilder<Vector> builder) {
    bool has_dot = false;
    for (const auto& shape : contract_shapes<Stored>()) {
      if (shape.matrix.rows != shape.matrix.cols) continue;
      SCOPED_TRACE(shape.name);
      if (refuses<Stored>(builder, shape.matrix)) continue;
      DeviceProduct<Stored, Vector> product(builder, shape.matrix);
      if (product.kernel().dot_partials() == 0) continue;
      has_dot = true;
      expect_dot(product);
    }
    if (!has_dot) GTEST_SKIP() << "the kernel has no fused dot product";
  });
}

// scripts/gpu-check reads the kernels to put under the sanitizer from the names of the first suite.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaKernelContract);
INSTANTIATE_TEST_SUITE_P(Own, CudaKernelContract, testing::ValuesIn(candidates(false)),
                         [](const auto& tested) { return name_of(tested.param); });
INSTANTIATE_TEST_SUITE_P(Library, CudaKernelContract, testing::ValuesIn(candidates(true)),
                         [](const auto& tested) { return name_of(tested.param); });

}  // namespace
}  // namespace trireme
