// SPDX-License-Identifier: BSD-3-Clause
// A file that someone sent may name other files of this machine, or claim more than it holds: what
// is read comes from the file itself. All throw Error{input} in one line.
#pragma once

#include <hdf5.h>

#include <string>

namespace trireme::hdf5 {

// Refuses a path (from the group or file `location`) that leads through an external or user-defined
// link, also by way of soft links. Where the path does not exist, nothing is refused. `name` is
// that of the path in messages.
void refuse_links_out_of_the_file(hid_t location, const std::string& path, const std::string& name);

// Refuses external storage and virtual datasets, whose data come from other files. To be called
// before anything is read.
void refuse_data_of_other_files(hid_t dataset, const std::string& name);

// Refuses a dataset of 64 MiB or more of which a thousandth or less was ever written. How far its
// chunks are compressed does not matter.
void refuse_what_was_never_written(hid_t dataset, const std::string& name);

}  // namespace trireme::hdf5
