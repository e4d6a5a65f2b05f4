// SPDX-License-Identifier: BSD-3-Clause
// Runs a method's algorithm on the host for many right-hand sides in lockstep.
//
// The algorithm is the one that other executors run for one right-hand side. Where it asks the
// executor how the solve goes on, the answer also chooses the columns that take part in what
// follows:
//   running()              all columns that have not ended; those that have ended leave the block
//   repeat(body)           the columns whose loop goes on, until a quarter of the columns waits
//   needs_true_residual()  the columns that wait for their true residual
//   choose_if(property)    the columns that have the property
// A part of the algorithm changes only columns that take part, except that the product of an
// iteration may overwrite y of columns that wait: y holds nothing that a true residual starts from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "solvers/executors/lockstep_block.hpp"
#include "solvers/executors/lockstep_pass.hpp"
#include "solvers/host_solver.hpp"
#include "solvers/methods/common_passes.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

class LockstepExecutor {
 public:
  static constexpr bool has_row_weights = true;
  static constexpr StateAccess state_access = StateAccess::many;
  static constexpr int sums_per_pass = 8;

  // The references must outlive the executor. `block` holds the columns; all of them take part at
  // first. With `exactly`, all products are the system's exact product.
  LockstepExecutor(HostSystem& system, LockstepBlock& block, bool exactly)
      : system_(system),
        block_(block),
        inexact_(system.inexact() && !exactly),
        rows_(block.rows()),
        chunks_((rows_ + chunk_rows - 1) / chunk_rows) {}

  // The columns of memory, rows() long each, that the executor takes for itself at most.
  static std::int64_t extra_columns(std::int64_t width) {
    return width > 1 ? 2 * std::min(narrow_width, width) : 0;
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return block_.width(); }  // columns that have not left
  std::int64_t running_columns() const {
    return std::ranges::count_if(block_.columns(), [](const LockstepColumn& column) {
      return solvers::running(column.state);
    });
  }
  bool inexact() const { return inexact_; }

  bool running() {
    block_.leave([](const State& s) { return !solvers::running(s); });
    choose([](const State&) { return true; });
    return block_.width() > 0;
  }

  bool needs_true_residual() {
    return choose([](const State& s) { return solvers::needs_true_residual(s); }) > 0;
  }

  template <class Property>
  bool choose_if(const Property& property) {
    return choose(property) > 0;
  }
  // Of the columns that take part.
  template <class Property>
  bool some(const Property& property) const {
    return std::ranges::any_of(block_.columns(), [&](const LockstepColumn& column) {
      return column.takes_part && property(column.state);
    });
  }
  template <class Number>
  int most(const Number& number) const {
    int most = 0;
    for (const LockstepColumn& column : block_.columns())
      if (column.takes_part) most = std::max(most, number(column.state));
    return most;
  }

  template <class Body>
  void repeat(const Body& body) {
    const std::int64_t enough = std::max<std::int64_t>(1, block_.width() / 4);
    while (block_.width() - choose([](const State& s) { return solvers::running(s); }) < enough) {
      in_loop_ = true;
      body();
      in_loop_ = false;
    }
  }

  void product(const double* x, double* y) {
    if (!inexact_) return exact_product(x, y);
    multiply(x, y, [this](MultiVector<const double> from, MultiVector<double> to) {
      system_.multi_multiply(from, to);
      compensate(from, to);
    });
  }
  void exact_product(const double* x, double* y) {
    multiply(x, y, [this](MultiVector<const double> from, MultiVector<double> to) {
      system_.multi_multiply_exactly(from, to);
    });
  }

  template <class Step>
  void product_and_dot(const double* x, double* y, const Step& step) {
    if (!product_with_dot(x, y)) {
      product(x, y);
      pass(Dot{x, y});
    }
    finish(step);
  }

  // One column after another, each in an array of its own, so that no column sees its neighbours.
  // Eight columns are copied at once, because a row of them is a cache line.
  void apply_given(GivenPreconditioner& given, const double* r, double* z) {
    const std::int64_t width = block_.width();
    const auto rows = static_cast<std::size_t>(rows_);
    const std::vector<std::int64_t> places = taking_part();
    if (width == 1 && !places.empty()) return given.apply({r, rows}, {z, rows});
    for (std::size_t first = 0; first < places.size(); first += narrow_width) {
      const std::span<const std::int64_t> some = next_places(places, first);
      const auto count = std::ssize(some);
      narrow_x_.resize(std::max(narrow_x_.size(), rows * some.size()));
      narrow_y_.resize(std::max(narrow_y_.size(), rows * some.size()));
      const auto column = [&](Array<double>& columns, std::int64_t k) {
        return std::span(columns).subspan(static_cast<std::size_t>(k) * rows, rows);
      };
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int64_t k = 0; k < count; ++k) narrow_x_[k * rows_ + i] = r[i * width + some[k]];
      for (std::int64_t k = 0; k < count; ++k)
        given.apply(column(narrow_x_, k), column(narrow_y_, k));
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int64_t k = 0; k < count; ++k) z[i * width + some[k]] = narrow_y_[k * rows_ + i];
    }
  }

  template <class Pass>
  void pass(const Pass& pass) {
    const std::int64_t width = block_.width();
    begin_pass<Pass>();
#pragma omp parallel for schedule(static) if (chunks_ * width > 32)
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk)
      run_rows_simd(pass, scalars_, groups_, width, chunk * chunk_rows,
                    std::min((chunk + 1) * chunk_rows, rows_), sums_of<Pass>(chunk));
    end_pass<Pass>();
  }

  template <class Pass, class Step>
  void pass(const Pass& p, const Step& step) {
    pass(p);
    finish(step);
  }

  void forget_sums() { pending_.clear(); }

  // Adds the pending sums of all columns over all processes, applies the step to each column that
  // takes part, and tells the observers of the columns whose iteration has ended.
  template <class Step>
  void finish(const Step& step) {
    const std::int64_t width = block_.width();
    const std::int64_t count = std::ssize(pending_) / width;
    for (const LockstepColumn& column : block_.columns())  // one process stops the column on all
      pending_.push_back(column.observer && column.observer->stop_requested() ? 1 : 0);
    system_.sum(pending_);
    sums_.resize(static_cast<std::size_t>(count));
    for (std::int64_t j = 0; j < width; ++j) {
      LockstepColumn& column = block_.columns()[j];
      if (!column.takes_part) continue;
      for (std::int64_t k = 0; k < count; ++k) sums_[k] = pending_[k * width + j];
      if (!apply(column.state, step, sums_.data(), false)) continue;
      if (column.observer && column.observer->iteration)
        overrule(column.state, column.observer->iteration(column.state, Iterate{}));
      if (pending_[count * width + j] > 0 && solvers::running(column.state))
        stop(column.state, Reason::interrupted);
    }
    pending_.clear();
  }

 private:
  static constexpr std::int64_t chunk_rows = 512;  // one thread sums the rows of a chunk in order
  static constexpr std::int64_t narrow_width = 8;  // of products for a part of the columns

  template <class Pass>
  void begin_pass() {
    find_groups(Pass::always);
    scalars_.gather(block_.columns());
    partials_.assign(static_cast<std::size_t>(chunks_ * Pass::sums * block_.width()), 0.0);
  }
  // The sums of a chunk, to which its rows are added in order.
  template <class Pass>
  double* sums_of(std::int64_t chunk) {
    return partials_.data() + chunk * Pass::sums * block_.width();
  }
  // The sums of all chunks become pending.
  template <class Pass>
  void end_pass() {
    const std::int64_t count = Pass::sums * block_.width();
    const std::size_t before = pending_.size();
    pending_.resize(before + static_cast<std::size_t>(count), 0.0);
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk)
      for (std::int64_t k = 0; k < count; ++k) pending_[before + k] += partials_[chunk * count + k];
  }

  // y = A x, and the sums x.y, which are added while a row is in a register. The bits are those of
  // a pass after the product. Returns false, and does nothing, where the system has no such
  // product, or where a part of the columns needs its y.
  bool product_with_dot(const double* x, double* y) {
    if (inexact_ || !multiplies_all()) return false;
    begin_pass<Dot>();
    const bool done = system_.multiply_and_dot(side_by_side(x, rows_, block_.width()),
                                               side_by_side(y, rows_, block_.width()), chunk_rows,
                                               partials_.data());
    if (done) end_pass<Dot>();
    return done;
  }

  // Makes the columns with the property take part, and no others; returns how many they are.
  template <class Property>
  std::int64_t choose(const Property& property) {
    for (LockstepColumn& column : block_.columns()) column.takes_part = property(column.state);
    return std::ranges::count(block_.columns(), true, &LockstepColumn::takes_part);
  }

  // The columns that take part in a pass, in groups as wide as possible.
  void find_groups(bool always) {
    const std::vector<LockstepColumn>& columns = block_.columns();
    const auto in_pass = [&](const LockstepColumn& column) {
      return column.takes_part && (always || live(column.state));
    };
    groups_.clear();
    for (auto first = columns.begin(); first != columns.end();) {
      if (!in_pass(*first)) {
        ++first;
        continue;
      }
      const auto end = std::find_if_not(first, columns.end(), in_pass);
      const std::ptrdiff_t lanes = end - first >= 8 ? 8 : end - first >= 4 ? 4 : 1;
      groups_.push_back(
          {static_cast<std::int32_t>(first - columns.begin()), static_cast<std::int32_t>(lanes)});
      first += lanes;
    }
  }

  // y += defect x; see Compensate.
  void compensate(MultiVector<const double> x, MultiVector<double> y) {
    const std::span<const float> defect = system_.row_defect();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < x.width; ++j)
        y(i, j) += static_cast<double>(defect[i]) * x(i, j);
  }

  // Whether a product may write y of all columns.
  bool multiplies_all() const {
    return in_loop_ || std::ranges::all_of(block_.columns(), &LockstepColumn::takes_part);
  }

  // Y = A X of all columns, or of those that take part where the others still need their y.
  template <class Product>
  void multiply(const double* x, double* y, const Product& product) {
    const std::int64_t width = block_.width();
    const MultiVector<const double> from = side_by_side(x, rows_, width);
    const MultiVector<double> to = side_by_side(y, rows_, width);
    if (multiplies_all()) return product(from, to);
    const std::vector<std::int64_t> places = taking_part();
    for (std::size_t first = 0; first < places.size(); first += narrow_width)
      multiply_places(next_places(places, first), from, to, product);
  }

  std::vector<std::int64_t> taking_part() const {
    std::vector<std::int64_t> places;
    for (std::int64_t j = 0; j < block_.width(); ++j)
      if (block_.columns()[j].takes_part) places.push_back(j);
    return places;
  }

  static std::span<const std::int64_t> next_places(std::span<const std::int64_t> places,
                                                   std::size_t first) {
    return places.subspan(first, std::min<std::size_t>(narrow_width, places.size() - first));
  }

  template <class Product>
  void multiply_places(std::span<const std::int64_t> places, MultiVector<const double> x,
                       MultiVector<double> y, const Product& product) {
    const std::int64_t width = std::ssize(places);
    narrow_x_.resize(static_cast<std::size_t>(rows_ * width));
    narrow_y_.resize(static_cast<std::size_t>(rows_ * width));
    const MultiVector<double> from = side_by_side(narrow_x_.data(), rows_, width);
    const MultiVector<double> to = side_by_side(narrow_y_.data(), rows_, width);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < width; ++j) from(i, j) = x(i, places[j]);
    product(from, to);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < width; ++j) y(i, places[j]) = to(i, j);
  }

  HostSystem& system_;
  LockstepBlock& block_;
  bool inexact_;
  bool in_loop_ = false;  // the algorithm of an iteration runs
  std::int64_t rows_, chunks_;
  std::vector<LaneGroup> groups_;
  LaneScalars scalars_;
  Array<double> partials_;
  std::vector<double> pending_;        // sum k of column j at k * width + j
  std::vector<double> sums_;           // of one column
  Array<double> narrow_x_, narrow_y_;  // some columns of a product, or of apply_given()
};

}  // namespace trireme::solvers
