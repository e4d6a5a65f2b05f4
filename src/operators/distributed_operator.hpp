// SPDX-License-Identifier: BSD-3-Clause
// y = A x on all ranks by host kernels; the halo travels while the local product runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/array.hpp"
#include "kernels/registry.hpp"
#include "operators/distributed_matrix.hpp"
#include "operators/halo.hpp"
#include "operators/product_times.hpp"

namespace trireme {

// Several operators (kernels) may share one matrix; the kernels keep views of it.
class DistributedOperator {
 public:
  // Builds both blocks with the named kernel. Throws the same Error on every rank. Collective.
  DistributedOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel);

  const DistributedMatrix& matrix() const { return *matrix_; }
  const std::string& kernel() const { return kernel_; }
  double build_seconds() const { return build_seconds_; }

  // x and y: this rank's part, local_rows() long, not overlapping. Collective, timed.
  void multiply(std::span<const double> x, std::span<double> y);
  // y = A^T x by the plain CSR whatever the kernel: serial on each rank, the same bits from run to
  // run. Collective.
  void multiply_transpose(std::span<const double> x, std::span<double> y);

  // New values in the order of the slab that the matrix was distributed from.
  void update_values(std::span<const double> values);
  // The matrix has new values already (another operator's update_values): hand them to the kernels.
  void refresh_values();

  // Both blocks together: bytes added, padding over all stored entries, steps of local then ghost.
  KernelStatistics statistics() const;
  ProductTimes& times() { return times_; }

  // For loops that fuse work into the product: the parts of multiply().
  HostKernel<double>& local_kernel() { return *local_; }
  HostKernel<double>* ghost_kernel() { return ghost_.get(); }  // null: this rank has no ghosts
  void begin_halo(std::span<const double> x);  // packs and sends; x may be read meanwhile
  std::span<const double> end_halo();          // the ghost vector
  // Called around the parts by whoever logs; see mat_shell.cpp.
  struct Observer {
    virtual ~Observer() = default;
    enum class Part { halo, local, ghost };
    virtual void begin(Part part) = 0;
    virtual void end(Part part) = 0;
  };
  void observe(Observer* observer) { observer_ = observer; }  // null: nobody; not owned

 private:
  void pack(std::span<const double> x);

  std::shared_ptr<DistributedMatrix> matrix_;
  std::string kernel_;
  std::unique_ptr<HostKernel<double>> local_, ghost_;
  Array<double> packed_, ghosts_;
  HaloExchange exchange_;
  ProductTimes times_;
  Observer* observer_ = nullptr;
  double build_seconds_ = 0;
};

}  // namespace trireme
