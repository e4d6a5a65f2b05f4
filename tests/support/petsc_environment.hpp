// SPDX-License-Identifier: BSD-3-Clause
// Initialises PETSc for a test program under mpirun, whose sources include this header.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "petsc/session.hpp"

namespace trireme::test {

class PetscEnvironment : public testing::Environment {
 public:
  void SetUp() override { session_.emplace(); }
  void TearDown() override { session_.reset(); }

 private:
  std::optional<PetscSession> session_;
};

inline testing::Environment* const petsc_environment =
    testing::AddGlobalTestEnvironment(new PetscEnvironment);

}  // namespace trireme::test
