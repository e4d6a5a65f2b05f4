// SPDX-License-Identifier: BSD-3-Clause
// Implements streams, events and graphs by the CUDA runtime.
#include "device/stream.hpp"

#include "device/check.hpp"
#include "device/graph.hpp"

namespace trireme {

Stream::Stream() { cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
Stream::~Stream() {
  if (stream_) cudaStreamDestroy(stream_);
}
void Stream::synchronize() const { trireme::synchronize(stream_); }
void Stream::wait(EventRef event) const { trireme::wait(stream_, event); }
void wait(StreamRef stream, EventRef event) { cuda_check(cudaStreamWaitEvent(stream, event, 0)); }

void synchronize(StreamRef stream) { cuda_check(cudaStreamSynchronize(stream)); }

Event::Event(Timing timing) {
  const unsigned flags = timing == Timing::yes ? cudaEventDefault : cudaEventDisableTiming;
  cuda_check(cudaEventCreateWithFlags(&event_, flags));
}
Event::~Event() {
  if (event_) cudaEventDestroy(event_);
}
void Event::record(StreamRef stream) const { cuda_check(cudaEventRecord(event_, stream)); }
void Event::synchronize() const { cuda_check(cudaEventSynchronize(event_)); }

double microseconds_between(const Event& start, const Event& stop) {
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, start, stop));
  return 1e3 * double{milliseconds};
}

Graph::Graph() { cuda_check(cudaGraphCreate(&graph_, 0)); }
Graph::~Graph() {
  if (graph_) cudaGraphDestroy(graph_);
}

GraphExec::GraphExec(const Graph& graph) { cuda_check(cudaGraphInstantiate(&exec_, graph, 0)); }
GraphExec::~GraphExec() {
  if (exec_) cudaGraphExecDestroy(exec_);
}
void GraphExec::launch(StreamRef stream) const { cuda_check(cudaGraphLaunch(exec_, stream)); }

namespace capture {

void begin(StreamRef stream) {
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

Graph end(StreamRef stream) {
  cudaGraph_t graph = nullptr;
  cuda_check(cudaStreamEndCapture(stream, &graph));
  return Graph(graph);
}

void abandon(StreamRef stream) noexcept {
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}

void abandon_in_graph(StreamRef stream) noexcept {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  cudaGetLastError();
}

}  // namespace capture
}  // namespace trireme
