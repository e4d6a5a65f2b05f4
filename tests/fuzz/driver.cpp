// SPDX-License-Identifier: BSD-3-Clause
// Drives a harness without libFuzzer: first the seeds, then mutations of them, which depend only on
// the seeds and the number of runs.
//
// usage: HARNESS --seconds N | --runs N SEED_FOLDER, or HARNESS FILE... to run these inputs alone.
// The input of a run that ends the process stays in HARNESS.input beside the harness.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMaxBytes = 1 << 16;  // of a mutated input
constexpr unsigned kMaxSeconds = 10;        // for one input

Bytes contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

// Keeps the input of each run in a file that outlives the process.
class LastInput {
 public:
  explicit LastInput(const fs::path& path) : path_(path) {}
  ~LastInput() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  void keep(const Bytes& input) {
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, input.data(), input.size()) != std::ssize(input))
      std::fprintf(stderr, "driver: %s cannot be written\n", path_.c_str());
    close(file);
  }

 private:
  fs::path path_;
};

class Mutator {
 public:
  explicit Mutator(std::vector<Bytes> seeds) : seeds_(std::move(seeds)) {}

  Bytes next() {
    Bytes input = any_seed();
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(input);
    input.resize(std::min(input.size(), kMaxBytes));
    return input;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  const Bytes& any_seed() { return seeds_[below(seeds_.size())]; }

  void change(Bytes& input) {
    const std::size_t at = below(input.size() + 1);
    const auto here = input.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t left = input.size() - at;
    switch (below(8)) {
      case 0:
        if (left > 0) input[at] ^= static_cast<std::uint8_t>(1 << below(8));
        break;
      case 1:
        if (left > 0) input[at] = static_cast<std::uint8_t>(below(256));
        break;
      case 2:
        put_interesting_integer(input, at);
        break;
      case 3:
        input.resize(at);
        break;
      case 4:
        input.erase(here, here + static_cast<std::ptrdiff_t>(below(left + 1)));
        break;
      case 5:
        input.insert(here, 1 + below(16), static_cast<std::uint8_t>(below(256)));
        break;
      case 6: {  // a piece of the input once more
        const Bytes piece(
            here, here + static_cast<std::ptrdiff_t>(std::min<std::size_t>(left, below(64))));
        const auto to = static_cast<std::ptrdiff_t>(below(input.size() + 1));
        input.insert(input.begin() + to, piece.begin(), piece.end());
        break;
      }
      default: {  // the rest of another seed
        const Bytes& other = any_seed();
        input.resize(at);
        input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size())),
                     other.end());
      }
    }
  }

  // Extreme integers of 8 to 64 bits, in either order of bytes or as digits.
  void put_interesting_integer(Bytes& input, std::size_t at) {
    static constexpr std::uint64_t extremes[] = {0,
                                                 1,
                                                 0x7f,
                                                 0xff,
                                                 0x7fff,
                                                 0xffff,
                                                 0x7fffffff,
                                                 0x80000000,
                                                 0xffffffff,
                                                 0x7fffffffffffffff,
                                                 0x8000000000000000,
                                                 0xffffffffffffffff};
    const std::uint64_t number = extremes[below(std::size(extremes))];
    if (below(3) == 0) {
      const std::string digits = std::to_string(number);
      input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), digits.begin(), digits.end());
      return;
    }
    const std::size_t width = std::size_t{1} << below(4);
    const bool big_endian = below(2) == 0;
    for (std::size_t i = 0; i < width && at + i < input.size(); ++i)
      input[at + i] = static_cast<std::uint8_t>(number >> 8 * (big_endian ? width - 1 - i : i));
  }

  std::vector<Bytes> seeds_;
  std::mt19937_64 random_{1};
};

void run(LastInput& last, const Bytes& input) {
  last.keep(input);
  alarm(kMaxSeconds);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
}

std::vector<Bytes> read_seeds(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Bytes> seeds;
  for (const fs::path& file : files) seeds.push_back(contents(file));
  return seeds;
}

void fuzz(LastInput& last, bool by_seconds, long limit, const fs::path& folder) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Bytes> seeds = read_seeds(folder);
  if (seeds.empty()) {
    std::fprintf(stderr, "driver: no seeds in %s\n", folder.c_str());
    std::exit(2);
  }
  for (const Bytes& seed : seeds) run(last, seed);
  Mutator mutator(seeds);
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  long runs = 0;
  for (; by_seconds ? seconds() < static_cast<double>(limit) : runs < limit; ++runs)
    run(last, mutator.next());
  std::printf("%zu seeds and %ld mutations in %.1f s, no finding\n", seeds.size(), runs, seconds());
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  std::signal(SIGALRM, [](int) {
    constexpr std::string_view words = "finding: one input takes more than 10 seconds\n";
    if (write(STDERR_FILENO, words.data(), words.size()) < 0) std::_Exit(1);
    std::abort();
  });
  LastInput last{std::string(argv[0]) + ".input"};
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (argc == 4 && (mode == "--seconds" || mode == "--runs")) {
    fuzz(last, mode == "--seconds", std::atol(argv[2]), argv[3]);
  } else {
    for (int i = 1; i < argc; ++i) run(last, contents(argv[i]));
  }
  std::fflush(stdout);
  return 0;
}
