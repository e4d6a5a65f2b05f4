// SPDX-License-Identifier: BSD-3-Clause
// What an HDF5 type is, in words for messages, and what a dataset needs to be read.
#pragma once

#include <hdf5.h>

#include <string>

namespace trireme::hdf5 {

// "integers", "real numbers", "booleans", "complex numbers", "strings", "a compound of m, n, data".
std::string type_in_words(hid_t type);

// Throws Error{input} where the dataset is compressed by a filter that this HDF5 does not have,
// such as the lzf of h5py. `name` is that of the dataset.
void refuse_missing_filters(hid_t dataset, const std::string& name);

}  // namespace trireme::hdf5
