// SPDX-License-Identifier: BSD-3-Clause
// A run of a study of products -> the command line of kernel_bench.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "study/study.hpp"

namespace trireme::study {

// The file in the folder of a run to which kernel_bench writes its measurements.
inline constexpr const char* kProductsFile = "products.json";

// The words after the program, for the settings of one run. Throws Error{usage} for a key that is
// no key of products, and for an unknown kernel, generator, device or precision.
std::vector<std::string> product_words(const Value& settings);

// The kernels that a run measures; empty: all of the device.
std::vector<std::string> kernels_of(const Value& settings);

// kernel_bench beside `solve`, in the folder beside its folder (a build tree), or else in PATH.
std::filesystem::path bench_program(const std::filesystem::path& solve);

}  // namespace trireme::study
