// SPDX-License-Identifier: BSD-3-Clause
// What the fuzzing harnesses share: an input as a file, and the promise that every reader keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "sparse/csr.hpp"

namespace trireme::fuzz {

// The bytes as a file, in memory where the system allows it. The same path serves every input of
// the process.
std::filesystem::path as_file(const std::uint8_t* bytes, std::size_t size);

// Runs the reader. It may return, or throw Error{usage, input or resource} with one line of text;
// everything else ends the process, which is how a fuzzer is told of a finding.
void must_read_or_refuse(const std::function<void()>& read);

// A finding unless the matrix is what every reader promises: pointers that fit, columns in range
// that ascend in each row, finite values.
void must_be_canonical(const CsrMatrix<double>& matrix);

// From here on this process may map at most so many bytes more than it has mapped already. Readers
// see the limit as the memory that is available.
void limit_memory(std::size_t bytes);

// Enough for what a small input needs, and soon filled and cleared.
constexpr std::size_t kMaxMemory = std::size_t{512} << 20;

}  // namespace trireme::fuzz
