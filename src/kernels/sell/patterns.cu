// SPDX-License-Identifier: BSD-3-Clause
// Finds patterns on the device: all rows enter their hashes into a table in parallel, the host
// numbers the entries of the table in the order of their first rows, and all rows are compared with
// the patterns of their first rows. Which place of the table a hash gets differs from run to run;
// the numbers do not.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/half.hpp"
#include "device/check.hpp"
#include "kernels/sell/patterns_cuda.hpp"

namespace trireme::sell {
namespace {

constexpr int kThreads = 256;
constexpr int kChunk = 8;                   // entries of a row that a warp loads at a time
constexpr int kStride = kChunk + 1;         // of rows in shared memory, against bank conflicts
constexpr std::uint32_t kPlaces = 1 << 13;  // of the table: a quarter is in use at most
constexpr std::uint16_t kNoPlace = 0xffff;  // of rows without entries

struct Table {
  unsigned long long* hashes;  // 0: the place is free
  std::uint32_t* first_rows;   // ~row of the first of the caller's rows with the hash; 0: none
  std::int32_t* count;         // of hashes
};

struct Row {
  std::int32_t number, begin, length;  // the caller's row, its first entry and its entries
};

// The row of position `at` in the order of the layout; without entries where there is none.
template <class Value>
__device__ Row row_at(const PatternRows<Value>& rows, std::int64_t at) {
  if (at >= rows.slice_rows) return {};
  const std::int32_t number = rows.row_order ? rows.row_order[at] : static_cast<std::int32_t>(at);
  const std::int32_t begin = rows.row_ptr[number];
  return {number, begin, rows.row_ptr[number + 1] - begin};
}

template <class Value>
using Bits =
    std::conditional_t<sizeof(Value) == 8, unsigned long long,
                       std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint16_t>>;

template <class Value>
__device__ Bits<Value> bits_at(const Value* value) {
  return __ldg(reinterpret_cast<const Bits<Value>*>(value));
}

__device__ std::int64_t this_row() {
  return blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
}
int blocks_for(std::int64_t rows) { return static_cast<int>((rows + kThreads - 1) / kThreads); }

// A chunk of each row of a warp.
template <class Value>
struct Chunks {
  Bits<Value> bits[kLanes * kStride];
  std::int32_t columns[kLanes * kStride];
};
template <class Value>
struct BlockChunks {
  Chunks<Value> of_warp[kThreads / kLanes];
};

// Calls visit(j, difference, bits of the value) for the entries of this lane's row. Eight lanes
// load the chunk of a row, so that the loads of a warp are contiguous where its rows are; then each
// lane reads its own row from shared memory. The whole warp calls it.
template <class Value, class Visit>
__device__ __forceinline__ void for_entries(const PatternRows<Value>& rows, const Row& row,
                                            bool with_columns, BlockChunks<Value>& memory,
                                            const Visit& visit) {
  Chunks<Value>& chunks = memory.of_warp[threadIdx.x / kLanes];
  const int lane = threadIdx.x % kLanes;
  const std::int32_t longest = __reduce_max_sync(0xffffffffu, row.length);
  constexpr int loads = kChunk;  // kLanes rows of kChunk entries by kLanes lanes
  Bits<Value> bits[loads];
  std::int32_t column[loads];
  const auto row_of_load = [&](int i) { return i * (kLanes / kChunk) + lane / kChunk; };
  const auto load_chunk = [&](std::int32_t first) {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const std::int32_t begin = __shfl_sync(0xffffffffu, row.begin, row_of_load(i));
      const std::int32_t length = __shfl_sync(0xffffffffu, row.length, row_of_load(i));
      const std::int32_t j = first + lane % kChunk;
      bits[i] = j < length && rows.values ? bits_at(rows.values + begin + j) : Bits<Value>{};
      column[i] = j < length && with_columns ? __ldg(rows.col_idx + begin + j) : 0;
    }
  };
  load_chunk(0);
  for (std::int32_t first = 0; first < longest; first += kChunk) {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int at = row_of_load(i) * kStride + lane % kChunk;
      chunks.bits[at] = bits[i];
      if (with_columns) chunks.columns[at] = column[i];
    }
    __syncwarp();
    if (first + kChunk < longest) load_chunk(first + kChunk);  // while this chunk is visited
#pragma unroll
    for (int j = 0; j < kChunk; ++j) {
      const int at = lane * kStride + j;
      if (first + j < row.length)
        visit(first + j, with_columns ? chunks.columns[at] - row.number : 0, chunks.bits[at]);
    }
    __syncwarp();
  }
}

template <class T>
__device__ T latest(const T* number) {
  return *static_cast<const volatile T*>(number);
}

// Returns the place of the hash, or kNoPlace where the table has more than `most` hashes.
__device__ std::uint16_t enter(const Table& table, std::int32_t most, unsigned long long hash,
                               std::int32_t row) {
  for (std::uint32_t place = hash % kPlaces;; place = (place + 1) % kPlaces) {
    unsigned long long found = latest(table.hashes + place);
    if (found != hash && latest(table.count) > most) return kNoPlace;
    if (found == 0) {
      found = atomicCAS(table.hashes + place, 0ULL, hash);
      if (found == 0) {
        atomicAdd(table.count, 1);
        found = hash;
      }
    }
    if (found != hash) continue;
    const auto entry = ~static_cast<std::uint32_t>(row);
    if (latest(table.first_rows + place) < entry) atomicMax(table.first_rows + place, entry);
    return static_cast<std::uint16_t>(place);
  }
}

template <class Value>
__global__ void __launch_bounds__(kThreads, 4)
    enter_rows(PatternRows<Value> rows, Table table, std::int32_t most,
               std::uint16_t* place_of_row) {
  __shared__ BlockChunks<Value> memory;
  if (__any_sync(0xffffffffu, latest(table.count) > most)) return;  // the whole warp
  const Row row = row_at(rows, this_row());
  std::uint64_t sum = 0;
  for_entries(
      rows, row, true, memory, [&](std::int32_t j, std::int32_t difference, Bits<Value> bits) {
        sum += rows.values ? repeated_term(j, difference, bits) : pattern_term(j, difference);
      });
  if (this_row() >= rows.slice_rows) return;
  place_of_row[this_row()] =
      row.length == 0 ? kNoPlace : enter(table, most, pattern_hash(sum, row.length), row.number);
}

// The differences and the values of all patterns, `width` of each; null: not asked for.
template <class Value>
struct PatternEntries {
  std::int32_t width;
  std::int32_t* differences;
  Value* values;
};

// One block writes one pattern. Pattern 0 has no row and no entries.
template <class Value>
__global__ void write_patterns(PatternRows<Value> rows,
                               const std::int32_t* __restrict__ pattern_rows,
                               PatternEntries<Value> to) {
  const std::int32_t row = max(pattern_rows[blockIdx.x], 0);
  const std::int32_t begin = rows.row_ptr[row];
  const std::int32_t length = blockIdx.x == 0 ? 0 : rows.row_ptr[row + 1] - begin;
  for (std::int32_t j = threadIdx.x; j < to.width; j += blockDim.x) {
    const std::int32_t at = blockIdx.x * to.width + j;
    if (to.differences)
      to.differences[at] = j < length ? rows.col_idx[begin + j] - row : kNoDifference;
    if (to.values && j < length) to.values[at] = rows.values[begin + j];
  }
}

// True where the entries of this lane's row are those of its pattern. The whole warp calls it.
template <class Value>
__device__ __forceinline__ bool has_entries_of(const PatternEntries<Value>& patterns, int pattern,
                                               const PatternRows<Value>& rows, const Row& row,
                                               BlockChunks<Value>& memory) {
  bool same = true;
  const bool with_columns = patterns.differences != nullptr;
  const std::int32_t first = pattern * patterns.width;
  for_entries(rows, row, with_columns, memory,
              [&](std::int32_t j, std::int32_t difference, Bits<Value> bits) {
                if (with_columns) same &= difference == __ldg(patterns.differences + first + j);
                if (patterns.values) same &= bits == bits_at(patterns.values + first + j);
              });
  return same;
}

// Writes the pattern of each row, and sets *differs where a row does not have the entries of its
// pattern, whose hash is the same.
template <class Value>
__global__ void __launch_bounds__(kThreads, 4)
    number_rows(PatternRows<Value> rows, const std::uint16_t* __restrict__ place_of_row,
                const std::uint16_t* __restrict__ pattern_of_place, PatternEntries<Value> patterns,
                PatternId* of_rows, std::int32_t* differs) {
  __shared__ BlockChunks<Value> memory;
  const int size = kLanes * rows.lane_rows;
  const std::int64_t at = this_row();
  const std::uint16_t place = at < rows.slice_rows ? place_of_row[at] : kNoPlace;
  const int pattern = place == kNoPlace ? 0 : pattern_of_place[place];
  const Row row = row_at(rows, at);
  bool same = has_entries_of(patterns, pattern, rows, row, memory);
  if (row.length < patterns.width)
    same &= patterns.differences[pattern * patterns.width + row.length] == kNoDifference;
  if (!same) *differs = 1;
  if (at < rows.slices * size)
    of_rows[at / size * size + position(static_cast<int>(at % size), rows.lane_rows)] =
        static_cast<PatternId>(pattern);
}

// Sets *differs where a row does not have the values of its pattern.
template <class Value>
__global__ void __launch_bounds__(kThreads, 4)
    compare_rows(PatternRows<Value> rows, const PatternId* __restrict__ of_rows,
                 PatternEntries<Value> patterns, std::int32_t* differs) {
  __shared__ BlockChunks<Value> memory;
  const std::int64_t at = this_row();
  const int pattern = at < rows.slice_rows ? static_cast<int>(of_rows[at]) : 0;
  if (!has_entries_of(patterns, pattern, rows, row_at(rows, at), memory)) *differs = 1;
}

// The first rows of all patterns, in ascending order after the -1 of pattern 0, and the pattern of
// each place.
struct Numbers {
  std::vector<std::int32_t> first_rows{-1};
  std::vector<std::uint16_t> pattern_of_place = std::vector<std::uint16_t>(kPlaces);
};

Numbers number(const std::vector<std::uint32_t>& table) {
  std::vector<std::pair<std::uint32_t, std::uint16_t>> found;  // row, place
  for (std::uint32_t place = 0; place < kPlaces; ++place)
    if (table[place] != 0) found.emplace_back(~table[place], static_cast<std::uint16_t>(place));
  std::sort(found.begin(), found.end());
  Numbers numbers;
  for (const auto& [row, place] : found) {
    numbers.pattern_of_place[place] = static_cast<std::uint16_t>(numbers.first_rows.size());
    numbers.first_rows.push_back(static_cast<std::int32_t>(row));
  }
  return numbers;
}

// The maximum number of patterns, that of rows without entries included.
std::int32_t max_patterns(std::int32_t width, std::int64_t nnz, bool with_values) {
  std::int32_t patterns = 0;
  while ((with_values ? few_repeated_rows : few_patterns)(patterns + 1, width, nnz)) ++patterns;
  return patterns;
}

template <class Buffer, class T>
Buffer on_device(const std::vector<T>& from, StreamRef stream) {
  Buffer to(from.size(), stream);
  copy_to_device(std::span<const T>(from), to.span(), stream);
  return to;
}

}  // namespace

template <class Value>
DevicePatterns find_patterns(const PatternRows<Value>& rows, StreamRef stream) {
  const std::int32_t width = pattern_width(rows.longest);
  const std::int32_t most = max_patterns(width, rows.nnz, rows.values != nullptr) - 1;
  if (most < 1) return {};
  ScratchBuffer<unsigned long long> hashes(kPlaces, stream);
  ScratchBuffer<std::uint32_t> table(kPlaces, stream);
  ScratchBuffer<std::int32_t> counters(2, stream);  // hashes; whether a row differs
  ScratchBuffer<std::uint16_t> place_of_row(rows.slice_rows, stream);
  fill_zero(hashes.span(), stream);
  fill_zero(table.span(), stream);
  fill_zero(counters.span(), stream);
  enter_rows<<<blocks_for(rows.slice_rows), kThreads, 0, stream>>>(
      rows, {hashes.data(), table.data(), counters.data()}, most, place_of_row.data());
  check_launch();
  if (read_back(counters.data(), stream) > most) return {};

  std::vector<std::uint32_t> first_rows(kPlaces);
  copy_to_host(table.view(), std::span(first_rows), stream);
  synchronize(stream);
  const Numbers numbers = number(first_rows);
  const auto pattern_of_place =
      on_device<ScratchBuffer<std::uint16_t>>(numbers.pattern_of_place, stream);
  const auto patterns = static_cast<std::int64_t>(numbers.first_rows.size());
  DevicePatterns result{
      .of_rows = DeviceBuffer<PatternId>(rows.slices * kLanes * rows.lane_rows, stream),
      .differences = DeviceBuffer<std::int32_t>(patterns * width, stream),
      .pattern_rows = on_device<DeviceBuffer<std::int32_t>>(numbers.first_rows, stream),
      .width = width};
  ScratchBuffer<Value> values(rows.values ? patterns * width : 0, stream);
  const PatternEntries<Value> entries{width, result.differences.data(),
                                      rows.values ? values.data() : nullptr};
  write_patterns<<<static_cast<unsigned>(patterns), 64, 0, stream>>>(
      rows, result.pattern_rows.data(), entries);
  check_launch();
  number_rows<<<blocks_for(rows.slices * kLanes * rows.lane_rows), kThreads, 0, stream>>>(
      rows, place_of_row.data(), pattern_of_place.data(), entries, result.of_rows.data(),
      counters.data() + 1);
  check_launch();
  if (read_back(counters.data() + 1, stream) != 0) return {};
  return result;
}

template <class Value>
void find_rows_that_differ(const PatternRows<Value>& rows, const DeviceBuffer<PatternId>& of_rows,
                           const DeviceBuffer<std::int32_t>& pattern_rows, std::int32_t width,
                           std::int32_t* differs, StreamRef stream) {
  ScratchBuffer<Value> values(pattern_rows.size() * width, stream);
  const PatternEntries<Value> entries{width, nullptr, values.data()};
  write_patterns<<<static_cast<unsigned>(pattern_rows.size()), 64, 0, stream>>>(
      rows, pattern_rows.data(), entries);
  check_launch();
  compare_rows<<<blocks_for(rows.slice_rows), kThreads, 0, stream>>>(rows, of_rows.data(), entries,
                                                                     differs);
  check_launch();
}

template DevicePatterns find_patterns(const PatternRows<double>&, StreamRef);
template DevicePatterns find_patterns(const PatternRows<float>&, StreamRef);
template DevicePatterns find_patterns(const PatternRows<Half>&, StreamRef);
template void find_rows_that_differ(const PatternRows<double>&, const DeviceBuffer<PatternId>&,
                                    const DeviceBuffer<std::int32_t>&, std::int32_t, std::int32_t*,
                                    StreamRef);
template void find_rows_that_differ(const PatternRows<float>&, const DeviceBuffer<PatternId>&,
                                    const DeviceBuffer<std::int32_t>&, std::int32_t, std::int32_t*,
                                    StreamRef);
template void find_rows_that_differ(const PatternRows<Half>&, const DeviceBuffer<PatternId>&,
                                    const DeviceBuffer<std::int32_t>&, std::int32_t, std::int32_t*,
                                    StreamRef);

}  // namespace trireme::sell
