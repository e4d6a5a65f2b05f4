// SPDX-License-Identifier: BSD-3-Clause
// GPUs exchange through NCCL, which is opened at run time, so that the programs start without it.
#include <dlfcn.h>
#include <mpi.h>
#include <nccl.h>

#include <source_location>
#include <string>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "distributed/gather.hpp"
#include "distributed/gpu_exchange.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

struct NcclLibrary {
  NcclLibrary() {
    for (const char* name : {"libnccl.so.2", TRIREME_CUDA_LIBRARY_DIR "/libnccl.so.2"})
      if (!handle) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      fail(ExitCode::resource,
           "NCCL is not on this machine (libnccl.so.2); install it or set LD_LIBRARY_PATH");
    find("ncclGetUniqueId", get_unique_id);
    find("ncclCommInitRank", comm_init_rank);
    find("ncclCommDestroy", comm_destroy);
    find("ncclGroupStart", group_start);
    find("ncclGroupEnd", group_end);
    find("ncclSend", send);
    find("ncclRecv", recv);
    find("ncclAllReduce", all_reduce);
    find("ncclGetErrorString", error_string);
  }
  ~NcclLibrary() {
    if (handle) dlclose(handle);
  }
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  void check(ncclResult_t status,
             std::source_location where = std::source_location::current()) const {
    if (status == ncclSuccess) return;
    const std::string path = where.file_name();
    fail(ExitCode::resource, "NCCL: {} at {}:{}", error_string(status),
         path.substr(path.rfind('/') + 1), where.line());
  }

  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (!function) fail(ExitCode::resource, "this libnccl has no {}", name);
  }

  void* handle = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
};

// The communicator of all ranks.
struct NcclRanks {
  NcclLibrary nccl;
  ncclComm_t all = nullptr;

  NcclRanks() = default;
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;
  ~NcclRanks() {
    if (all && !error_in_flight()) nccl.comm_destroy(all);  // waits for the other ranks
  }
};

class NcclExchange final : public GpuExchange {
 public:
  NcclExchange(MPI_Comm comm, const HaloPlan& halo, const NcclExchange* beside)
      : halo_(halo), ranks_(beside ? beside->ranks_ : nullptr) {
    collectively(comm, [&] {
      const Stream stream;
      send_rows_ = to_device(std::span<const std::int32_t>(halo.send_rows), stream);
      packed_ = DeviceBuffer<double>(halo.send_rows.size(), stream);
      ghosts_ = DeviceBuffer<double>(halo.ghosts, stream);
      stream.synchronize();
    });
    if (!ranks_) connect(comm);
  }

  std::string_view name() const override { return "nccl"; }
  // The graph nodes of NCCL may not be in the body of a while node (CUDA 13.0, NCCL 2.28).
  Recording recording() const override { return Recording::replay; }

  void send(DeviceSpan<const double> x, StreamRef stream) override { pack_and_send(x, stream); }
  void send(DeviceSpan<const float> x, StreamRef stream) override { pack_and_send(x, stream); }

  DeviceSpan<const double> receive(StreamRef stream) override {
    if (!halo_.empty()) wait(stream, has_come_);
    return ghosts_.view();
  }

  void sum(DeviceSpan<double> values, StreamRef stream) override {
    nccl().check(nccl().all_reduce(values.data(), values.data(), values.size(), ncclDouble, ncclSum,
                                   ranks_->all, stream));
  }

 private:
  template <class Number>
  void pack_and_send(DeviceSpan<const Number> x, StreamRef stream) {
    if (halo_.empty()) return;
    gather(x, send_rows_.view(), packed_.span(), stream);
    is_packed_.record(stream);
    side_.wait(is_packed_);
    nccl().check(nccl().group_start());
    for (const auto& to : halo_.sends)
      nccl().check(nccl().send(packed_.data() + to.offset, to.count, ncclDouble, to.rank,
                               ranks_->all, side_));
    for (const auto& from : halo_.receives)
      nccl().check(nccl().recv(ghosts_.data() + from.offset, from.count, ncclDouble, from.rank,
                               ranks_->all, side_));
    nccl().check(nccl().group_end());
    has_come_.record(side_);
  }

  // Collective.
  void connect(MPI_Comm comm) {
    collectively(comm, [&] { ranks_ = std::make_shared<NcclRanks>(); });
    ncclUniqueId id{};
    collectively(comm, [&] {
      if (rank_of(comm) == 0) nccl().check(nccl().get_unique_id(&id));
    });
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);
    collectively(comm, [&] {
      nccl().check(nccl().comm_init_rank(&ranks_->all, size_of(comm), id, rank_of(comm)));
    });
  }
  const NcclLibrary& nccl() const { return ranks_->nccl; }

  const HaloPlan& halo_;
  std::shared_ptr<NcclRanks> ranks_;
  DeviceBuffer<std::int32_t> send_rows_;
  DeviceBuffer<double> packed_, ghosts_;
  Stream side_;  // for the halo, so that the local product runs meanwhile
  Event is_packed_{Timing::no}, has_come_{Timing::no};
};

}  // namespace

std::unique_ptr<GpuExchange> make_nccl_exchange(MPI_Comm comm, const HaloPlan& halo,
                                                const GpuExchange* beside) {
  return std::make_unique<NcclExchange>(comm, halo, dynamic_cast<const NcclExchange*>(beside));
}

}  // namespace trireme
