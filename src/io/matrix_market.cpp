// SPDX-License-Identifier: BSD-3-Clause
// All threads parse chunks of the file; then each fills its rows in the order of the file.
#include "io/matrix_market.hpp"

#include <omp.h>

#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "config/right_hand_sides_beside.hpp"
#include "io/canonical_rows.hpp"
#include "io/matrix_market_parse.hpp"
#include "io/require_memory.hpp"
#include "io/row_cuts.hpp"
#include "io/text_chunks.hpp"

namespace trireme {
namespace {

using matrix_market::Entry;
using matrix_market::Fault;
using matrix_market::Format;
using matrix_market::Header;
using matrix_market::ParsedChunk;
using matrix_market::Symmetry;

struct Parsed {
  Header header;
  std::vector<ParsedChunk> chunks;  // in file order
};

[[noreturn]] void fail_at(const std::filesystem::path& path, std::int64_t line,
                          const std::string& message) {
  fail(ExitCode::input, "{}: line {}: {}", path.string(), line, message);
}

// Checks that the file can hold the entries that its header promises, and that the memory suffices.
void check_claims(const std::filesystem::path& path, const Header& header) {
  constexpr double max_inflated = 1032;                            // the largest ratio of deflate
  const double min_line = header.format == Format::array ? 2 : 4;  // "1\n", "1 1\n"
  const auto entries = static_cast<double>(header.entries);
  std::error_code ignored;
  const auto bytes = static_cast<double>(std::filesystem::file_size(path, ignored));
  if (!ignored && entries * min_line > max_inflated * bytes + min_line)
    fail_at(path, header.lines,
            fmt::format("{} entries are promised, which a file of {:.0f} bytes cannot hold",
                        header.entries, bytes));
  const double mirrored = header.symmetry == Symmetry::general ? 1 : 2;
  require_memory(path.string(), csr_bytes(static_cast<double>(header.rows), mirrored * entries) +
                                    8 * static_cast<double>(header.rows) + sizeof(Entry) * entries);
}

// Throws for the first fault of the file, and for counts that disagree with the header.
void check(const std::filesystem::path& path, const Parsed& parsed) {
  std::int64_t line = parsed.header.lines;
  std::int64_t entries = 0;
  bool has_lower = false, has_upper = false;
  for (const ParsedChunk& chunk : parsed.chunks) {
    if (chunk.fault) fail_at(path, line + chunk.fault->line, chunk.fault->message);
    line += chunk.lines;
    entries += std::ssize(chunk.entries);
    has_lower |= chunk.has_lower;
    has_upper |= chunk.has_upper;
  }
  if (entries > parsed.header.entries)  // reading has stopped there
    fail(ExitCode::input, "{}: more entries than the {} that the size line promises", path.string(),
         parsed.header.entries);
  if (entries != parsed.header.entries)
    fail_at(path, line,
            fmt::format("the file ends after {} entries; its size line promises {}", entries,
                        parsed.header.entries));
  if (parsed.header.symmetry != Symmetry::general && has_lower && has_upper)
    fail(ExitCode::input, "{}: a {} file must hold one triangle only, this one has entries in both",
         path.string(), parsed.header.symmetry == Symmetry::skew ? "skew-symmetric" : "symmetric");
}

// All threads take chunks until the file ends or a thread finds a fault.
Parsed parse(const std::filesystem::path& path) {
  TextChunks text(path);
  Parsed parsed;
  std::string first;
  std::string_view entries;  // the entries of the chunk in which the header ends
  std::int64_t number = 0;
  try {
    matrix_market::HeaderParser header;
    do {
      if (!text.next(first, number)) break;
      entries = first;
    } while (!header.take(entries));
    parsed.header = header.header();
  } catch (const Fault& fault) {
    fail_at(path, fault.line, fault.message);
  }
  check_claims(path, parsed.header);
  parsed.chunks.resize(number + 1);  // the chunks before hold comments only
  parsed.chunks.back() = matrix_market::parse_entries(parsed.header, entries);
  bool stop = parsed.chunks.back().fault.has_value();
  std::int64_t entries_left = parsed.header.entries - std::ssize(parsed.chunks.back().entries);
  stop = stop || entries_left < 0;
  std::mutex mutex;
  std::exception_ptr error;
  const bool more = !text.at_end();
#pragma omp parallel if (more)
  try {
    std::string buffer;
    std::int64_t mine = 0;
    for (bool go_on = !stop; go_on && text.next(buffer, mine);) {
      ParsedChunk chunk = matrix_market::parse_entries(parsed.header, buffer);
      const std::scoped_lock lock(mutex);
      entries_left -= std::ssize(chunk.entries);
      stop = stop || chunk.fault.has_value() || entries_left < 0;
      go_on = !stop;
      if (std::ssize(parsed.chunks) <= mine) parsed.chunks.resize(mine + 1);
      parsed.chunks[mine] = std::move(chunk);
    }
  } catch (...) {
    const std::scoped_lock lock(mutex);
    if (!error) error = std::current_exception();
  }
  if (error) std::rethrow_exception(error);
  check(path, parsed);
  return parsed;
}

// Gives entries of the array format their rows and columns, which follow from their order: column
// by column, of symmetric matrices the lower triangle. Zeros are removed.
void place_array(Parsed& parsed) {
  const Header& header = parsed.header;
  const int below = header.symmetry == Symmetry::skew ? 1 : 0;
  std::int64_t row = header.symmetry == Symmetry::general ? 0 : below;
  std::int64_t column = 0;
  for (ParsedChunk& chunk : parsed.chunks) {
    for (Entry& entry : chunk.entries) {
      entry.row = static_cast<std::int32_t>(row);
      entry.column = static_cast<std::int32_t>(column);
      if (++row == header.rows) {
        ++column;
        row = header.symmetry == Symmetry::general ? 0 : column + below;
      }
    }
    std::erase_if(chunk.entries, [](const Entry& entry) { return entry.value == 0; });
  }
}

// Calls visit(row, column, value) for every entry, mirrored ones included, with a row in the range.
template <class Visit>
void for_rows(const Parsed& parsed, std::int64_t first, std::int64_t last, Visit visit) {
  const Symmetry symmetry = parsed.header.symmetry;
  const auto in_range = [=](std::int32_t row) { return row >= first && row < last; };
  for (const ParsedChunk& chunk : parsed.chunks) {
    for (const Entry& entry : chunk.entries) {
      if (in_range(entry.row)) visit(entry.row, entry.column, entry.value);
      if (symmetry != Symmetry::general && entry.row != entry.column && in_range(entry.column))
        visit(entry.column, entry.row, symmetry == Symmetry::skew ? -entry.value : entry.value);
    }
  }
}

// Each thread fills its own share of the rows in the order of the file, so that no atomic
// operations are needed and sums have the same bits in every run.
WholeSystem to_csr(const std::filesystem::path& path, Parsed&& parsed) {
  WholeSystem system;
  CsrMatrix<double>& matrix = system.matrix;
  matrix.rows = parsed.header.rows;
  matrix.cols = parsed.header.cols;
  matrix.row_ptr.resize(matrix.rows + 1);
  Array<std::int32_t> next(matrix.rows);
  const bool many =
      parsed.header.entries > 50000;  // fewer entries do not repay the start of threads
#pragma omp parallel if (many)
  {
    const std::int64_t first = even_share(matrix.rows, omp_get_num_threads(), omp_get_thread_num());
    const std::int64_t last =
        even_share(matrix.rows, omp_get_num_threads(), omp_get_thread_num() + 1);
    std::fill(next.begin() + first, next.begin() + last, 0);
    for_rows(parsed, first, last, [&](std::int32_t row, std::int32_t, double) { ++next[row]; });
  }
  std::int64_t nnz = 0;
  matrix.row_ptr[0] = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    nnz += next[row];
    if (nnz > std::numeric_limits<std::int32_t>::max())
      fail(ExitCode::resource,
           "{}: more than 2^31-1 nonzeros; one process cannot read that many, so store the matrix "
           "as HDF5",
           path.string());
    next[row] = matrix.row_ptr[row];
    matrix.row_ptr[row + 1] = static_cast<std::int32_t>(nnz);
  }
  matrix.col_idx.resize(nnz);
  matrix.values.resize(nnz);
#pragma omp parallel if (many)
  {
    const std::int64_t first = even_share(matrix.rows, omp_get_num_threads(), omp_get_thread_num());
    const std::int64_t last =
        even_share(matrix.rows, omp_get_num_threads(), omp_get_thread_num() + 1);
    for_rows(parsed, first, last, [&](std::int32_t row, std::int32_t column, double value) {
      const std::int32_t at = next[row]++;
      matrix.col_idx[at] = column;
      matrix.values[at] = value;
    });
  }
  parsed.chunks.clear();
  system.duplicates_summed = make_rows_canonical(matrix).summed;
  return system;
}

}  // namespace

bool is_matrix_market(const std::filesystem::path& path) {
  constexpr std::string_view name = "matrixmarket";
  char start[name.size() + 5] = {};  // behind a byte order mark and %%
  const gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return false;
  const int got = gzread(file, start, sizeof(start));
  gzclose(file);
  const std::string_view banner =
      matrix_market::banner_of(std::string_view(start, std::max(got, 0))).substr(0, name.size());
  return std::equal(name.begin(), name.end(), banner.begin(), banner.end(),
                    [](char expected, char c) {
                      return expected == std::tolower(static_cast<unsigned char>(c));
                    });
}

WholeSystem read_matrix_market(const std::filesystem::path& path) {
  Parsed parsed = parse(path);
  if (parsed.header.format == Format::array) place_array(parsed);
  return to_csr(path, std::move(parsed));
}

WholeSystem read_matrix_market_system(const std::filesystem::path& path) {
  WholeSystem system = read_matrix_market(path);
  system.b_beside = right_hand_sides_beside(path);
  return system;
}

WholeSystem read_matrix_market_vectors(const std::filesystem::path& path) {
  const CsrMatrix<double> matrix = read_matrix_market(path).matrix;
  require_memory(path.string(),
                 static_cast<double>(matrix.cols) *
                     (8.0 * static_cast<double>(matrix.rows) + sizeof(Array<double>)));
  std::vector<Array<double>> vectors(matrix.cols, Array<double>(matrix.rows, 0.0));
  for (std::int64_t row = 0; row < matrix.rows; ++row)
    for (std::int32_t k = matrix.row_ptr[row]; k < matrix.row_ptr[row + 1]; ++k)
      vectors[matrix.col_idx[k]][row] = matrix.values[k];
  WholeSystem system;
  system.b = std::move(vectors);
  return system;
}

}  // namespace trireme
