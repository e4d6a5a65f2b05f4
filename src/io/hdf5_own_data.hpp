// SPDX-License-Identifier: BSD-3-Clause
// Checks that data come from the file itself: a file from elsewhere may name other files of this
// machine, or claim more than it holds. Every function throws Error{input}.
#pragma once

#include <hdf5.h>

#include <string>

namespace trireme::hdf5 {

// Refuses a path, relative to the group or file `location`, that leads through an external or a
// user-defined link, also by way of soft links. Accepts a path that does not exist. Messages name
// the path `name`.
void refuse_links_out_of_the_file(hid_t location, const std::string& path, const std::string& name);

// Refuses external storage and virtual datasets, whose data lie in other files. To be called before
// the dataset is read.
void refuse_data_of_other_files(hid_t dataset, const std::string& name);

// Refuses a dataset of 64 MiB or more of which less than a thousandth was ever written. The
// compression of its chunks does not matter.
void refuse_what_was_never_written(hid_t dataset, const std::string& name);

}  // namespace trireme::hdf5
