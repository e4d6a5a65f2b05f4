// SPDX-License-Identifier: BSD-3-Clause
// Streams and events. This header compiles without CUDA; in a build without CUDA the constructors
// throw Error{resource}.
#pragma once

#include <utility>

struct CUstream_st;  // cudaStream_t is a pointer to this
struct CUevent_st;   // cudaEvent_t is a pointer to this

namespace trireme {

// References, which own nothing. A null StreamRef is the legacy default stream.
using StreamRef = CUstream_st*;
using EventRef = CUevent_st*;

// Owns a stream that does not synchronise with the legacy default stream.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }

  // NOLINTNEXTLINE(google-explicit-constructor): a stream is passed as a reference to it.
  operator StreamRef() const { return stream_; }
  void synchronize() const;
  // Later work in this stream starts after `event`.
  void wait(EventRef event) const;

 private:
  StreamRef stream_ = nullptr;
};

void synchronize(StreamRef stream);
// Later work in `stream` starts after `event`.
void wait(StreamRef stream, EventRef event);

enum class Timing : bool { no, yes };

// Owns an event. An event without timing is cheaper; it can still order streams.
class Event {
 public:
  explicit Event(Timing timing = Timing::yes);
  ~Event();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  // NOLINTNEXTLINE(google-explicit-constructor): an event is passed as a reference to it.
  operator EventRef() const { return event_; }
  void record(StreamRef stream) const;
  void synchronize() const;

 private:
  EventRef event_ = nullptr;
};

// Time on the device between two recorded, finished events, in microseconds.
double microseconds_between(const Event& start, const Event& stop);

}  // namespace trireme
