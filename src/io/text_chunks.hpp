// SPDX-License-Identifier: BSD-3-Clause
// A text file, plain or gzipped, as chunks of whole lines that several threads take.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace trireme {

class TextChunks {
 public:
  // Throws Error{input} when the file cannot be opened.
  explicit TextChunks(const std::filesystem::path& path, std::size_t chunk_bytes = 1 << 21);

  // Copies the next chunk of lines to `buffer` and its number, from 0, to `number`. Returns false
  // at the end. Each line ends with '\n', except perhaps the last of the file. Several threads may
  // call it: one inflates under a lock while the others parse. Throws Error{input} for damaged gzip
  // data and for a line of more than 64 MiB.
  bool next(std::string& buffer, std::int64_t& number);

  // Whether next() has given out the last line.
  bool at_end() const { return at_end_; }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose_r(file); }
  };

  std::string name_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::size_t chunk_bytes_;
  std::string rest_;  // the start of the line at the end of the last chunk
  std::int64_t taken_ = 0;
  bool at_end_ = false;
  std::mutex mutex_;
};

}  // namespace trireme
