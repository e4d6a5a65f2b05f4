// SPDX-License-Identifier: BSD-3-Clause
// The kernels of this build, and how they are found by name.
#include "kernels/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "kernels/list.hpp"
#ifdef TRIREME_WITH_PEERS
#include "kernels/peers/list.hpp"
#endif

namespace trireme {
namespace {

#ifdef TRIREME_WITH_PEERS
constexpr auto kKernels = [] {
  std::array<KernelEntry, kOwnKernels.size() + kPeerKernels.size()> all;
  std::ranges::copy(kPeerKernels, std::ranges::copy(kOwnKernels, all.begin()).out);
  return all;
}();
constexpr std::string_view kLeftOut;
#else
constexpr auto kKernels = kOwnKernels;
constexpr std::string_view kLeftOut =
    "this program was built without the kernels to compare with (TRIREME_PEERS=OFF)";
#endif

constexpr std::string_view kCudaBaseline = "cusparse-csr";

std::string known_names() {
  std::vector<std::string_view> names;
  for (const KernelEntry& entry : kKernels) names.push_back(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::span<const KernelEntry> kernel_registry() { return kKernels; }

std::string_view left_out_kernels() { return kLeftOut; }

const KernelEntry& plain_kernel(Device device) {
  return *std::ranges::find_if(kOwnKernels, [device](const KernelEntry& kernel) {
    return kernel.plain && kernel.model_on(device).has_value();
  });
}

std::string_view benchmark_baseline(Device device) {
  return device == Device::cpu ? plain_kernel(device).name : kCudaBaseline;
}

const KernelEntry& find_kernel(std::string_view name) {
  for (const KernelEntry& kernel : kKernels)
    if (kernel.name == name) return kernel;
  fail(ExitCode::usage, "unknown kernel '{}'; known kernels: {}{}{}", name, known_names(),
       kLeftOut.empty() ? "" : "; ", kLeftOut);
}

}  // namespace trireme
