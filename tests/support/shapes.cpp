// SPDX-License-Identifier: BSD-3-Clause
#include "support/shapes.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace trireme::test {

template <class Value>
CsrMatrix<Value> matrix_with_row_lengths(const std::vector<std::int64_t>& lengths,
                                         std::int64_t cols, std::uint64_t seed, Columns order) {
  Random random(seed);
  CsrMatrix<Value> a;
  a.rows = static_cast<std::int64_t>(lengths.size());
  a.cols = cols;
  std::vector<std::int32_t> all_columns(cols);
  for (std::int64_t c = 0; c < cols; ++c) all_columns[c] = static_cast<std::int32_t>(c);
  const auto nnz = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  a.col_idx.resize(nnz);
  a.values.resize(nnz);
  std::int64_t end = 0;  // of the rows so far
  for (const std::int64_t length : lengths) {
    for (std::int64_t k = 0; k < length; ++k)  // partial Fisher-Yates
      std::swap(all_columns[k], all_columns[k + random.below(cols - k)]);
    std::int32_t* const columns = a.col_idx.data() + end;
    std::copy_n(all_columns.begin(), length, columns);
    if (order == Columns::ascending) std::sort(columns, columns + length);
    for (std::int64_t k = 0; k < length; ++k) a.values[end + k] = random.value<Value>();
    end += length;
    a.row_ptr.push_back(static_cast<std::int32_t>(end));
  }
  return a;
}

std::vector<std::int64_t> random_lengths(std::int64_t rows, std::int64_t shortest,
                                         std::int64_t longest, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> lengths(rows);
  for (std::int64_t& length : lengths) length = shortest + random.below(longest - shortest + 1);
  return lengths;
}

std::vector<std::int64_t> mixed_lengths(const std::vector<std::int64_t>& kinds,
                                        std::int64_t rows_of_each, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> lengths;
  for (const std::int64_t kind : kinds) lengths.insert(lengths.end(), rows_of_each, kind);
  for (std::size_t k = lengths.size(); k > 1; --k)
    std::swap(lengths[k - 1], lengths[random.below(k)]);
  return lengths;
}

template <class Value>
std::vector<Shape<Value>> contract_shapes(const std::string& only) {
  std::vector<Shape<Value>> shapes;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& lengths,
                       std::int64_t cols, std::uint64_t seed, Columns order = Columns::ascending) {
    if (only.empty() || only == name)
      shapes.push_back({name, matrix_with_row_lengths<Value>(lengths, cols, seed, order)});
  };
  using Lengths = std::vector<std::int64_t>;

  add("Empty0x0", {}, 0, 1);
  add("NoRows", {}, 5, 1);
  add("NoColumns", Lengths(5, 0), 0, 1);
  add("OneByOne", {1}, 1, 2);
  add("OneByOneEmpty", {0}, 1, 2);
  add("AllRowsEmpty", Lengths(1000, 0), 1000, 3);
  add("SomeRowsEmpty", random_lengths(997, 0, 2), 997, 4);

  Lengths gaps(3000, 0);  // long runs of empty rows, at both ends too
  for (std::int64_t row = 1000; row < 2000; row += 97) gaps[row] = 40;
  add("RunsOfEmptyRows", gaps, 3000, 5);

  add("OneDenseRowOnly", {5000}, 5000, 6);
  Lengths dense_row(4000, 3);
  dense_row[1234] = 4000;
  add("OneDenseRow", dense_row, 4000, 7);
  Lengths ends = dense_row;
  ends.front() = ends.back() = 4000;
  add("DenseFirstAndLastRow", ends, 4000, 8);
  add("OneDenseColumn", Lengths(3001, 1), 1, 9);
  add("Wide", random_lengths(37, 0, 300), 9000, 10);
  add("Tall", random_lengths(9000, 0, 7), 37, 11);
  add("SmallAndDense", Lengths(33, 33), 33, 12);
  add("UnsortedColumns", random_lengths(700, 0, 600), 2000, 13, Columns::unsorted);

  add("OnlyLongRows", random_lengths(67, 257, 3000), 4000, 14);
  add("OnlyMediumRows", random_lengths(1003, 5, 256), 2000, 15);
  add("OnlyShortRows", random_lengths(5003, 1, 4), 5003, 16);
  for (std::int64_t length = 1; length <= 5; ++length)
    add("RowsOf" + std::to_string(length), Lengths(531, length), 531, 20 + length);
  add("ShortAndMedium", random_lengths(3001, 0, 9), 3001, 30);
  add("AroundFour", mixed_lengths({3, 4, 5}, 101), 400, 31);
  add("Around256", mixed_lengths({255, 256, 257}, 13), 700, 32);
  add("LongAndShort", mixed_lengths({1, 2, 600}, 41), 1000, 33);
  add("EveryLengthTo600", random_lengths(1500, 0, 600), 1500, 34);
  add("AllMixed", mixed_lengths({0, 1, 2, 3, 4, 5, 8, 31, 32, 33, 64, 255, 256, 257, 599, 2500}, 9),
      3000, 35, Columns::unsorted);
  return shapes;
}

template <class Value>
CsrMatrix<Value> contract_shape(const std::string& name) {
  auto shapes = contract_shapes<Value>(name);
  if (shapes.empty()) throw std::invalid_argument("no shape of the contract is called " + name);
  return std::move(shapes.front().matrix);
}

template CsrMatrix<double> matrix_with_row_lengths(const std::vector<std::int64_t>&, std::int64_t,
                                                   std::uint64_t, Columns);
template CsrMatrix<float> matrix_with_row_lengths(const std::vector<std::int64_t>&, std::int64_t,
                                                  std::uint64_t, Columns);
template CsrMatrix<std::int32_t> matrix_with_row_lengths(const std::vector<std::int64_t>&,
                                                         std::int64_t, std::uint64_t, Columns);
template CsrMatrix<Half> matrix_with_row_lengths(const std::vector<std::int64_t>&, std::int64_t,
                                                 std::uint64_t, Columns);
template std::vector<Shape<double>> contract_shapes(const std::string&);
template std::vector<Shape<float>> contract_shapes(const std::string&);
template std::vector<Shape<std::int32_t>> contract_shapes(const std::string&);
template std::vector<Shape<Half>> contract_shapes(const std::string&);
template CsrMatrix<double> contract_shape(const std::string&);
template CsrMatrix<float> contract_shape(const std::string&);
template CsrMatrix<std::int32_t> contract_shape(const std::string&);
template CsrMatrix<Half> contract_shape(const std::string&);

}  // namespace trireme::test
