// SPDX-License-Identifier: BSD-3-Clause
// CUDA graphs: work that is captured from a stream once and launched many times. This header
// compiles without CUDA.
#pragma once

#include <utility>

#include "device/stream.hpp"

struct CUgraph_st;      // cudaGraph_t is a pointer to this
struct CUgraphExec_st;  // cudaGraphExec_t is a pointer to this

namespace trireme {

// Owns a graph definition.
class Graph {
 public:
  Graph();  // an empty graph, to which nodes are added one by one
  explicit Graph(CUgraph_st* owned) : graph_(owned) {}
  ~Graph();
  Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  // Leaves the graph to the end of the process. To destroy one into which a capture has failed
  // crashes in the driver (580.159) where other threads load kernels.
  void abandon() noexcept { graph_ = nullptr; }
  // NOLINTNEXTLINE(google-explicit-constructor): CUDA's functions take the graph.
  operator CUgraph_st*() const { return graph_; }

 private:
  CUgraph_st* graph_ = nullptr;
};

// Owns a graph that is ready to launch.
class GraphExec {
 public:
  GraphExec() = default;
  explicit GraphExec(const Graph& graph);
  ~GraphExec();
  GraphExec(GraphExec&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)) {}
  GraphExec& operator=(GraphExec&& other) noexcept {
    std::swap(exec_, other.exec_);
    return *this;
  }
  explicit operator bool() const { return exec_ != nullptr; }
  void launch(StreamRef stream) const;

 private:
  CUgraphExec_st* exec_ = nullptr;
};

namespace capture {
void begin(StreamRef stream);
Graph end(StreamRef stream);
void abandon(StreamRef stream) noexcept;
// The same of a capture into a graph that somebody owns, who destroys it with what it has.
void abandon_in_graph(StreamRef stream) noexcept;
}  // namespace capture

// Returns as a graph the work that enqueue() queues in `stream`, which must not be the legacy
// default stream. The work does not run. Where enqueue() throws, the capture ends and the exception
// propagates.
template <class Enqueue>
Graph capture_graph(StreamRef stream, Enqueue&& enqueue) {
  capture::begin(stream);
  try {
    std::forward<Enqueue>(enqueue)();
  } catch (...) {
    capture::abandon(stream);
    throw;
  }
  return capture::end(stream);
}

}  // namespace trireme
