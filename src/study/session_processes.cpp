// SPDX-License-Identifier: BSD-3-Clause
// Looks through /proc.
#include "study/session_processes.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace trireme::study {

namespace fs = std::filesystem;

// /proc has "pid (name) state ppid pgrp session ... rss ...".
std::vector<SessionProcess> processes_of(pid_t session) {
  constexpr int session_field = 3, rss_field = 21;  // counted from the state
  const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  std::vector<SessionProcess> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ec != std::errc())
      continue;
    std::string text;
    if (!std::getline(std::ifstream(entry.path() / "stat"), text)) continue;
    std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string field;
    double its_session = 0, pages = 0;
    for (int i = 0; i <= rss_field && fields >> field; ++i) {
      if (i == session_field) its_session = std::strtod(field.c_str(), nullptr);
      if (i == rss_field) pages = std::strtod(field.c_str(), nullptr);
    }
    if (its_session == session) found.push_back({process, pages * page});
  }
  return found;
}

void kill_session(pid_t session) {
  for (const SessionProcess& process : processes_of(session)) kill(process.process, SIGKILL);
}

}  // namespace trireme::study
