// SPDX-License-Identifier: BSD-3-Clause
// Rows of all ranks go through rank 0 into one HDF5 file.
#include "io/output_file.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kOutputPieceBytes = 4 << 20;
constexpr int kOutputTag = 0;

template <class T>
hdf5::Dataset create(std::optional<hdf5::File>& file, const std::string& path,
                     const std::vector<std::int64_t>& extents) {
  return file ? file->create_dataset<T>(path, extents) : hdf5::Dataset();
}

}  // namespace

OutputFile::OutputFile(MPI_Comm comm, const std::filesystem::path& path) : comm_(comm) {
  collectively(comm_, [&] {
    if (rank_of(comm_) != 0) return;
    if (std::filesystem::is_directory(path))
      fail(ExitCode::usage, "{} is a directory; name a file to write", path.string());
    staged_ = StagedFile(path);
    file_ = hdf5::File::create(staged_.temporary(), path);
  });
}

template <class T, class Fill>
void OutputFile::write_pieces(const std::string& path, std::vector<std::int64_t> extents,
                              std::int64_t first, std::int64_t count, Fill fill) {
  std::int64_t width = 1;
  for (std::size_t d = 1; d < extents.size(); ++d) width *= extents[d];
  hdf5::Dataset dataset;
  collectively(comm_, [&] { dataset = create<T>(file_, path, extents); });
  through_rank_zero<T>(
      width, first, count, fill,
      [&](std::int64_t at, std::int64_t rows, const T* from) { dataset.write(at, rows, from); });
}

// Each rank has the rows [first, first + count) of `width` numbers each. fill(at, n, into) copies
// the numbers of rows [at, at + n) of these rows to `into`, and write(at, n, from) writes rows of
// all ranks, on rank 0. Rank 0 receives everything even after a failed write, so that no rank waits
// for ever.
template <class T, class Fill, class Write>
void OutputFile::through_rank_zero(std::int64_t width, std::int64_t first, std::int64_t count,
                                   Fill fill, Write write_rows) {
  const int rank = rank_of(comm_);
  const std::int64_t row_bytes = std::max<std::int64_t>(1, width * sizeof(T));
  const std::int64_t piece = std::max<std::int64_t>(1, kOutputPieceBytes / row_bytes);

  std::exception_ptr error;
  const auto write = [&](std::int64_t at, std::int64_t rows, const T* from) {
    if (error) return;
    try {
      write_rows(at, rows, from);
    } catch (...) {
      error = std::current_exception();
    }
  };
  Array<T> buffer;
  const auto each_piece = [&](std::int64_t rows, auto&& handle) {
    for (std::int64_t at = 0; at < rows; at += piece) {
      const std::int64_t here = std::min(piece, rows - at);
      buffer.resize(here * width);
      handle(at, here);
    }
  };
  std::array<std::int64_t, 2> range{first, count};
  if (rank == 0) {
    each_piece(count, [&](std::int64_t at, std::int64_t here) {
      fill(at, here, buffer.data());
      write(first + at, here, buffer.data());
    });
    for (int from = 1; from < size_of(comm_); ++from) {
      MPI_Recv(range.data(), 2, MPI_INT64_T, from, kOutputTag, comm_, MPI_STATUS_IGNORE);
      each_piece(range[1], [&](std::int64_t at, std::int64_t here) {
        MPI_Recv(buffer.data(), static_cast<int>(here * row_bytes), MPI_BYTE, from, kOutputTag,
                 comm_, MPI_STATUS_IGNORE);
        write(range[0] + at, here, buffer.data());
      });
    }
  } else {
    MPI_Send(range.data(), 2, MPI_INT64_T, 0, kOutputTag, comm_);
    each_piece(count, [&](std::int64_t at, std::int64_t here) {
      fill(at, here, buffer.data());
      MPI_Send(buffer.data(), static_cast<int>(here * row_bytes), MPI_BYTE, 0, kOutputTag, comm_);
    });
  }
  agree_on_error(comm_, error);
}

void OutputFile::write_matrix(const std::string& path, const RowSlab& slab) {
  const CsrMatrix<double>& local = slab.local;
  const std::int64_t nnz = local.nnz();
  std::int64_t before = 0;
  std::int64_t total = 0;
  MPI_Exscan(&nnz, &before, 1, MPI_INT64_T, MPI_SUM, comm_);
  MPI_Allreduce(&nnz, &total, 1, MPI_INT64_T, MPI_SUM, comm_);
  if (rank_of(comm_) == 0) before = 0;
  collectively(comm_, [&] {
    if (!file_) return;
    hdf5::Group group = file_->create_group(path);
    const std::array<std::int64_t, 2> shape{slab.global_rows, slab.global_cols};
    group.write_attribute("format", "csr");
    group.write_attribute("shape", shape);
    group.write_attribute("MATLAB_sparse", slab.global_cols);
    group.soft_link("indptr", "jc");
    group.soft_link("indices", "ir");
  });

  // Every rank writes the ends of its rows. Rank 0 writes the leading 0 as well.
  const std::int64_t lead = rank_of(comm_) == 0 ? 1 : 0;
  write_pieces<std::int64_t>(path + "/indptr", {slab.global_rows + 1}, slab.first_row + 1 - lead,
                             local.rows + lead,
                             [&](std::int64_t at, std::int64_t count, std::int64_t* into) {
                               for (std::int64_t i = 0; i < count; ++i)
                                 into[i] = before + local.row_begin(at + i + 1 - lead);
                             });
  const auto write_indices = [&](const auto& columns) {
    using Column = std::decay_t<decltype(columns[0])>;
    write_pieces<Column>(path + "/indices", {total}, before, nnz,
                         [&](std::int64_t at, std::int64_t count, Column* into) {
                           std::copy_n(columns.begin() + at, count, into);
                         });
  };
  if (slab.is_wide())
    write_indices(slab.wide_columns);
  else
    write_indices(local.col_idx);
  write_pieces<double>(path + "/data", {total}, before, nnz,
                       [&](std::int64_t at, std::int64_t count, double* into) {
                         std::copy_n(local.values.begin() + at, count, into);
                       });
}

void OutputFile::write_vectors(const std::string& path, const RowRange& rows,
                               std::span<const Array<double>> vectors) {
  const std::int64_t k = std::ssize(vectors);
  std::vector<std::int64_t> extents{rows.global};
  if (k != 1) extents.push_back(k);
  write_pieces<double>(path, extents, rows.first, rows.count,
                       [&](std::int64_t at, std::int64_t count, double* into) {
                         for (std::int64_t i = 0; i < count; ++i)
                           for (std::int64_t j = 0; j < k; ++j)
                             into[i * k + j] = vectors[j][at + i];
                       });
}

void OutputFile::begin_vectors(const std::string& path, std::int64_t rows) {
  collectively(comm_, [&] {
    if (file_)
      growing_ = file_->create_growing_dataset<double>(
          path, rows, kOutputPieceBytes / static_cast<std::int64_t>(sizeof(double)));
  });
}

void OutputFile::append_vector(const RowRange& rows, std::span<const double> vector) {
  std::int64_t row = 0;
  collectively(comm_, [&] {
    if (!file_) return;
    row = growing_.extents()[0];
    growing_.resize_rows(row + 1);
  });
  through_rank_zero<double>(
      1, rows.first, rows.count,
      [&](std::int64_t at, std::int64_t count, double* into) {
        std::copy_n(vector.begin() + at, count, into);
      },
      [&](std::int64_t at, std::int64_t count, const double* from) {
        growing_.write_in_row(row, at, count, from);
      });
}

void OutputFile::append_alone(std::span<const double> vector) {
  const std::int64_t row = growing_.extents()[0];
  growing_.resize_rows(row + 1);
  growing_.write_in_row(row, 0, std::ssize(vector), vector.data());
}

void OutputFile::write_list(const std::string& path, std::span<const double> values,
                            const std::string& unit) {
  collectively(comm_, [&] {
    if (!file_) return;
    hdf5::Dataset dataset = file_->create_dataset<double>(path, {std::ssize(values)});
    dataset.write(0, std::ssize(values), values.data());
    dataset.write_attribute("unit", unit);
  });
}

void OutputFile::write_attribute(const std::string& name, const std::string& value) {
  collectively(comm_, [&] {
    if (file_) file_->write_attribute(name, value);
  });
}

void OutputFile::commit() {
  collectively(comm_, [&] {
    if (!file_) return;
    growing_ = {};
    file_->close();
    file_.reset();
    staged_.commit();
  });
}

}  // namespace trireme
