// SPDX-License-Identifier: BSD-3-Clause
// Walks along links, and reads the storage properties of datasets.
#include "io/hdf5_own_data.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "io/hdf5_calls.hpp"

namespace trireme::hdf5 {
namespace {

constexpr int max_links = 16;  // soft links that lead to soft links; ends a cycle

std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string word = path.substr(at, end - at);
    if (!word.empty() && word != ".") words.push_back(word);
    at = end + 1;
  }
  return words;
}

void walk(hid_t location, const std::string& path, const std::string& name, int depth) {
  if (depth == max_links)
    fail(ExitCode::input, "{}: more than {} soft links lead from one to the next", name, max_links);
  std::string at = path.starts_with('/') ? "/" : "";
  for (const std::string& word : words_of(path)) {
    const std::string parent = at;
    at += (at.empty() || at == "/" ? "" : "/") + word;
    H5L_info_t link;
    if (H5Lget_info(location, at.c_str(), &link, H5P_DEFAULT) < 0) return;
    if (link.type == H5L_TYPE_HARD) continue;
    if (link.type != H5L_TYPE_SOFT)
      fail(
          ExitCode::input,
          "{}: {} is a link to another file, and such links are not followed; copy the object into "
          "this file (h5copy)",
          name, at);
    std::string target(link.u.val_size, '\0');
    if (H5Lget_val(location, at.c_str(), target.data(), target.size(), H5P_DEFAULT) < 0) return;
    target.resize(std::min(target.size(), target.find('\0')));
    const std::string from = parent.empty() || parent == "/" ? parent : parent + "/";
    walk(location, target.starts_with('/') ? target : from + target, name, depth + 1);
  }
}

double elements_of(const std::vector<hsize_t>& extents) {
  double product = 1;
  for (const hsize_t extent : extents) product *= static_cast<double>(extent);
  return product;
}

// The part, from 0 to 1, of a dataset's bytes that the file has room for. For compressed chunks,
// the part of the chunks.
double part_written(hid_t dataset, hid_t creation, const std::vector<hsize_t>& extents,
                    double bytes) {
#if H5_VERSION_GE(1, 10, 5)
  if (H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_nfilters(creation) > 0) {
    std::vector<hsize_t> chunk(extents.size());
    hsize_t written = 0;
    const Handle space(H5Dget_space(dataset));
    if (H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) < 0 ||
        H5Dget_num_chunks(dataset, space.get(), &written) < 0)
      return 1;
    double chunks = 1;
    for (std::size_t i = 0; i < extents.size(); ++i)
      chunks *= std::ceil(static_cast<double>(extents[i]) / static_cast<double>(chunk[i]));
    return static_cast<double>(written) / chunks;
  }
#endif
  const auto stored = static_cast<double>(H5Dget_storage_size(dataset));
  if (H5Pget_nfilters(creation) > 0) return stored > 0 ? 1 : 0;
  return stored / bytes;
}

}  // namespace

void refuse_links_out_of_the_file(hid_t location, const std::string& path,
                                  const std::string& name) {
  walk(location, path, name, 0);
}

void refuse_data_of_other_files(hid_t dataset, const std::string& name) {
  const Handle creation(H5Dget_create_plist(dataset));
  if (H5Pget_external_count(creation.get()) > 0)
    fail(
        ExitCode::input,
        "{} keeps its data in another file (external storage), which is not read; copy it into one "
        "file (h5repack)",
        name);
  if (H5Pget_layout(creation.get()) == H5D_VIRTUAL)
    fail(
        ExitCode::input,
        "{} is a virtual dataset, whose data other files may hold, and is not read; store the data "
        "itself",
        name);
}

void refuse_what_was_never_written(hid_t dataset, const std::string& name) {
  constexpr double small = 64 << 20;
  const Handle space(H5Dget_space(dataset));
  const Handle type(H5Dget_type(dataset));
  const Handle creation(H5Dget_create_plist(dataset));
  std::vector<hsize_t> extents(std::max(0, H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  const double bytes = elements_of(extents) * static_cast<double>(H5Tget_size(type.get()));
  if (bytes < small) return;
  if (part_written(dataset, creation.get(), extents, bytes) < 1e-3)
    fail(ExitCode::input,
         "{} claims {:.0f} entries, but nearly none of them was ever written; the file is damaged "
         "or incomplete",
         name, elements_of(extents));
}

}  // namespace trireme::hdf5
