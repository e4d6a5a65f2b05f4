// SPDX-License-Identifier: BSD-3-Clause
// The order by its word.
#include "ordering/ordering.hpp"

#include "base/error.hpp"

namespace trireme {

Array<std::int32_t> make_order(Ordering ordering, const CsrView<double>& a) {
  if (a.rows != a.cols)
    fail(ExitCode::internal, "a matrix of {} rows and {} columns has no order of its rows", a.rows,
         a.cols);
  switch (ordering) {
    case Ordering::rcm:
      return reverse_cuthill_mckee(a);
    case Ordering::cluster:
      return cluster_order(a);
    case Ordering::given:
      break;
  }
  return {};
}

}  // namespace trireme
