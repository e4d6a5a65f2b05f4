// SPDX-License-Identifier: BSD-3-Clause
// CUDA graphs: work captured from a stream once, launched many times. Compiles without CUDA.
#pragma once

#include <utility>

#include "device/stream.hpp"

struct CUgraph_st;      // cudaGraph_t is a pointer to this
struct CUgraphExec_st;  // cudaGraphExec_t likewise

namespace trireme {

// Owns a graph definition.
class Graph {
 public:
  Graph();  // empty, for nodes that are added by hand
  explicit Graph(CUgraph_st* owned) : graph_(owned) {}
  ~Graph();
  Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
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
}  // namespace capture

// The work that `enqueue()` queues in `stream` (not the legacy default stream), as a graph. Nothing
// runs. If enqueue throws, the capture ends and the exception goes on.
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
