// SPDX-License-Identifier: BSD-3-Clause
// What a reader needs to know of the program itself to repeat a run.
#pragma once

#include <istream>
#include <string>

namespace trireme {

// The commit of the sources, abbreviated, with "-dirty" after it where they differ from it; empty:
// they were no checkout when they were compiled.
const char* build_commit();

// The version that /proc/driver/nvidia/version tells in its first line: "580.159.04"; empty: none.
std::string driver_version(std::istream& file);

// The time in UTC: "2026-11-28T01:25:03Z".
std::string time_now();

}  // namespace trireme
