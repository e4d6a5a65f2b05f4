// SPDX-License-Identifier: BSD-3-Clause
// From a file to the first product: the rate of each way and each part, for 1, 2, 4, ... threads.
//
//   problem generate poisson3d a.h5 --n 160
//   read_bench a.h5 [GROUP]          GROUP has indptr, indices and data; /A is the default
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/stopwatch.hpp"
#include "device/device.hpp"
#include "device/uploader.hpp"
#include "distributed/device_blocks.hpp"
#include "distributed/distributed_matrix.hpp"
#include "io/canonical_rows.hpp"
#include "io/fingerprint.hpp"
#include "io/hdf5.hpp"
#include "io/problem.hpp"
#include "io/read_and_find.hpp"
#include "parallel/program.hpp"

namespace {

using namespace trireme;

constexpr int kRepetitions = 5;

// The shortest of some repetitions, in seconds.
template <class Work>
double shortest(Work&& work) {
  double best = 1e30;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const Stopwatch watch;
    work();
    best = std::min(best, watch.seconds());
  }
  return best;
}

void print(const std::string& what, int threads, double bytes, double seconds) {
  fmt::print("{:<44} {:>3} threads {:>9.1f} ms {:>8.2f} GB/s\n", what, threads, 1e3 * seconds,
             1e-9 * bytes / seconds);
  std::fflush(stdout);
}

std::vector<int> thread_counts() {
  const int most = omp_get_max_threads();
  std::vector<int> counts;
  for (int threads = 1; threads < most; threads *= 2) counts.push_back(threads);
  counts.push_back(most);
  return counts;
}

void read_values(const hdf5::Dataset& data) {
  const std::int64_t count = data.extents()[0];
  const double bytes = 8.0 * static_cast<double>(count);
  print("values by HDF5's reader, new array", 1, bytes, shortest([&] {
          Array<double> values(count);
          H5Dread(data.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        }));
  Array<double> known(count);
  for (const int threads : thread_counts()) {
    omp_set_num_threads(threads);
    print("values by pread, new array", threads, bytes, shortest([&] {
            Array<double> values(count);
            data.read(0, count, values.data());
          }));
    print("values by pread, touched array", threads, bytes,
          shortest([&] { data.read(0, count, known.data()); }));
    std::atomic<std::int64_t> bad = 0;
    const auto look_for_bad = [&](std::span<const double> numbers) {
      std::int64_t found = 0;
      for (const double number : numbers) found += std::isfinite(number) ? 0 : 1;
      bad += found;
    };
    print("  the same, and looked at for bad numbers", threads, bytes, shortest([&] {
            data.read(0, count, known.data(), [&](std::int64_t, std::span<const double> numbers) {
              look_for_bad(numbers);
            });
          }));
    std::uint64_t hash = 0;
    print("  the same, and hashed", threads, bytes, shortest([&] {
            read_and_find(
                data, 0, count, known.data(), [](double value) { return is_not_finite(value); },
                hash, [](auto...) {});
          }));
  }
}

void copy_memory(std::int64_t count) {
  Array<double> from(count), to(count);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) from[i] = to[i] = static_cast<double>(i);
  for (const int threads : thread_counts()) {
    omp_set_num_threads(threads);
    print("memcpy, bytes copied", threads, 8.0 * static_cast<double>(count), shortest([&] {
#pragma omp parallel
            {
              const std::int64_t team = omp_get_num_threads(), t = omp_get_thread_num();
              const std::int64_t first = count * t / team, last = count * (t + 1) / team;
              std::memcpy(to.data() + first, from.data() + first, 8 * (last - first));
            }
          }));
  }
}

void upload_array(std::int64_t count) {
  const Array<double> from(count, 1.0);
  const double bytes = 8.0 * static_cast<double>(count);
  const Stream stream;
  const DeviceBuffer<double> to(count, stream);
  print("cudaMemcpy from ordinary memory", 1, bytes, shortest([&] {
          copy_to_device(std::span<const double>(from), to.span(), stream);
          stream.synchronize();
        }));
  const PinnedBuffer<double> pinned(count);
  std::copy(from.begin(), from.end(), pinned.data());
  print("cudaMemcpy from pinned memory: the bus", 1, bytes, shortest([&] {
          copy_to_device(std::span<const double>(pinned.span()), to.span(), stream);
          stream.synchronize();
        }));
  for (const int threads : thread_counts()) {
    const Stopwatch watch;
    Uploader uploader(threads);
    uploader.make_chunks();
    const double made = watch.seconds();
    omp_set_num_threads(threads);
    print(fmt::format("Uploader (made in {:.1f} ms)", 1e3 * made), std::min(threads, 8), bytes,
          shortest([&] {
            uploader.copy(std::span<const double>(from), to.span(), stream);
            stream.synchronize();
          }));
  }
}

void whole_way(const std::string& file, const std::string& group, bool gpu) {
  ProblemSpec spec;
  auto& system = spec.source.emplace<SystemFile>();
  system.file = file;
  system.matrix = group;
  system.x0 = Dataset{std::string(kNoDataset)};  // the matrix alone is measured
  spec.rhs = MadeRhs::from_ones;
  for (const int threads : thread_counts()) {
    omp_set_num_threads(threads);
    Stopwatch watch;
    Problem problem = load_problem(MPI_COMM_WORLD, spec);
    const double read = watch.lap();
    const double bytes = 12.0 * static_cast<double>(problem.matrix.local.nnz()) +
                         4.0 * static_cast<double>(problem.matrix.local.rows);
    pattern_fingerprint(MPI_COMM_WORLD, problem.matrix, problem.hashes);
    values_fingerprint(MPI_COMM_WORLD, problem.matrix, problem.hashes);
    const double hash = watch.lap();
    const auto matrix = distribute(MPI_COMM_WORLD, std::move(problem.matrix), problem.row_starts);
    const double split = watch.lap();
    double upload = 0;
    if (gpu) {
      auto uploader = std::make_unique<Uploader>();
      watch.lap();  // in `solve`, pinned memory is made while the file is read
      DeviceBlocks::prepare(*matrix, std::move(uploader));
      upload = watch.lap();
    }
    print("file to CSR (bytes of the CSR)", threads, bytes, read);
    fmt::print("    checks {:.1f} ms of it; the rest of the hashes {:.1f} ms, split {:.1f} ms\n",
               1e3 * problem.check_seconds, 1e3 * hash, 1e3 * split);
    if (!gpu) continue;
    print("CSR to the GPU", threads, bytes, upload);
    print("file to the GPU", threads, bytes, read + hash + split + upload);
  }
}

int run(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("usage: read_bench FILE.h5 [GROUP]\n");
    return 2;
  }
  const std::string group = argc > 2 ? argv[2] : "/A";
  const bool gpu = cuda_available();
  const hdf5::File file = hdf5::File::open(argv[1]);
  const hdf5::Dataset data = file.dataset(group + "/data");
  read_values(data);
  copy_memory(data.extents()[0]);
  omp_set_num_threads(omp_get_num_procs());
  if (gpu) {
    const Stopwatch watch;
    const DeviceProperties device = select_device();
    fmt::print("{} opened in {:.0f} ms\n", device.name, 1e3 * watch.seconds());
    upload_array(data.extents()[0]);
  }
  omp_set_num_threads(omp_get_num_procs());
  whole_way(argv[1], group, gpu);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(&argc, &argv, [&] { return run(argc, argv); });
}
