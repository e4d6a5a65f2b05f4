// SPDX-License-Identifier: BSD-3-Clause
// The device layer of a build without CUDA: there is no device, and every function that needs one
// throws Error{resource}.
#include "device/cache_bandwidth.hpp"
#include "device/device.hpp"
#include "device/device_scope.hpp"
#include "device/driver.hpp"
#include "device/graph.hpp"
#include "device/memory.hpp"
#include "device/no_cuda.hpp"
#include "device/peer_memory.hpp"
#include "device/piece_uploader.hpp"
#include "device/uploader.hpp"
#include "device/vector_sums.hpp"

namespace trireme {

bool cuda_available() noexcept { return false; }
bool driver_is_visible() noexcept { return false; }
DeviceProperties select_device(int /*local_rank*/) { no_cuda(); }
DeviceProperties device_properties() { no_cuda(); }
int multiprocessors() { no_cuda(); }
DeviceMemory device_memory() { no_cuda(); }
double measure_device_cache(std::size_t /*bytes*/) { no_cuda(); }
DeviceScope::DeviceScope() = default;
DeviceScope::DeviceScope(int /*device*/) { no_cuda(); }
DeviceScope::~DeviceScope() = default;

namespace memory {
void* allocate_device(std::size_t /*bytes*/, StreamRef /*stream*/) { no_cuda(); }
void free_device_in_stream(void* /*data*/, StreamRef /*stream*/) noexcept {}
void free_device(void* /*data*/) noexcept {}
void* allocate_pinned(std::size_t /*bytes*/) { no_cuda(); }
void free_pinned(void* /*data*/) noexcept {}
void* device_address(void* /*pinned*/) { no_cuda(); }
void copy(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/, StreamRef /*stream*/) {
  no_cuda();
}
void fill(void* /*data*/, int /*byte*/, std::size_t /*bytes*/, StreamRef /*stream*/) { no_cuda(); }
}  // namespace memory

Stream::Stream() { no_cuda(); }
Stream::~Stream() = default;
void Stream::synchronize() const { no_cuda(); }
void Stream::wait(EventRef /*event*/) const { no_cuda(); }
void synchronize(StreamRef /*stream*/) { no_cuda(); }
void wait(StreamRef /*stream*/, EventRef /*event*/) { no_cuda(); }
Event::Event(Timing /*timing*/) { no_cuda(); }
Event::~Event() = default;
void Event::record(StreamRef /*stream*/) const { no_cuda(); }
void Event::synchronize() const { no_cuda(); }
double microseconds_between(const Event& /*start*/, const Event& /*stop*/) { no_cuda(); }

Uploader::Uploader(int /*threads*/) { no_cuda(); }
Uploader::~Uploader() = default;
void Uploader::make_chunks() { no_cuda(); }
void Uploader::copy_bytes_back(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/,
                               StreamRef /*stream*/) {
  no_cuda();
}
void Uploader::copy_bytes(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/,
                          StreamRef /*stream*/) {
  no_cuda();
}

PieceUploader::PieceUploader(int /*chunks*/) { no_cuda(); }
PieceUploader::~PieceUploader() = default;
void PieceUploader::select_its_device() const { no_cuda(); }
bool PieceUploader::copy_bytes(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/,
                               StreamRef /*stream*/) {
  no_cuda();
}

VectorSums::VectorSums(StreamRef /*stream*/) { no_cuda(); }
VectorFacts VectorSums::facts_of(DeviceSpan<const double> /*v*/) { no_cuda(); }
ResidualSums VectorSums::subtract_from(DeviceSpan<const double> /*b*/, DeviceSpan<double> /*r*/,
                                       DeviceSpan<const double> /*sizes*/) {
  no_cuda();
}
void scale_on_device(DeviceSpan<const double> /*from*/, int /*exponent*/, bool /*negated*/,
                     DeviceSpan<double> /*to*/, StreamRef /*stream*/) {
  no_cuda();
}

PeerMemory::PeerMemory(std::size_t /*bytes*/) { no_cuda(); }
PeerMemory::~PeerMemory() = default;
PeerHandle PeerMemory::handle() const { no_cuda(); }
PeerMapping::PeerMapping(const PeerHandle& /*handle*/) { no_cuda(); }
PeerMapping::~PeerMapping() = default;

Graph::Graph() { no_cuda(); }
Graph::~Graph() = default;
GraphExec::GraphExec(const Graph& /*graph*/) { no_cuda(); }
GraphExec::~GraphExec() = default;
void GraphExec::launch(StreamRef /*stream*/) const { no_cuda(); }

namespace capture {
void begin(StreamRef /*stream*/) { no_cuda(); }
Graph end(StreamRef /*stream*/) { no_cuda(); }
void abandon(StreamRef /*stream*/) noexcept {}
}  // namespace capture

}  // namespace trireme
