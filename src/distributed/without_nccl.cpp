// SPDX-License-Identifier: BSD-3-Clause
// A build without NCCL's header.
#include "base/error.hpp"
#include "distributed/gpu_exchange.hpp"

namespace trireme {

std::unique_ptr<GpuExchange> make_nccl_exchange(MPI_Comm /*comm*/, const HaloPlan& /*halo*/) {
  fail(ExitCode::resource, "this Trireme was built without NCCL; build it where nccl.h is");
}

}  // namespace trireme
