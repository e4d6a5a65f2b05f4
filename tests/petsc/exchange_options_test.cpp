// SPDX-License-Identifier: BSD-3-Clause
// What the options say about the exchange between GPUs, and which numbers are refused.
#include "petsc/exchange_options.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "petsc/shim.hpp"
#include "support/petsc_environment.hpp"

namespace trireme {
namespace {

// Sets an option for as long as the object lives.
class Option {
 public:
  Option(const char* name, const char* value) : name_(name) {
    petsc_check(PetscOptionsSetValue(nullptr, name, value));
  }
  ~Option() { PetscOptionsClearValue(nullptr, name_); }
  Option(const Option&) = delete;
  Option& operator=(const Option&) = delete;

 private:
  const char* name_;
};

std::string refusal() {
  try {
    exchange_options();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST(ExchangeOptions, LeaveTheChoiceAndTheNodesAsTheyAreByDefault) {
  const ExchangeRequest request = exchange_options();
  EXPECT_EQ(request.way, "");
  EXPECT_EQ(request.peer_timeout, kPeerTimeout);
  EXPECT_EQ(request.ranks_per_node, 0);
}

TEST(ExchangeOptions, NameTheWayAndDeclareNodes) {
  const Option way("-trireme_exchange", "peer+nccl"), nodes("-trireme_ranks_per_node", "2"),
      timeout("-trireme_peer_timeout", "7.5");
  const ExchangeRequest request = exchange_options();
  EXPECT_EQ(request.way, "peer+nccl");
  EXPECT_EQ(request.ranks_per_node, 2);
  EXPECT_EQ(request.peer_timeout, 7.5);
}

TEST(ExchangeOptions, RefuseNegativeNumbersByName) {
  for (const char* name : {"-trireme_ranks_per_node", "-trireme_peer_timeout"}) {
    const Option option(name, "-1");
    EXPECT_EQ(refusal().find(name), 0u) << refusal();
  }
}

}  // namespace
}  // namespace trireme
