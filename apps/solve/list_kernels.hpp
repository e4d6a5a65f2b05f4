// SPDX-License-Identifier: BSD-3-Clause
// What solve --list-kernels prints.
#pragma once

#include <string>

namespace trireme::solve {

std::string list_kernels();

}  // namespace trireme::solve
