// SPDX-License-Identifier: BSD-3-Clause
// The file has a matrix (classid, rows, cols, nnz, row lengths, columns, values), and perhaps a
// vector (classid, size, values).
#include "io/petsc_binary.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/canonical_rows.hpp"
#include "io/require_memory.hpp"
#include "io/single_complex.hpp"

namespace trireme {
namespace {

constexpr std::uint64_t matrix_id = 1211216;
constexpr std::uint64_t vector_id = 1211214;

std::uint64_t from_big_endian(const unsigned char* bytes, int width) {
  std::uint64_t word = 0;
  for (int i = 0; i < width; ++i) word = word << 8 | bytes[i];
  return word;
}

bool is_id(std::uint64_t word) { return word == matrix_id || word == vector_id; }

class BigEndianFile {
 public:
  explicit BigEndianFile(const std::filesystem::path& path)
      : name_(path.string()), in_(path, std::ios::binary) {
    if (!in_) fail(ExitCode::input, "{}: cannot be read", name_);
    std::error_code ignored;
    remaining_ = static_cast<std::int64_t>(std::filesystem::file_size(path, ignored));
    // A 64-bit classid begins with four zero bytes.
    unsigned char head[8] = {};
    in_.read(reinterpret_cast<char*>(head), 8);
    in_.clear();
    in_.seekg(0);
    integer_bytes_ = from_big_endian(head, 4) == 0 && is_id(from_big_endian(head, 8)) ? 8 : 4;
  }

  const std::string& name() const { return name_; }
  int integer_bytes() const { return integer_bytes_; }
  std::int64_t remaining() const { return remaining_; }
  bool at_end() const { return remaining_ == 0; }

  std::int64_t integer() {
    std::int64_t value = 0;
    integers(1, [&](std::int64_t, std::int64_t v) { value = v; });
    return value;
  }
  template <class Take>
  void integers(std::int64_t count, Take take) {
    words(count, integer_bytes_, [&](std::int64_t i, std::uint64_t word) {
      take(i,
           integer_bytes_ == 4 ? static_cast<std::int32_t>(word) : static_cast<std::int64_t>(word));
    });
  }
  void reals(std::int64_t count, double* into) {
    words(count, 8,
          [&](std::int64_t i, std::uint64_t word) { into[i] = std::bit_cast<double>(word); });
  }
  // Throws unless this many integers and reals follow. To be called before memory is allocated.
  void expect(std::int64_t integers, std::int64_t reals) const {
    if (integers * integer_bytes_ + reals * 8 > remaining_)
      fail(ExitCode::input, "{}: the file ends too early: {} bytes are left where {} must follow",
           name_, remaining_, integers * integer_bytes_ + reals * 8);
  }

 private:
  template <class Take>
  void words(std::int64_t count, int width, Take take) {
    if (count * width > remaining_) fail(ExitCode::input, "{}: the file ends too early", name_);
    std::vector<unsigned char> block(std::min<std::int64_t>(count, 1 << 17) * width);
    const std::int64_t piece = 1 << 17;
    for (std::int64_t at = 0; at < count; at += piece) {
      const std::int64_t here = std::min(piece, count - at);
      if (!in_.read(reinterpret_cast<char*>(block.data()), here * width))
        fail(ExitCode::input, "{}: cannot be read to its end", name_);
      for (std::int64_t i = 0; i < here; ++i)
        take(at + i, from_big_endian(block.data() + i * width, width));
    }
    remaining_ -= count * width;
  }

  std::string name_;
  std::ifstream in_;
  std::int64_t remaining_ = 0;
  int integer_bytes_ = 4;
};

void check_extent(const BigEndianFile& file, const char* what, std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
    fail(ExitCode::input, "{}: {} {}; must be in 0 .. 2^31-1 (dense matrices cannot be read)",
         file.name(), value, what);
}

// The format does not say how many bytes a value has, but the size of a file does, which holds a
// matrix alone or with its vector. To be called where a file cannot be read as one of doubles:
// `bytes` follow the three numbers of the head.
void refuse_other_widths(const BigEndianFile& file, std::int64_t rows, std::int64_t nnz,
                         std::int64_t bytes) {
  const auto holds = [&](std::int64_t width) {
    const std::int64_t matrix = file.integer_bytes() * (rows + nnz) + width * nnz;
    return bytes == matrix ||
           bytes == matrix + std::int64_t{2} * file.integer_bytes() + width * rows;
  };
  if (holds(4))
    fail(ExitCode::input,
         "{}: its values have 4 bytes, as a PETSc of single precision writes them; write the file "
         "with a PETSc of double precision",
         file.name());
  if (holds(16))
    fail(ExitCode::input,
         "{}: its values have 16 bytes, as a complex PETSc writes them; complex systems are not "
         "supported: give the real form",
         file.name());
}

// Reads the vector whose classid was read last.
void read_vector(BigEndianFile& file, WholeSystem& system) {
  const std::int64_t size = file.integer();
  check_extent(file, "entries", size);
  file.expect(0, size);
  Array<double>& b = system.b.emplace_back(size);
  file.reals(size, b.data());
  if (const auto bad = first_not_finite(b))
    fail(ExitCode::input, "{}: the vector has {} in row {}; values must be finite", file.name(),
         b[*bad], *bad);
  refuse_single_complex(file.name(), b);
}

// Reads the matrix whose classid was read last, and the vector that may follow it.
WholeSystem read_system(BigEndianFile& file) {
  WholeSystem system;
  CsrMatrix<double>& matrix = system.matrix;
  matrix.rows = file.integer();
  matrix.cols = file.integer();
  const std::int64_t nnz = file.integer();
  check_extent(file, "rows", matrix.rows);
  check_extent(file, "columns", matrix.cols);
  check_extent(file, "nonzeros", nnz);
  const std::int64_t bytes = file.remaining();
  if (bytes < file.integer_bytes() * (matrix.rows + nnz) + 8 * nnz)
    refuse_other_widths(file, matrix.rows, nnz, bytes);
  file.expect(matrix.rows + nnz, nnz);
  require_memory(file.name(),
                 csr_bytes(static_cast<double>(matrix.rows), static_cast<double>(nnz)));

  matrix.row_ptr.resize(matrix.rows + 1);
  matrix.row_ptr[0] = 0;
  file.integers(matrix.rows, [&](std::int64_t row, std::int64_t length) {
    if (length < 0 || length > nnz - matrix.row_ptr[row])
      fail(ExitCode::input, "{}: row {} has length {}, which is more than the {} nonzeros allow",
           file.name(), row, length, nnz);
    matrix.row_ptr[row + 1] = matrix.row_ptr[row] + static_cast<std::int32_t>(length);
  });
  if (matrix.row_ptr[matrix.rows] != nnz)
    fail(ExitCode::input, "{}: the row lengths add up to {}, but there are {} nonzeros",
         file.name(), matrix.row_ptr[matrix.rows], nnz);
  matrix.col_idx.resize(nnz);
  file.integers(nnz, [&](std::int64_t k, std::int64_t column) {
    if (column < 0 || column >= matrix.cols)
      fail(ExitCode::input, "{}: entry {} in row {} has column {}, out of range for {} columns",
           file.name(), k, row_of_entry(matrix, k), column, matrix.cols);
    matrix.col_idx[k] = static_cast<std::int32_t>(column);
  });
  matrix.values.resize(nnz);
  file.reals(nnz, matrix.values.data());
  if (const auto bad = first_not_finite(matrix.values))
    fail(ExitCode::input, "{}: {} in row {}, column {}; values must be finite", file.name(),
         matrix.values[*bad], row_of_entry(matrix, *bad), matrix.col_idx[*bad]);
  refuse_single_complex(file.name(), matrix.values);
  system.duplicates_summed = make_rows_canonical(matrix).summed;
  if (file.at_end()) return system;
  if (file.remaining() < file.integer_bytes() ||
      static_cast<std::uint64_t>(file.integer()) != vector_id) {
    refuse_other_widths(file, matrix.rows, nnz, bytes);
    fail(ExitCode::input, "{}: the data after the matrix are no vector", file.name());
  }
  read_vector(file, system);
  if (std::ssize(system.b.front()) != matrix.rows)
    fail(ExitCode::input, "{}: the vector has {} entries, the matrix {} rows", file.name(),
         system.b.front().size(), matrix.rows);
  return system;
}

}  // namespace

bool is_petsc_binary(const std::filesystem::path& path) {
  unsigned char head[8] = {};
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(head), 8);
  return is_id(from_big_endian(head, 4)) || is_id(from_big_endian(head, 8));
}

WholeSystem read_petsc_binary(const std::filesystem::path& path) {
  BigEndianFile file(path);
  const auto id = static_cast<std::uint64_t>(file.integer());
  if (id == vector_id)
    fail(ExitCode::input,
         "{} begins with a vector; a PETSc binary file of a system begins with its "
         "matrix",
         path.string());
  if (id != matrix_id)
    fail(ExitCode::input, "{} is no PETSc binary matrix: it does not begin with 1211216",
         path.string());
  return read_system(file);
}

WholeSystem read_petsc_vector(const std::filesystem::path& path) {
  BigEndianFile file(path);
  if (static_cast<std::uint64_t>(file.integer()) != vector_id) return read_petsc_binary(path);
  WholeSystem system;
  read_vector(file, system);
  return system;
}

}  // namespace trireme
