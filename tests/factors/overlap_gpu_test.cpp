// SPDX-License-Identifier: BSD-3-Clause
// Factors of ranks that overlap, applied by GPUs, are those of the host. Skips without a GPU. Run
// on 2 and 3 ranks, which may share a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "factors/operation.hpp"
#include "parallel/nodes.hpp"
#include "support/distributed_matrices.hpp"

namespace trireme::factors {
namespace {

using test::generated;
using test::random_rows;

// What both make of the same vector, in the same order of rows.
void expect_the_host(IluOperation& on_gpus, IluOperation& on_host, const DistributedMatrix& a) {
  const Array<double> r = random_rows(a, 2);
  Array<double> expected(r.size(), NAN);
  on_host.apply(r, expected);
  const Stream stream;
  const auto from = to_device(std::span<const double>(r), stream);
  const DeviceBuffer<double> to(r.size(), stream);
  ASSERT_TRUE(on_gpus.prepare_on_device());
  for (int call = 0; call < 2; ++call) {
    fill_nan(to.span(), stream);
    on_gpus.enqueue(from.view(), to.span(), stream);
    const Array<double> z = to_host(to.view(), stream);
    on_gpus.check_device();
    for (std::size_t i = 0; i < z.size(); ++i)
      ASSERT_NEAR(z[i], expected[i], 1e-13 * (1 + std::abs(expected[i]))) << "row " << i;
  }
}

TEST(OverlapOnGpus, IsThatOfTheHost) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  select_device(rank_on_node(MPI_COMM_WORLD));
  for (const char* kind : {"convection3d", "mesh2d"})
    for (const int layers : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << kind << ", " << layers << " layers");
      const auto a = generated(MPI_COMM_WORLD, kind, std::string(kind) == "mesh2d" ? 26 : 9);
      const IluOptions options{.levels = 1, .order = RowOrder::given, .overlap = layers};
      IluOperation on_gpus, on_host;
      on_gpus.set_place(ExchangeRequest{.way = "mpi"});
      on_gpus.build(a, options);
      on_host.build(a, options);
      expect_the_host(on_gpus, on_host, *a);
      Array<double> values = joined_rows(*a).values;
      for (double& value : values) value *= value > 0 ? 3.0 : 2.5;
      a->replace_values(values);
      on_gpus.renew();
      on_host.renew();
      expect_the_host(on_gpus, on_host, *a);
    }
}

}  // namespace
}  // namespace trireme::factors
