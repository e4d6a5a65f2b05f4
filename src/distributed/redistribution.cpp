// SPDX-License-Identifier: BSD-3-Clause
// One exchange between all ranks per array; arrays are let go of as soon as they were sent.
#include "distributed/redistribution.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/free_memory.hpp"
#include "distributed/column_set.hpp"
#include "distributed/halo.hpp"
#include "parallel/collective.hpp"
#include "parallel/message_starts.hpp"

namespace trireme {
namespace {

// What messages have, in the words of an error.
constexpr std::string_view kElements = "nonzeros by graph partitioning";

template <class Number>
MPI_Datatype type_of() {
  if constexpr (std::is_same_v<Number, double>)
    return MPI_DOUBLE;
  else
    return MPI_INT32_T;
}

Array<std::int32_t> lengths_of(std::span<const std::int32_t> row_ptr) {
  Array<std::int32_t> lengths(row_ptr.size() - 1);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = row_ptr[row + 1] - row_ptr[row];
  return lengths;
}

}  // namespace

Redistribution::Redistribution(MPI_Comm comm, std::vector<std::int64_t> from,
                               std::vector<std::int64_t> to, Array<std::int32_t> new_rows)
    : comm_(comm), from_(std::move(from)), to_(std::move(to)), new_rows_(std::move(new_rows)) {
  const int ranks = size_of(comm_);
  const int rank = rank_of(comm_);
  rows_.send.assign(ranks, 0);
  rows_.receive.assign(ranks, 0);
  Array<std::int32_t> packed;
  collectively(comm_, [&] {
    std::vector<std::int32_t> owners(new_rows_.size());
    for (std::size_t row = 0; row < new_rows_.size(); ++row) {
      if (new_rows_[row] < 0 || new_rows_[row] >= to_.back())
        fail(ExitCode::internal, "row {} has the new number {} of {}", row, new_rows_[row],
             to_.back());
      const auto after = std::upper_bound(to_.begin(), to_.end(), new_rows_[row]);
      owners[row] = static_cast<std::int32_t>(after - to_.begin()) - 1;
      ++rows_.send[owners[row]];
    }
    rows_.send_at = message_starts(rows_.send, kElements);
    send_rows_.resize(new_rows_.size());
    packed.resize(new_rows_.size());
    std::vector<int> next = rows_.send_at;
    for (std::size_t row = 0; row < new_rows_.size(); ++row) {
      const int at = next[owners[row]]++;
      send_rows_[at] = static_cast<std::int32_t>(row);
      packed[at] = new_rows_[row];
    }
  });
  MPI_Alltoall(rows_.send.data(), 1, MPI_INT, rows_.receive.data(), 1, MPI_INT, comm_);
  const std::int64_t first = to_[rank], count = to_[rank + 1] - first;
  collectively(comm_, [&] {
    rows_.receive_at = message_starts(rows_.receive, kElements);
    const std::int64_t arrive =
        std::accumulate(rows_.receive.begin(), rows_.receive.end(), std::int64_t{0});
    if (arrive != count)
      fail(ExitCode::internal, "{} rows go to a rank that has {} rows", arrive, count);
  });
  positions_ = moved(packed, rows_);
  collectively(comm_, [&] {
    std::vector<bool> seen(count, false);
    for (std::int32_t& position : positions_) {
      position -= static_cast<std::int32_t>(first);
      if (seen[position])
        fail(ExitCode::internal, "two rows have the new number {}", first + position);
      seen[position] = true;
    }
  });
}

template <class Number>
Array<Number> Redistribution::moved(const Array<Number>& packed, const Counts& counts) const {
  Array<Number> arrived;
  collectively(comm_, [&] {
    arrived.resize(static_cast<std::size_t>(counts.receive_at.back()) + counts.receive.back());
  });
  MPI_Alltoallv(packed.data(), counts.send.data(), counts.send_at.data(), type_of<Number>(),
                arrived.data(), counts.receive.data(), counts.receive_at.data(), type_of<Number>(),
                comm_);
  return arrived;
}

Redistribution::Counts Redistribution::counts_of_entries(
    std::span<const std::int32_t> lengths, std::span<const std::int32_t> arrived_lengths) const {
  Counts counts;
  const auto ranks = rows_.send.size();
  for (std::size_t r = 0; r < ranks; ++r) {
    int entries = 0;
    for (int k = rows_.send_at[r]; k < rows_.send_at[r] + rows_.send[r]; ++k)
      entries += lengths[send_rows_[k]];
    counts.send.push_back(entries);
    std::int64_t arrive = 0;
    for (int k = rows_.receive_at[r]; k < rows_.receive_at[r] + rows_.receive[r]; ++k)
      arrive += arrived_lengths[k];
    counts.receive.push_back(static_cast<int>(arrive));
  }
  counts.send_at = message_starts(counts.send, kElements);
  counts.receive_at = message_starts(counts.receive, kElements);
  return counts;
}

template <class Number>
Array<Number> Redistribution::pack(std::span<const Number> entries,
                                   std::span<const std::int32_t> row_ptr) const {
  Array<Number> packed(entries.size());
  auto to = packed.begin();
  for (const std::int32_t row : send_rows_)
    to = std::copy(entries.begin() + row_ptr[row], entries.begin() + row_ptr[row + 1], to);
  return packed;
}

Array<std::int32_t> Redistribution::arrived_lengths(std::span<const std::int32_t> row_ptr) const {
  Array<std::int32_t> packed;
  collectively(comm_, [&] {
    const Array<std::int32_t> lengths = lengths_of(row_ptr);
    packed.resize(lengths.size());
    for (std::size_t k = 0; k < packed.size(); ++k) packed[k] = lengths[send_rows_[k]];
  });
  return moved(packed, rows_);
}

// New numbers of rows of other ranks come as doubles, which hold every 32-bit integer.
Array<std::int32_t> Redistribution::new_numbers_of(std::span<const std::int32_t> columns) const {
  const int rank = rank_of(comm_);
  const std::int64_t first = from_[rank], last = from_[rank + 1];
  const auto owned = [&](std::int64_t column) { return column >= first && column < last; };
  ColumnSet set(0, 0);
  Array<std::int64_t> ghosts;
  collectively(comm_, [&] {
    set = columns_outside(columns, first, last);
    ghosts = set.list();
  });
  const HaloPlan plan = plan_halo(comm_, from_, std::span<const std::int64_t>(ghosts));
  Array<double> packed, of_ghosts;
  collectively(comm_, [&] {
    packed.resize(plan.send_rows.size());
    of_ghosts.resize(ghosts.size());
    for (std::size_t k = 0; k < packed.size(); ++k) packed[k] = new_rows_[plan.send_rows[k]];
  });
  HaloExchange exchange(comm_, plan, packed, of_ghosts);
  exchange.begin();
  exchange.end();
  Array<std::int32_t> renamed;
  collectively(comm_, [&] {
    renamed.resize(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::int32_t column = columns[k];
      renamed[k] = owned(column) ? new_rows_[column - first]
                                 : static_cast<std::int32_t>(of_ghosts[set.index(column)]);
    }
  });
  return renamed;
}

RowSlab Redistribution::matrix(RowSlab&& slab, bool keep_entries) {
  RowSlab result{.global_rows = slab.global_rows,
                 .global_cols = slab.global_cols,
                 .global_nnz = slab.global_nnz,
                 .first_row = to_[rank_of(comm_)],
                 .local = {}};
  CsrMatrix<double>& a = slab.local;
  a.require_one_block();
  CsrMatrix<double>& b = result.local;
  const Array<std::int32_t> lengths = arrived_lengths(a.row_ptr);
  Array<std::int32_t> columns = new_numbers_of(a.col_idx);
  let_go(a.col_idx);
  Counts counts;
  Array<std::int32_t> packed;
  collectively(comm_, [&] {
    counts = counts_of_entries(lengths_of(a.row_ptr), lengths);
    packed = pack<std::int32_t>(columns, a.row_ptr);
    let_go(columns);
  });
  columns = moved(packed, counts);
  let_go(packed);
  return_free_memory();

  Array<std::int32_t> entries;  // the arrived entry of each entry
  Array<double> packed_values;
  collectively(comm_, [&] {
    b.rows = rows();
    b.cols = slab.local.cols;
    b.row_ptr.resize(b.rows + 1);
    b.row_ptr[0] = 0;
    for (std::int64_t k = 0; k < b.rows; ++k) b.row_ptr[positions_[k] + 1] = lengths[k];
    for (std::int64_t row = 0; row < b.rows; ++row) b.row_ptr[row + 1] += b.row_ptr[row];
    entries.resize(columns.size());
    std::int32_t arrived = 0;
    for (std::int64_t k = 0; k < b.rows; ++k) {
      const auto begin = entries.begin() + b.row_ptr[positions_[k]];
      const auto end = begin + lengths[k];
      std::iota(begin, end, arrived);
      std::sort(begin, end,
                [&](std::int32_t i, std::int32_t j) { return columns[i] < columns[j]; });
      arrived += lengths[k];
    }
    b.col_idx.resize(columns.size());
    for (std::size_t k = 0; k < entries.size(); ++k) b.col_idx[k] = columns[entries[k]];
    let_go(columns);
    return_free_memory();
    packed_values = pack<double>(a.values, a.row_ptr);
    let_go(a.values);
    return_free_memory();
  });
  const Array<double> values = moved(packed_values, counts);
  let_go(packed_values);
  collectively(comm_, [&] {
    b.values.resize(values.size());
    for (std::size_t k = 0; k < entries.size(); ++k) b.values[k] = values[entries[k]];
    if (!keep_entries) return;
    kept_row_ptr_ = std::move(a.row_ptr);
    kept_entries_ = std::move(entries);
    kept_counts_ = std::move(counts);
  });
  return result;
}

Array<double> Redistribution::new_values(std::span<const double> values) const {
  Array<double> packed;
  collectively(comm_, [&] {
    if (kept_row_ptr_.empty() || std::ssize(values) != kept_row_ptr_.back())
      fail(ExitCode::internal, "{} new values come to a matrix that did not keep as many entries",
           values.size());
    packed = pack<double>(values, kept_row_ptr_);
  });
  const Array<double> arrived = moved(packed, kept_counts_);
  Array<double> result;
  collectively(comm_, [&] {
    result.resize(arrived.size());
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = arrived[kept_entries_[k]];
  });
  return result;
}

CsrMatrix<double> Redistribution::local_pattern(const RowSlab& slab) const {
  slab.local.require_one_block();
  const Array<std::int32_t> lengths = arrived_lengths(slab.local.row_ptr);
  Array<std::int32_t> columns = new_numbers_of(slab.local.col_idx);
  Counts counts;
  Array<std::int32_t> packed;
  collectively(comm_, [&] {
    counts = counts_of_entries(lengths_of(slab.local.row_ptr), lengths);
    packed = pack<std::int32_t>(columns, slab.local.row_ptr);
    let_go(columns);
  });
  columns = moved(packed, counts);
  let_go(packed);
  CsrMatrix<double> pattern;
  collectively(comm_, [&] {
    const std::int64_t first = to_[rank_of(comm_)];
    Array<std::int32_t> begins(rows());
    std::int32_t arrived = 0;
    for (std::int64_t k = 0; k < rows(); ++k) {
      begins[k] = arrived;
      arrived += lengths[k];
    }
    Array<std::int32_t> arrival(rows());  // of each row
    for (std::int64_t k = 0; k < rows(); ++k) arrival[positions_[k]] = static_cast<std::int32_t>(k);
    pattern.rows = pattern.cols = rows();
    pattern.row_ptr.resize(rows() + 1);
    pattern.row_ptr[0] = 0;
    const auto local = [&](std::int32_t column) {
      return column >= first && column < first + rows();
    };
    const auto count = std::count_if(columns.begin(), columns.end(), local);
    pattern.col_idx.reserve(count);
    for (std::int64_t row = 0; row < rows(); ++row) {
      const std::int32_t begin = begins[arrival[row]];
      for (std::int32_t k = begin; k < begin + lengths[arrival[row]]; ++k)
        if (local(columns[k]))
          pattern.col_idx.push_back(columns[k] - static_cast<std::int32_t>(first));
      pattern.row_ptr[row + 1] = static_cast<std::int32_t>(pattern.col_idx.size());
    }
  });
  return pattern;
}

Array<double> Redistribution::there(std::span<const double> vector, std::int64_t width) const {
  Array<double> result, packed, arrived;
  collectively(comm_, [&] {
    result.resize(rows() * width);
    packed.resize(new_rows_.size());
  });
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::size_t k = 0; k < packed.size(); ++k) packed[k] = vector[send_rows_[k] * width + j];
    arrived = moved(packed, rows_);
    for (std::size_t k = 0; k < arrived.size(); ++k) result[positions_[k] * width + j] = arrived[k];
  }
  return result;
}

Array<double> Redistribution::back(std::span<const double> vector, std::int64_t width) const {
  const Counts counts{.send = rows_.receive,
                      .send_at = rows_.receive_at,
                      .receive = rows_.send,
                      .receive_at = rows_.send_at};
  Array<double> result, packed, arrived;
  collectively(comm_, [&] {
    result.resize(new_rows_.size() * width);
    packed.resize(positions_.size());
  });
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::size_t k = 0; k < packed.size(); ++k) packed[k] = vector[positions_[k] * width + j];
    arrived = moved(packed, counts);
    for (std::size_t k = 0; k < arrived.size(); ++k) result[send_rows_[k] * width + j] = arrived[k];
  }
  return result;
}

Redistribution Redistribution::reordered(std::span<const std::int32_t> order) const {
  const auto first = static_cast<double>(to_[rank_of(comm_)]);
  Array<double> numbers;
  collectively(comm_, [&] {
    numbers.resize(order.size());
    for (std::size_t place = 0; place < order.size(); ++place)
      numbers[order[place]] = first + static_cast<double>(place);
  });
  const Array<double> returned = back(numbers);
  Array<std::int32_t> new_rows;
  collectively(comm_, [&] {
    new_rows.resize(returned.size());
    std::ranges::transform(returned, new_rows.begin(),
                           [](double number) { return static_cast<std::int32_t>(number); });
  });
  return {comm_, from_, to_, std::move(new_rows)};
}

}  // namespace trireme
