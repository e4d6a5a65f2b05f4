// SPDX-License-Identifier: BSD-3-Clause
// Recognises the layouts by the names of datasets and attributes.
#include "io/stored_matrix.hpp"

#include <fmt/ranges.h>

#include <limits>
#include <vector>

#include "base/error.hpp"

namespace trireme {
namespace {

using hdf5::Group;
using hdf5::Kind;

// What is at the place of a matrix that is no group.
[[noreturn]] void fail_for_dataset(const hdf5::File& file, const std::string& path) {
  const hdf5::Dataset dataset = file.dataset(path);
  const std::string type = dataset.type_in_words();
  const bool julia = type.find("colptr") != std::string::npos;
  fail(ExitCode::input,
       "{} is a dataset of {}, and a matrix is a group with indptr, indices and data; {}",
       dataset.name(), type,
       julia
           ? "Julia's JLD2 writes a sparse matrix so: write colptr .- 1, rowval .- 1 and nzval by "
             "HDF5.jl as such a group with format csc"
           : "write it from scipy.sparse.csr_matrix(...)");
}

[[noreturn]] void fail_without_group(const hdf5::File& file, const std::string& path) {
  const std::string label = file.name().substr(0, file.name().find(": /"));
  if (file.has("indptr"))
    fail(ExitCode::input, "{}: no group {}; the file itself has indptr: matrix: /", label, path);
  const std::vector<std::string> groups = file.groups(), datasets = file.datasets();
  std::string there =
      groups.empty() ? "" : fmt::format("give one of: /{}", fmt::join(groups, ", /"));
  if (!datasets.empty())
    there += fmt::format("{}there are the datasets /{}", there.empty() ? "" : "; ",
                         fmt::join(datasets, ", /"));
  if (groups.empty())
    there += fmt::format("{}a matrix is a group with indptr, indices and data",
                         there.empty() ? "" : "; ");
  fail(ExitCode::input, "{}: no group {}{}; {}", label, path,
       groups.empty() ? ", nor any other" : "", there);
}

hdf5::Dataset required(const Group& group, const std::string& name, Kind kind) {
  if (!group.has_dataset(name))
    fail(ExitCode::input, "{}: the dataset {} is missing; the group has: {}", group.name(), name,
         fmt::join(group.datasets(), ", "));
  hdf5::Dataset dataset = group.dataset(name);
  if (dataset.extents().size() != 1)
    fail(ExitCode::input, "{} has {} dimensions; it must have one", dataset.name(),
         dataset.extents().size());
  if (kind == Kind::integer && dataset.kind() != Kind::integer)
    fail(ExitCode::input, "{} holds {}; it must hold integers", dataset.name(),
         dataset.type_in_words());
  dataset.require_numbers();
  return dataset;
}

std::string format_of(const Group& group) {
  for (const char* name : {"format", "encoding-type", "h5sparse_format"})
    if (const auto value = group.string_attribute(name)) return *value;
  return "csr";
}

std::vector<std::int64_t> shape_of(const Group& group) {
  for (const char* name : {"shape", "h5sparse_shape"}) {
    const auto value = group.integer_attribute(name);
    if (value && value->size() == 2) return *value;
    if (value)
      fail(ExitCode::input, "{}: the attribute {} has {} numbers; two are needed, [rows, columns]",
           group.name(), name, value->size());
  }
  if (group.has_dataset("shape"))
    fail(ExitCode::input,
         "{}: shape is a dataset, as 10x Genomics writes it, and must be an attribute; with h5py: "
         "g.attrs[\"shape\"] = g[\"shape\"][:] and g.attrs[\"format\"] = \"csc\"",
         group.name());
  fail(ExitCode::input, "{}: the attribute shape = [rows, cols] is missing; add it", group.name());
}

void open_data(const Group& group, const char* indices, StoredMatrix& matrix) {
  matrix.indices = required(group, indices, Kind::integer);
  matrix.values = required(group, "data", Kind::real);
  matrix.nnz = matrix.indices.extents()[0];
  if (matrix.values.extents()[0] != matrix.nnz)
    fail(ExitCode::input, "{} has {} entries, but {} has {}; they must agree", matrix.values.name(),
         matrix.values.extents()[0], matrix.indices.name(), matrix.nnz);
}

StoredMatrix find_scipy(const Group& group) {
  StoredMatrix matrix;
  const std::string format = format_of(group);
  if (format.starts_with("csc"))
    matrix.by = Compressed::columns;
  else if (!format.starts_with("csr"))
    fail(ExitCode::input, "{}: format is \"{}\"; csr and csc can be read (scipy: A.tocsr())",
         group.name(), format);
  matrix.pointers = required(group, "indptr", Kind::integer);
  const std::vector<std::int64_t> shape = shape_of(group);
  matrix.rows = shape[0];
  matrix.cols = shape[1];
  open_data(group, "indices", matrix);
  return matrix;
}

// The attribute MATLAB_sparse counts the dimension that the pointers do not run over: the columns
// for PETSc, the rows for MATLAB.
StoredMatrix find_petsc_or_matlab(const Group& group) {
  StoredMatrix matrix;
  const bool matlab = group.has_attribute("MATLAB_class");
  const auto other_extent = group.integer_attribute("MATLAB_sparse");
  if (!other_extent || other_extent->size() != 1)
    fail(ExitCode::input, "{}: the attribute MATLAB_sparse (the number of {}) is missing",
         group.name(), matlab ? "rows" : "columns");
  matrix.pointers = required(group, "jc", Kind::integer);
  const std::int64_t pointed = matrix.pointers.extents()[0] - 1;
  matrix.by = matlab ? Compressed::columns : Compressed::rows;
  matrix.rows = matlab ? other_extent->front() : pointed;
  matrix.cols = matlab ? pointed : other_extent->front();
  // MATLAB leaves out ir and data where there is no nonzero.
  if (!matlab || group.has("ir")) open_data(group, "ir", matrix);
  return matrix;
}

void check_shape(const Group& group, const StoredMatrix& matrix) {
  const bool by_rows = matrix.by == Compressed::rows;
  const std::int64_t most = by_rows ? kMostRows : std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t extent : {matrix.rows, matrix.cols})
    if (extent < 0 || extent > most)
      fail(ExitCode::input, "{} is {} x {}; rows and columns must be in 0 .. {}", group.name(),
           matrix.rows, matrix.cols, by_rows ? "2^40" : "2^31-1 for a matrix by columns");
  if (matrix.pointers.extents()[0] != matrix.pointer_count())
    fail(ExitCode::input, "{} has {} entries; a {} x {} matrix needs {}", matrix.pointers.name(),
         matrix.pointers.extents()[0], matrix.rows, matrix.cols, matrix.pointer_count());
}

}  // namespace

StoredMatrix find_matrix(const hdf5::File& file, const std::string& path) {
  if (file.has_dataset(path)) fail_for_dataset(file, path);
  if (!file.has_group(path)) fail_without_group(file, path);
  const Group group = file.group(path);
  StoredMatrix matrix;
  if (group.has("indptr"))
    matrix = find_scipy(group);
  else if (group.has("jc"))
    matrix = find_petsc_or_matlab(group);
  else
    fail(ExitCode::input,
         "{}: no matrix: neither indptr, indices, data nor jc, ir, data; the group has: {}",
         group.name(), fmt::join(group.datasets(), ", "));
  matrix.name = group.name();
  check_shape(group, matrix);
  return matrix;
}

}  // namespace trireme
