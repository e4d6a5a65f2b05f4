// SPDX-License-Identifier: BSD-3-Clause
// What a build without the header of NCCL has in place of nccl_exchange.cpp: an error.
#include "base/error.hpp"
#include "distributed/gpu_exchange.hpp"

namespace trireme {

std::unique_ptr<GpuExchange> make_nccl_exchange(MPI_Comm /*comm*/, const HaloPlan& /*halo*/,
                                                const GpuExchange* /*beside*/) {
  fail(ExitCode::resource,
       "this Trireme was built without NCCL; build it on a machine that has nccl.h");
}

}  // namespace trireme
