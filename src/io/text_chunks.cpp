// SPDX-License-Identifier: BSD-3-Clause
// zlib reads gzipped and plain files alike.
#include "io/text_chunks.hpp"

#include <cerrno>
#include <system_error>

#include "base/error.hpp"

namespace trireme {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{64} << 20;

}  // namespace

TextChunks::TextChunks(const std::filesystem::path& path, std::size_t chunk_bytes)
    : name_(path.string()), chunk_bytes_(chunk_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    fail(ExitCode::input, "{} is a directory; name a file", name_);
  errno = 0;
  file_.reset(gzopen(path.c_str(), "rb"));
  if (!file_)
    fail(ExitCode::input, "{}: cannot be read: {}", name_, std::generic_category().message(errno));
  gzbuffer(file_.get(), 1 << 20);
}

bool TextChunks::next(std::string& buffer, std::int64_t& number) {
  const std::scoped_lock lock(mutex_);
  if (at_end_) return false;
  buffer = rest_;
  rest_.clear();
  std::size_t line_end = std::string::npos;
  while (line_end == std::string::npos && !at_end_) {
    const std::size_t before = buffer.size();
    if (before > max_line_bytes)
      fail(ExitCode::input, "{}: a line is longer than {} MiB; the file is no text of numbers",
           name_, max_line_bytes >> 20);
    buffer.resize(before + chunk_bytes_);
    const int got =
        gzread(file_.get(), buffer.data() + before, static_cast<unsigned>(chunk_bytes_));
    int status = Z_OK;
    const char* reason = gzerror(file_.get(), &status);
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END)) {
      at_end_ = true;
      fail(ExitCode::input, "{}: damaged or truncated gzip file ({})", name_,
           status == Z_ERRNO ? std::generic_category().message(errno) : reason);
    }
    buffer.resize(before + static_cast<std::size_t>(got));
    at_end_ = static_cast<std::size_t>(got) < chunk_bytes_;
    line_end = std::string_view(buffer).substr(before).rfind('\n');  // no line ends before
    if (line_end != std::string::npos) line_end += before;
  }
  if (!at_end_) {
    rest_ = buffer.substr(line_end + 1);
    buffer.resize(line_end + 1);
  }
  number = taken_++;
  return !buffer.empty();
}

}  // namespace trireme
