// SPDX-License-Identifier: BSD-3-Clause
// The list of kernels as a build with TRIREME_PEERS=OFF has it: this program compiles registry.cpp
// again, without peers.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "kernels/registry.hpp"

namespace trireme {
namespace {

TEST(WithoutPeers, TheListHasTheKernelsThatAutoTriesAndNoFormatOfPeers) {
  for (const char* name : {"csr", "albus", "sell", "csr-vector", "dasp", "teb"})
    EXPECT_NO_THROW(find_kernel(name)) << name;
  for (const KernelEntry& kernel : kernel_registry())
    for (const char* peer :
         {"csr5", "tilespmv", "spmm-", "pbc", "amf-csr", "lsrb-csr", "coo", "ell", "hyb", "jds"})
      EXPECT_FALSE(kernel.name.starts_with(peer)) << kernel.name;
}

TEST(WithoutPeers, AMessageAboutAnUnknownNameSaysThatTheyAreLeftOut) {
  try {
    find_kernel("csr5");
    FAIL() << "csr5 was found";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("TRIREME_PEERS=OFF"), std::string::npos)
        << error.what();
  }
  EXPECT_NE(left_out_kernels().find("TRIREME_PEERS=OFF"), std::string_view::npos);
}

}  // namespace
}  // namespace trireme
