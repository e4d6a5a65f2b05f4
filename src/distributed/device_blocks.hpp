// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a DistributedMatrix in GPU memory: one copy, which all operators of the matrix
// share, with the blocks of rows that the matrix has. An OrderedMatrix has another copy, in its
// order, which is made of the first one.
//
// A kernel with a layout of its own does not read the entries (col_idx and values) of the local
// block after its build. Where they would take much of the memory, they are left out: each block
// of rows comes to the GPU while a kernel is built of it or takes new values, and goes again. The
// host keeps the matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "device/stream.hpp"
#include "device/uploader.hpp"
#include "distributed/boundary_product.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/ordered_matrix.hpp"
#include "kernels/blocked_device_csr.hpp"

namespace trireme {

enum class Entries { needed, where_they_fit_well };

class DeviceBlocks {
 public:
  struct Shared {
    std::shared_ptr<DeviceBlocks> blocks;
    double upload_seconds = 0;  // since the last call, which may have been another operator's
    double order_seconds = 0;   // of bringing the blocks into an order, by this call
  };
  // The copy that `matrix` holds, with its present values. The first call uploads it to this
  // thread's current device, which must be current in later calls too. Returns when the copy is
  // complete. Throws Error{resource} where the GPU memory does not suffice. Does not communicate.
  // With `needed`, the entries of the local block are there too.
  static Shared of(DistributedMatrix& matrix, Entries entries = Entries::needed);
  // The same for the blocks in an order. `ordered` must outlive the result.
  static Shared of(OrderedMatrix& ordered);

  // The copy that `matrix` holds, with or without entries, or null where it holds none with its
  // present values.
  static DeviceBlocks* find(const DistributedMatrix& matrix);
  // Whether `matrix` holds a copy without the entries of its local block.
  static bool left_entries_out(const DistributedMatrix& matrix);
  // Whether the CSR of a local block takes at most a third of the free memory, so that a layout of
  // the same size and the vectors of a loop fit beside it.
  static bool entries_fit_well(double rows, double nnz, double free_bytes);
  // The same for the memory of the current device.
  static bool entries_fit_well(double rows, double nnz);

  // Makes a copy of the local block `csr` in GPU memory, by `uploader` and in `stream`.
  using MakeLocal = std::function<BlockedDeviceCsr<double>(const CsrMatrix<double>& csr,
                                                           Uploader& uploader, StreamRef stream)>;

  // Makes the copy of `matrix` that of() returns, ahead of the first operator. `uploader` may be
  // null; it is kept for new values. An empty `make_local` uploads the local block, as `entries`
  // says; otherwise the copy has what `make_local` makes.
  static void prepare(DistributedMatrix& matrix, std::unique_ptr<Uploader> uploader,
                      const MakeLocal& make_local = {}, Entries entries = Entries::needed);

  // Uploads the blocks, the local one with its entries where `with_entries`; returns when they are
  // complete.
  DeviceBlocks(const DistributedMatrix& matrix, std::unique_ptr<Uploader> uploader,
               const MakeLocal& make_local, bool with_entries);
  // Permutes the local block `callers->local()` on the device and uploads the ghost block of
  // `ordered`; returns when they are complete.
  DeviceBlocks(OrderedMatrix& ordered, std::shared_ptr<DeviceBlocks> callers);

  bool has_entries() const { return has_entries_; }
  // Throws Error{internal} without has_entries().
  const BlockedDeviceCsr<double>& local() const;
  // Calls visit(block) for each block of rows of the local block, in their order. Without
  // has_entries(), each one comes from `matrix` and is in GPU memory during the call only, which
  // must not leave work queued that reads it. Throws Error{resource} where the memory does not
  // suffice.
  using VisitBlock = std::function<void(const DeviceRowBlock<double>& block)>;
  void for_each_block(const DistributedMatrix& matrix, const VisitBlock& visit);
  // Null where the matrix has no ghosts, or where boundary() multiplies by the ghost block.
  const BlockedDeviceCsr<double>* ghost() const { return has_ghost_ ? &ghost_ : nullptr; }
  // Null where the matrix has no ghosts, or where many rows have some.
  const BoundaryProduct* boundary() const { return boundary_.get(); }
  // In which the blocks were made.
  StreamRef stream() const { return stream_; }
  // The caller's row of each row. Empty: the caller's order.
  DeviceSpan<const std::int32_t> order() const { return order_.view(); }

  // Uploads the values of `matrix`, unless another operator has caused the upload of this version.
  // `seen` is the version of the values that the calling operator has; it becomes the present one.
  // The call waits for the upload. No product by any operator of the matrix may be under way.
  void refresh(const DistributedMatrix& matrix, std::uint64_t& seen);

  // Allocates the memory of upload_ahead(). Throws Error{resource} where the GPU memory does not
  // suffice, or was too small for the entries.
  void reserve_ahead();
  // Copies `values`, which the local block will have in version `version` of the matrix, to memory
  // of their own, from which refresh() takes them then. Products may be under way, and another
  // thread may call it while nobody calls another member. Returns when the copy is complete.
  void upload_ahead(std::span<const double> values, std::uint64_t version);

 private:
  Uploader& uploader();
  // Uploads the ghost block in the way that suits it.
  void make_ghost(const CsrMatrix<double>& ghost);
  void upload_values(const DistributedMatrix& matrix);
  void bring_entries(const DistributedMatrix& matrix);

  std::unique_ptr<Uploader> uploader_;  // null: made at the next upload
  double upload_seconds_ = 0;           // that of() has not reported
  Stream stream_;
  BlockedDeviceCsr<double> local_, ghost_;
  bool has_ghost_ = false, has_entries_ = true;
  std::unique_ptr<BoundaryProduct> boundary_;
  std::uint64_t version_;       // of the values in GPU memory
  DeviceBuffer<double> ahead_;  // values of the local block in another version
  std::optional<std::uint64_t> version_ahead_;
  std::optional<Stream> stream_ahead_;

  // Of blocks in an order; else null and empty.
  OrderedMatrix* ordered_ = nullptr;
  std::shared_ptr<DeviceBlocks> callers_;
  std::uint64_t callers_version_ = 0;           // that these blocks have seen
  DeviceBuffer<std::int32_t> order_, entries_;  // the caller's row of each row, entry of each entry
};

}  // namespace trireme
