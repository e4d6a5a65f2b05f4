// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the fuzzing harnesses: an input as a file, and the checks that every reader must pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "sparse/csr.hpp"

namespace trireme::fuzz {

// Writes the bytes to a file, in memory where the system allows it. Every input of the process uses
// the same path.
std::filesystem::path as_file(const std::uint8_t* bytes, std::size_t size);

// Runs the reader. It may return, or throw Error{usage, input or resource} with one line of text.
// Anything else is a finding and ends the process, which tells the fuzzer.
void must_read_or_refuse(const std::function<void()>& read);

// A finding unless the matrix has what every reader promises: pointers that fit, columns that are
// in range and ascend in each row, and finite values.
void must_be_canonical(const CsrMatrix<double>& matrix);

// From this call on, the process may map at most this many bytes more than it has mapped before.
// Readers see the limit as the available memory.
void limit_memory(std::size_t bytes);

// Enough for a small input, and soon filled and cleared.
constexpr std::size_t kMaxMemory = std::size_t{512} << 20;

}  // namespace trireme::fuzz
