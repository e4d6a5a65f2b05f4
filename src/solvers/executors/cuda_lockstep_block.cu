// SPDX-License-Identifier: BSD-3-Clause
// How columns come into the block of a lockstep solve on a GPU, move in it, and leave it.
// MultiVector<const double> has a conversion to itself, which nobody calls.
#pragma nv_diag_suppress 554

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "solvers/executors/column_kernels.cuh"
#include "solvers/executors/cuda_lockstep_block.hpp"

namespace trireme::solvers {
namespace {

constexpr int kThreads = 256;
constexpr int kMoveBlocksPerMultiprocessor = 16;
constexpr std::int64_t kNarrow = 8;  // columns of a product for a part of the block

// A number below kMaxColumns for each column, as a kernel's parameter.
struct Places {
  std::uint8_t at[kMaxColumns];
};

// What a thread of a block of kThreads works on: the column, and the first row of its block.
struct Spot {
  int column, row;
  bool works;
  __device__ explicit Spot(int width)
      : column(static_cast<int>(threadIdx.x) % width),
        row(static_cast<int>(threadIdx.x) / width),
        works(row < kThreads / width) {}
};

// to(i, c) = from(order[i], places[c]), or with `back` to(order[i], places[c]) = from(i, c). What
// has the places also has its own distance from one column to the next; the other side has 1.
template <bool back, class T>
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
                std::int64_t column_stride, std::int64_t rows, int width, Places places,
                const std::int32_t* order) {
  const Spot spot(width);
  if (!spot.works) return;
  const int rows_at_once = kThreads / width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows_at_once;
  const std::int64_t other = places.at[spot.column] * column_stride;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * rows_at_once + spot.row; i < rows;
       i += step) {
    const std::int64_t callers = order ? order[i] : i;
    if constexpr (back)
      to[callers * to_stride + other] = from[i * from_stride + spot.column];
    else
      to[i * to_stride + spot.column] = from[callers * from_stride + other];
  }
}

// Column c of each row becomes what column places[c] was. Block (b, k) works on vector k.
template <class T>
__global__ void __launch_bounds__(kThreads)
    rearrange_kernel(T* vectors, std::int64_t distance, std::int64_t stride, std::int64_t rows,
                     int width, Places places) {
  const Spot spot(width);
  T* const vector = vectors + blockIdx.y * distance;
  const int rows_at_once = kThreads / width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows_at_once;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows_at_once; first < rows;
       first += step) {
    const std::int64_t i = first + spot.row;
    const bool works = spot.works && i < rows;
    const T value = works ? vector[i * stride + places.at[spot.column]] : T{};
    __syncthreads();  // all elements of these rows have been read
    if (works) vector[i * stride + spot.column] = value;
  }
}

unsigned blocks_for(std::int64_t rows, std::int64_t width) {
  const std::int64_t rows_at_once = kThreads / width;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((rows + rows_at_once - 1) / rows_at_once, 1,
                               std::int64_t{multiprocessors()} * kMoveBlocksPerMultiprocessor));
}

Places places_of(std::span<const std::int64_t> numbers) {
  Places places{};
  for (std::size_t c = 0; c < numbers.size(); ++c)
    places.at[c] = static_cast<std::uint8_t>(numbers[c]);
  return places;
}

// Rows of four columns or more begin at multiples of 32 bytes.
std::int64_t stride_of(std::int64_t width) { return width < 4 ? width : (width + 3) / 4 * 4; }

std::int64_t narrow_of(std::int64_t width) { return std::min(kNarrow, width); }

}  // namespace

__global__ void __launch_bounds__(kStepThreads)
    column_collect_kernel(PendingSums pending, const std::int32_t* stop, double* all) {
  __shared__ double totals[kMaxSums * kMaxPending];
  total_of_column(pending, totals);
  if (threadIdx.x != 0) return;
  const int count = pending.sums();
  double* const own = all + static_cast<std::int64_t>(blockIdx.x) * (count + 1);
  for (int k = 0; k < count; ++k) own[k] = totals[k];
  own[count] = stop[blockIdx.x] != 0 ? 1 : 0;
}

__global__ void __launch_bounds__(kPassThreads)
    column_compensate_kernel(const float* defect, const double* x, double* y, BlockShape shape,
                             const BlockControls* controls) {
  static_assert(kPassThreads == kThreads);
  const Spot spot(shape.width);
  if (!spot.works || controls->columns[spot.column].takes_part == 0) return;
  const int rows_at_once = kThreads / shape.width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows_at_once;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * rows_at_once + spot.row;
       i < shape.rows; i += step) {
    const std::int64_t element = i * shape.stride + spot.column;
    y[element] += static_cast<double>(defect[i]) * x[element];
  }
}

CudaLockstepBlock::CudaLockstepBlock(std::int64_t rows, DeviceSpan<const std::int32_t> order,
                                     StreamRef stream)
    : rows_(rows),
      order_(order),
      stream_(stream),
      controls_(1, stream),
      stop_(kMaxColumns, stream),
      host_(4),
      stop_asked_(kMaxColumns) {
  fill_zero(controls_.span(), stream);
}
CudaLockstepBlock::~CudaLockstepBlock() = default;

std::int64_t CudaLockstepBlock::columns_of_memory(std::int64_t width, int vectors) {
  return stride_of(width) * vectors + 2 * narrow_of(width);
}

void CudaLockstepBlock::reserve(std::int64_t width, int vectors) {
  if (width > kMaxColumns)
    throw Error(ExitCode::internal, "a block on a GPU has at most " + std::to_string(kMaxColumns) +
                                        " columns, not " + std::to_string(width));
  const auto size = static_cast<std::size_t>(rows_ * columns_of_memory(width, vectors));
  stride_ = stride_of(width);
  narrow_ = narrow_of(width);
  vectors_ = vectors;
  if (memory_.size() >= size) return;
  memory_ = {};
  memory_ = DeviceBuffer<double>(size, stream_);
}

BlockShape CudaLockstepBlock::shape() const {
  return {rows_, stride_, static_cast<std::int32_t>(width())};
}

// Copies columns_ out of the caller's `from`.
void CudaLockstepBlock::take_in_order(DeviceMultiVector<const double> from, double* vector) const {
  std::vector<std::int64_t> numbers;
  for (const LockstepColumn& column : columns_) numbers.push_back(column.number);
  copy_kernel<false><<<blocks_for(rows_, std::ssize(columns_)), kThreads, 0, stream_>>>(
      from.data, from.row_stride, vector, stride_, from.vector_stride, rows_,
      static_cast<int>(columns_.size()), places_of(numbers), rows_order());
  check_launch();
}

DeviceMultiVector<double> CudaLockstepBlock::scratch(std::int64_t width) const {
  return {vector(2), rows_, width, width, 1};
}

DeviceMultiVector<const double> CudaLockstepBlock::on_gpu(MultiVector<const double> columns) {
  const DeviceMultiVector<double> to = scratch(columns.width);
  transfer_.upload(columns, {to.data, static_cast<std::size_t>(rows_ * to.width)}, stream_);
  return to;
}

template <template <class> class View>
void CudaLockstepBlock::bring(std::vector<LockstepColumn> columns, View<const double> b,
                              View<double> x, bool zero_guess, bool in_fp32) {
  columns_ = std::move(columns);
  in_fp32_ = in_fp32;
  for (LockstepColumn& column : columns_) column.takes_part = true;
  ended_.clear();
  take_in_order(on_gpu(b), vector(0));
  if (!zero_guess) take_in_order(on_gpu(View<const double>(x)), vector(1));
  const int first_zero = zero_guess ? 1 : 2;
  fill_zero(DeviceSpan<double>(vector(first_zero),
                               static_cast<std::size_t>((vectors_ - first_zero) * rows_ * stride_)),
            stream_);
  fill_zero(stop_.span(), stream_);
  std::fill_n(stop_asked_.data(), kMaxColumns, 0);
  told_ = 0;
  upload();
}
template void CudaLockstepBlock::bring(std::vector<LockstepColumn>, MultiVector<const double>,
                                       MultiVector<double>, bool, bool);
template void CudaLockstepBlock::bring(std::vector<LockstepColumn>, DeviceMultiVector<const double>,
                                       DeviceMultiVector<double>, bool, bool);

// `count` vectors, `distance` numbers from one to the next.
template <class T>
void CudaLockstepBlock::rearrange(T* vectors, int count, std::int64_t distance,
                                  std::span<const std::int64_t> places) const {
  const dim3 grid(blocks_for(rows_, width()), count);
  rearrange_kernel<<<grid, kThreads, 0, stream_>>>(vectors, distance, stride_, rows_,
                                                   static_cast<int>(width()), places_of(places));
  check_launch();
}

void CudaLockstepBlock::leave(const std::function<bool(const State&)>& ended) {
  std::vector<std::int64_t> leaving, places;
  for (std::int64_t j = 0; j < width(); ++j)
    (ended(columns_[j].state) ? leaving : places).push_back(j);
  if (leaving.empty()) return;
  const std::size_t remaining = places.size();
  places.insert(places.end(), leaving.begin(), leaving.end());
  if (!std::ranges::is_sorted(places)) {
    const std::int64_t distance = rows_ * stride_;
    if (in_fp32_) {
      rearrange(vector(0), callers_vectors, distance, places);
      rearrange(reinterpret_cast<float*>(vector(callers_vectors)), 2 * (vectors_ - callers_vectors),
                distance, places);
    } else {
      rearrange(vector(0), vectors_, distance, places);
    }
  }
  std::vector<LockstepColumn> moved;
  for (const std::int64_t j : places) moved.push_back(columns_[j]);
  const auto first_ended = moved.begin() + static_cast<std::ptrdiff_t>(remaining);
  ended_.insert(ended_.begin(), first_ended, moved.end());
  moved.erase(first_ended, moved.end());
  columns_ = std::move(moved);
  fill_zero(stop_.span(), stream_);  // who wishes to stop says so again
  std::fill_n(stop_asked_.data(), kMaxColumns, 0);
  upload();
}

std::vector<std::int64_t> CudaLockstepBlock::give_in_order(DeviceMultiVector<double> to) const {
  std::vector<std::int64_t> numbers;
  for (const LockstepColumn& column : ended_) numbers.push_back(column.number);
  const double* const solution = vector(1);
  copy_kernel<true><<<blocks_for(rows_, std::ssize(ended_)), kThreads, 0, stream_>>>(
      solution, stride_, to.data, to.row_stride, to.vector_stride, rows_,
      static_cast<int>(ended_.size()), places_of(numbers), rows_order());
  check_launch();
  return numbers;
}

void CudaLockstepBlock::give_back(MultiVector<double> x) {
  const DeviceMultiVector<double> from = scratch(x.width);
  const std::vector<std::int64_t> numbers = give_in_order(from);
  transfer_.download({from.data, static_cast<std::size_t>(rows_ * x.width)}, x, numbers, stream_);
}

void CudaLockstepBlock::give_back(DeviceMultiVector<double> x) {
  give_in_order(x);
  synchronize(stream_);
}

template <class T>
void CudaLockstepBlock::gather(const T* vector, std::span<const std::int64_t> places,
                               std::int64_t stride) const {
  const std::int64_t width = std::ssize(places);
  copy_kernel<false><<<blocks_for(rows_, width), kThreads, 0, stream_>>>(
      vector, stride_, narrow_x<T>(), stride, 1, rows_, static_cast<int>(width), places_of(places),
      nullptr);
  check_launch();
}
template void CudaLockstepBlock::gather(const double*, std::span<const std::int64_t>,
                                        std::int64_t) const;
template void CudaLockstepBlock::gather(const float*, std::span<const std::int64_t>,
                                        std::int64_t) const;

template <class T>
void CudaLockstepBlock::scatter(T* vector, std::span<const std::int64_t> places,
                                std::int64_t stride) const {
  const std::int64_t width = std::ssize(places);
  const T* const from = narrow_y<T>();
  copy_kernel<true><<<blocks_for(rows_, width), kThreads, 0, stream_>>>(
      from, stride, vector, stride_, 1, rows_, static_cast<int>(width), places_of(places), nullptr);
  check_launch();
}
template void CudaLockstepBlock::scatter(double*, std::span<const std::int64_t>,
                                         std::int64_t) const;
template void CudaLockstepBlock::scatter(float*, std::span<const std::int64_t>, std::int64_t) const;

void CudaLockstepBlock::refresh() {
  BlockControls& seen = host_.data()[2];
  memory::copy(&seen, controls_.data(), sizeof(BlockControls), stream_);
  synchronize(stream_);
  for (std::int64_t j = 0; j < width(); ++j) columns_[j].state = seen.columns[j].state;
  tell(seen);
}

void CudaLockstepBlock::upload() {
  uploaded_.synchronize();
  BlockControls& next = host_.data()[3];
  for (std::int64_t j = 0; j < width(); ++j) {
    next.columns[j].state = columns_[j].state;
    next.columns[j].takes_part = columns_[j].takes_part ? 1 : 0;
    next.columns[j].logged = told_;
  }
  memory::copy(controls_.data()->columns, next.columns, sizeof(next.columns), stream_);
  uploaded_.record(stream_);
}

void CudaLockstepBlock::mark(int which) {
  memory::copy(host_.data() + which, controls_.data(), sizeof(BlockControls), stream_);
  marked_[which].record(stream_);
}

std::int64_t CudaLockstepBlock::reached(int which) {
  marked_[which].synchronize();
  const BlockControls& seen = host_.data()[which];
  tell(seen);
  return std::count_if(seen.columns, seen.columns + width(),
                       [](const ColumnControl& column) { return running(column.state); });
}

void CudaLockstepBlock::tell(const BlockControls& seen) {
  bool stops = false;
  for (; width() > 0 && told_ < seen.columns[0].logged; ++told_) {
    const LogEntry* const slot = seen.log[told_ % kLogSlots];
    for (std::int64_t j = 0; j < width(); ++j) {
      const IterationObserver* const observer = columns_[j].observer;
      if (slot[j].iteration < 0 || !observer || !observer->iteration) continue;
      State state = seen.columns[j].state;
      state.iterations = slot[j].iteration;
      state.norm = slot[j].norm;
      static_cast<void>(observer->iteration(state, Iterate{}));
    }
    for (std::int64_t j = 0; j < width(); ++j) {
      const IterationObserver* const observer = columns_[j].observer;
      if (!observer || !observer->stop_requested()) continue;
      stop_asked_.data()[j] = 1;
      stops = true;
    }
  }
  if (stops)
    memory::copy(stop_.data(), stop_asked_.data(), kMaxColumns * sizeof(std::int32_t), stream_);
}

}  // namespace trireme::solvers
