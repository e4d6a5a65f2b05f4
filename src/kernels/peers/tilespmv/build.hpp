// SPDX-License-Identifier: BSD-3-Clause
// Builds the TileSpMV layout on the host.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/peers/tilespmv/format.hpp"
#include "kernels/peers/tilespmv/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme::tilespmv {

// A COO tile with at most this many entries is very sparse. Such a tile takes more bytes than its
// entries take in a CSR: 13 + 9 n instead of 12 n (double), or 13 + 5 n instead of 8 n (float).
inline constexpr int kMaxDeferredEntries = 4;

// The bytes that deferring a tile with n entries saves, beside its values.
constexpr std::int64_t bytes_saved(std::int64_t n) { return 13 + n - 4 * n; }

// Very sparse tiles are deferred, all of them or none: where that saves more bytes than the row
// pointers of the deferred matrix take. The paper too extracts them adaptively; its published
// program does so in every matrix of 1.8 M nonzeros, for all COO tiles.
constexpr bool defers(std::int64_t rows, std::int64_t saved) { return saved > 4 * (rows + 1); }

template <class Value>
struct Built {
  Layout<Value> layout;
  Array<std::uint32_t> position;  // nnz: where in layout.values each value of the CSR lies
  std::vector<BuildStep> steps;   // the first one is named by describe()
};

// Takes O(nnz log n) time, where n is the number of nonzeros in 16 rows. The result does not depend
// on the number of threads. Value: double, float.
template <class Value>
Built<Value> build(const CsrView<Value>& a);

// Stores new values, which are in the order of the CSR, in O(nnz) time.
template <class Value>
void store_values(std::span<const Value> values, Built<Value>& built);

// The number of tiles in each format, at the index of the format.
std::array<std::int64_t, kFormats> count_formats(std::span<const Format> formats);

// "tiles: 3 CSR, 10 COO, 2 ELL, 0 HYB, 1 Dns, 0 DnsRow, 0 DnsCol; 20 entries deferred"
std::string describe(std::span<const Format> formats, std::int64_t deferred);

}  // namespace trireme::tilespmv
