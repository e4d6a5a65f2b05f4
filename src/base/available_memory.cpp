// SPDX-License-Identifier: BSD-3-Clause
// Linux: /proc/meminfo, the memory controllers of control groups 2 and 1, and RLIMIT_AS.
#include "base/available_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace trireme {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// The number in a file. Empty for the word "max", or where there is no such file.
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream in(path);
  std::int64_t value = 0;
  if (!(in >> value)) return std::nullopt;
  return value;
}

// The number after the word `word` at the start of a line.
std::optional<std::int64_t> number_after(const fs::path& path, const std::string& word) {
  std::ifstream in(path);
  std::string name;
  for (std::string rest; in >> name; std::getline(in, rest)) {
    std::int64_t value = 0;
    if (name == word && in >> value) return value;
  }
  return std::nullopt;
}

// Names of the files from which left_in_group() computes the memory that a control group has left.
// The group counts the page cache as used, although the system can reclaim it.
struct GroupFiles {
  const char *limit, *used, *inactive, *active;
};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file", "active_file"};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file", "total_active_file"};

std::int64_t left_in_group(const fs::path& folder, const GroupFiles& files) {
  const auto limit = number_in(folder / files.limit);
  const auto used = number_in(folder / files.used);
  if (!limit || !used) return no_limit;
  std::int64_t cache = 0;
  for (const char* kind : {files.inactive, files.active})
    cache += number_after(folder / "memory.stat", kind).value_or(0);
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *used - cache));
}

// The minimum over the group and the groups that contain it. `group` begins with '/'. In a
// container it may be the name on the host, while the files lie at the top.
std::int64_t left_in_groups(const fs::path& top, const std::string& group,
                            const GroupFiles& files) {
  std::int64_t lowest = left_in_group(top, files);
  fs::path folder = top;
  for (const fs::path& part : fs::path(group).relative_path())
    lowest = std::min(lowest, left_in_group(folder /= part, files));
  return lowest;
}

// /proc/self/cgroup has lines "0::/group" (version 2) and "4:memory:/group" (version 1).
std::int64_t left_in_all_groups(const fs::path& root) {
  const fs::path top = root / "sys/fs/cgroup";
  std::int64_t lowest = no_limit;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string group = line.substr(second + 1);
    if (controllers == ",,")
      lowest = std::min(lowest, left_in_groups(top, group, version_2));
    else if (controllers.find(",memory,") != std::string::npos)
      lowest = std::min(lowest, left_in_groups(top / "memory", group, version_1));
  }
  return lowest;
}

std::int64_t left_in_address_space(const fs::path& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  const auto pages = number_in(root / "proc/self/statm");
  if (!pages) return no_limit;
  const std::int64_t mapped = *pages * sysconf(_SC_PAGESIZE);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - mapped);
}

}  // namespace

AvailableMemory available_memory(const fs::path& root) {
  std::int64_t shared = left_in_all_groups(root);
  if (const auto kilobytes = number_after(root / "proc/meminfo", "MemAvailable:"))
    shared = std::min(shared, *kilobytes * 1024);
  return {shared, left_in_address_space(root)};
}

}  // namespace trireme
