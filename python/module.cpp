// SPDX-License-Identifier: BSD-3-Clause
// The extension trireme._core: the C++ interface as Python objects, and nothing more. Arrays come
// contiguous and of the right type; the files *.py beside it see to that.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trireme/solver.hpp"

namespace nb = nanobind;
namespace api = trireme::api;

namespace {

template <class... Flags>
using Array = nb::ndarray<Flags..., nb::c_contig, nb::device::cpu>;
using In = Array<const double, nb::ndim<1>>;
using Out = Array<double, nb::ndim<1>>;
using AnyIndices = Array<nb::ro, nb::ndim<1>>;

constexpr auto between_polls = std::chrono::milliseconds(20);

// An address in the memory of a GPU, or a stream of CUDA, as Python's libraries give it.
using Address = std::uintptr_t;

template <class T>
api::GpuArray<T> on_gpu(Address data, std::size_t size, Address stream) {
  return {
      .data = reinterpret_cast<T*>(data), .size = size, .stream = reinterpret_cast<void*>(stream)};
}

std::span<const double> span_of(const In& array) { return {array.data(), array.size()}; }
std::span<double> span_of(const Out& array) { return {array.data(), array.size()}; }

api::Indices indices_of(const AnyIndices& array) {
  if (array.dtype() == nb::dtype<std::int32_t>()) {
    return std::span(static_cast<const std::int32_t*>(array.data()), array.size());
  }
  if (array.dtype() == nb::dtype<std::int64_t>()) {
    return std::span(static_cast<const std::int64_t*>(array.data()), array.size());
  }
  throw nb::type_error("indices are int32 or int64");
}

api::CsrArrays matrix_of(std::int64_t rows, std::int64_t cols, const AnyIndices& row_ptr,
                         const AnyIndices& col_idx, const In& values) {
  return {.rows = rows,
          .cols = cols,
          .row_ptr = indices_of(row_ptr),
          .col_idx = indices_of(col_idx),
          .values = span_of(values)};
}

std::vector<double> vector_of(const In& array) {
  return {array.data(), array.data() + array.size()};
}

nb::object new_vector(const std::function<void(std::span<double>)>& fill, std::int64_t rows) {
  const auto size = static_cast<std::size_t>(rows);
  auto* numbers = new double[size];
  const nb::capsule owner(numbers, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  fill({numbers, size});
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(numbers, {size}, owner));
}

// What Python says while a solve runs without the GIL. The first exception ends the solve, and is
// raised when the solver has returned, so that it passes through no code of the library.
class Listener {
 public:
  Listener(nb::object callback, std::int64_t solution_every, bool polls_signals, std::int64_t rows)
      : callback_(std::move(callback)),
        solution_every_(solution_every),
        polls_signals_(polls_signals),
        rows_(rows) {}

  void attach(api::SolveOptions& how) {
    how.stop = nullptr;
    how.on_iteration = nullptr;
    if (polls_signals_) how.stop = [this] { return failure_ || signal_has_raised(); };
    if (!callback_.is_none()) {
      how.on_iteration = [this](const api::Iteration& now) { return shown_wants_end(now); };
    }
  }

  // Needs the GIL.
  void raise_if_failed() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  bool signal_has_raised() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_poll_ < between_polls) return false;
    last_poll_ = now;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    failure_ = std::make_exception_ptr(nb::python_error());
    return true;
  }

  bool shown_wants_end(const api::Iteration& now) {
    if (failure_) return true;
    if (now.number == 0) return false;
    const nb::gil_scoped_acquire gil;
    try {
      nb::object x = nb::none();
      if (solution_every_ > 0 && now.number % solution_every_ == 0 && now.copy_solution) {
        x = new_vector(now.copy_solution, rows_);
      }
      return callback_(now.number, now.relative_norm, x).ptr() == Py_True;
    } catch (...) {
      failure_ = std::current_exception();
      return true;
    }
  }

  nb::object callback_;
  std::int64_t solution_every_;
  bool polls_signals_;
  std::int64_t rows_;
  std::exception_ptr failure_;
  std::chrono::steady_clock::time_point last_poll_ = std::chrono::steady_clock::now();
};

// Calls `solve` without the GIL. `how` is a copy, so that it can hold functions of this call.
template <class Solve>
auto listening(const api::Solver& solver, api::SolveOptions how, nb::object callback,
               std::int64_t solution_every, bool polls_signals, Solve solve) {
  Listener listener(std::move(callback), solution_every, polls_signals, solver.rows());
  listener.attach(how);
  using Result = decltype(solve(how));
  std::optional<Result> result;
  std::exception_ptr thrown;
  {
    const nb::gil_scoped_release no_gil;
    try {
      result.emplace(solve(how));
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  listener.raise_if_failed();
  if (thrown) std::rethrow_exception(thrown);
  return std::move(*result);
}

const char* word_of(api::Status status) {
  switch (status) {
    case api::Status::converged:
      return "converged";
    case api::Status::not_converged:
      return "not converged";
    case api::Status::breakdown:
      return "breakdown";
    case api::Status::interrupted:
      return "interrupted";
  }
  return "unknown";
}

nb::dict dict_of(const api::Attempt& attempt) {
  nb::dict d;
  d["method"] = attempt.method;
  d["preconditioner"] = attempt.preconditioner;
  d["scaling"] = attempt.scaling;
  d["why"] = attempt.why;
  d["verdict"] = attempt.verdict;
  d["iterations"] = attempt.iterations;
  d["relative_residual"] = attempt.relative_residual;
  d["seconds"] = attempt.seconds;
  return d;
}

nb::dict dict_of(const api::SolveReport& report) {
  nb::dict d;
  d["status"] = word_of(report.status);
  d["text"] = report.text;
  d["iterations"] = report.iterations;
  d["relative_residual"] = report.relative_residual;
  d["seconds"] = report.seconds;
  d["set_up_seconds"] = report.set_up_seconds;
  d["method"] = report.method;
  d["preconditioner"] = report.preconditioner;
  d["scaling"] = report.scaling;
  d["notes"] = report.notes;
  nb::list attempts;
  for (const api::Attempt& attempt : report.attempts) attempts.append(dict_of(attempt));
  d["attempts"] = attempts;
  d["history"] = report.history;
  return d;
}

nb::dict dict_of(const api::SolverFacts& facts) {
  nb::dict d;
  d["rows"] = facts.rows;
  d["nnz"] = facts.nnz;
  d["matrix"] = facts.matrix;
  d["kernel"] = facts.kernel;
  d["device"] = facts.device;
  d["precision"] = facts.precision;
  d["method"] = facts.method;
  d["preconditioner"] = facts.preconditioner;
  d["build_seconds"] = facts.build_seconds;
  d["set_up_seconds"] = facts.set_up_seconds;
  d["product_microseconds"] = facts.product_microseconds;
  d["solves"] = facts.solves;
  d["iterations"] = facts.iterations;
  d["solve_seconds"] = facts.solve_seconds;
  nb::list levels;
  for (const api::LevelFacts& level : facts.levels) {
    nb::dict of_level;
    of_level["rows"] = level.rows;
    of_level["nnz"] = level.nnz;
    levels.append(of_level);
  }
  d["levels"] = levels;
  nb::list kernels;
  for (const api::KernelTrial& trial : facts.kernels) {
    nb::dict of_kernel;
    of_kernel["kernel"] = trial.kernel;
    of_kernel["ghost_kernel"] = trial.ghost_kernel;
    of_kernel["predicted_microseconds"] = trial.predicted_microseconds;
    of_kernel["product_microseconds"] = trial.product_microseconds;
    of_kernel["build_seconds"] = trial.build_seconds;
    of_kernel["verdict"] = trial.verdict;
    kernels.append(of_kernel);
  }
  d["kernels"] = kernels;
  return d;
}

nb::dict dict_of(const api::KernelFacts& facts) {
  nb::dict d;
  d["summary"] = facts.summary;
  d["paper"] = facts.paper;
  d["on_cpu"] = facts.on_cpu;
  d["on_cuda"] = facts.on_cuda;
  d["peer"] = facts.peer;
  return d;
}

void set_error(const api::Failure& failure) {
  const auto raise_ours = [&](const char* name) {
    const nb::object type = nb::module_::import_("trireme._errors").attr(name);
    PyErr_SetString(type.ptr(), failure.what());
  };
  switch (failure.kind()) {
    case api::Failure::Kind::usage:
      PyErr_SetString(PyExc_ValueError, failure.what());
      return;
    case api::Failure::Kind::input:
      raise_ours("InputError");
      return;
    case api::Failure::Kind::resource:
      if (std::string(failure.what()).find("memory") != std::string::npos) {
        PyErr_SetString(PyExc_MemoryError, failure.what());
      } else {
        raise_ours("DeviceError");
      }
      return;
    case api::Failure::Kind::internal:
      break;
  }
  PyErr_SetString(PyExc_RuntimeError, failure.what());
}

void bind_options(nb::module_& m) {
  nb::class_<api::MultigridOptions>(m, "MultigridOptions")
      .def(nb::init<>())
      .def_rw("cycle", &api::MultigridOptions::cycle)
      .def_rw("smoother", &api::MultigridOptions::smoother)
      .def_rw("degree", &api::MultigridOptions::degree)
      .def_rw("threshold", &api::MultigridOptions::threshold)
      .def_rw("smoothed_prolongator", &api::MultigridOptions::smoothed_prolongator)
      .def_rw("fill", &api::MultigridOptions::fill)
      .def_rw("aggressive_levels", &api::MultigridOptions::aggressive_levels)
      .def_rw("max_levels", &api::MultigridOptions::max_levels)
      .def_rw("coarsest_rows", &api::MultigridOptions::coarsest_rows);

  nb::class_<api::SolverOptions>(m, "SolverOptions")
      .def(nb::init<>())
      .def_rw("method", &api::SolverOptions::method)
      .def_rw("preconditioner", &api::SolverOptions::preconditioner)
      .def_rw("kernel", &api::SolverOptions::kernel)
      .def_rw("precision", &api::SolverOptions::precision)
      .def_rw("device", &api::SolverOptions::device)
      .def_rw("scaling", &api::SolverOptions::scaling)
      .def_rw("block_size", &api::SolverOptions::block_size)
      .def_rw("restart", &api::SolverOptions::restart)
      .def_rw("chebyshev_degree", &api::SolverOptions::chebyshev_degree)
      .def_rw("ilu_levels", &api::SolverOptions::ilu_levels)
      .def_rw("ilu_order", &api::SolverOptions::ilu_order)
      .def_rw("multigrid", &api::SolverOptions::multigrid)
      .def_prop_rw(
          "communicator",
          [](const api::SolverOptions& options) {
            return reinterpret_cast<Address>(options.communicator);
          },
          [](api::SolverOptions& options, Address address) {
            options.communicator = reinterpret_cast<const void*>(address);
          })
      .def("set_coordinates",
           [](api::SolverOptions& options, const In& places, std::int32_t dimensions) {
             options.coordinates = vector_of(places);
             options.dimensions = dimensions;
           })
      .def("set_near_nullspace",
           [](api::SolverOptions& options, const In& vectors, std::int32_t modes) {
             options.near_nullspace = vector_of(vectors);
             options.modes = modes;
           });

  const api::SolveOptions defaults;
  nb::class_<api::SolveOptions>(m, "SolveOptions")
      .def(
          "__init__",
          [](api::SolveOptions* self, double rtol, double atol, std::int64_t max_iterations,
             bool guess, std::int64_t solves_after) {
            auto* const made = new (self) api::SolveOptions;
            made->rtol = rtol;
            made->atol = atol;
            made->max_iterations = max_iterations;
            made->guess = guess;
            made->solves_after = solves_after;
          },
          nb::arg("rtol") = defaults.rtol, nb::arg("atol") = defaults.atol,
          nb::arg("max_iterations") = defaults.max_iterations, nb::arg("guess") = defaults.guess,
          nb::arg("solves_after") = defaults.solves_after)
      .def_rw("rtol", &api::SolveOptions::rtol)
      .def_rw("atol", &api::SolveOptions::atol)
      .def_rw("in_every_row", &api::SolveOptions::in_every_row)
      .def_rw("drop_worse_guess", &api::SolveOptions::drop_worse_guess)
      .def_rw("max_iterations", &api::SolveOptions::max_iterations)
      .def_rw("guess", &api::SolveOptions::guess)
      .def_rw("solves_after", &api::SolveOptions::solves_after);
}

void bind_solver(nb::module_& m) {
  nb::class_<api::SolveReport>(m, "SolveReport")
      .def_prop_ro("converged", &api::SolveReport::converged)
      .def_prop_ro("status", [](const api::SolveReport& r) { return word_of(r.status); })
      .def_ro("text", &api::SolveReport::text)
      .def_ro("iterations", &api::SolveReport::iterations)
      .def_ro("relative_residual", &api::SolveReport::relative_residual)
      .def("as_dict", [](const api::SolveReport& r) { return dict_of(r); });

  nb::class_<api::Solver>(m, "Solver")
      .def("__init__",
           [](api::Solver* self, std::int64_t rows, std::int64_t cols, const AnyIndices& row_ptr,
              const AnyIndices& col_idx, const In& values, const api::SolverOptions& options) {
             const api::CsrArrays matrix = matrix_of(rows, cols, row_ptr, col_idx, values);
             const nb::gil_scoped_release no_gil;
             new (self) api::Solver(matrix, options);
           })
      .def_prop_ro("rows", &api::Solver::rows)
      .def(
          "solve",
          [](api::Solver& self, const In& b, const Out& x, const api::SolveOptions& how,
             nb::object callback, std::int64_t solution_every, bool polls_signals) {
            return listening(self, how, std::move(callback), solution_every, polls_signals,
                             [&](const api::SolveOptions& listened) {
                               return self.solve(span_of(b), span_of(x), listened);
                             });
          },
          nb::arg("b"), nb::arg("x"), nb::arg("how"), nb::arg("callback").none(),
          nb::arg("solution_every"), nb::arg("polls_signals"))
      .def(
          "solve_many",
          [](api::Solver& self, const In& b, const Out& x, std::int64_t width,
             const api::SolveOptions& how, nb::object callback, std::int64_t solution_every,
             bool polls_signals) {
            return listening(self, how, std::move(callback), solution_every, polls_signals,
                             [&](const api::SolveOptions& listened) {
                               return self.solve_many(span_of(b), span_of(x), width, listened);
                             });
          },
          nb::arg("b"), nb::arg("x"), nb::arg("width"), nb::arg("how"), nb::arg("callback").none(),
          nb::arg("solution_every"), nb::arg("polls_signals"))
      .def_prop_ro("gpu", &api::Solver::gpu)
      .def(
          "solve_on_gpu",
          [](api::Solver& self, Address b, Address x, std::size_t size, Address stream,
             const api::SolveOptions& how, nb::object callback, std::int64_t solution_every,
             bool polls_signals) {
            return listening(self, how, std::move(callback), solution_every, polls_signals,
                             [&](const api::SolveOptions& listened) {
                               return self.solve(on_gpu<const double>(b, size, stream),
                                                 on_gpu<double>(x, size, stream), listened);
                             });
          },
          nb::arg("b"), nb::arg("x"), nb::arg("size"), nb::arg("stream"), nb::arg("how"),
          nb::arg("callback").none(), nb::arg("solution_every"), nb::arg("polls_signals"))
      .def(
          "solve_many_on_gpu",
          [](api::Solver& self, Address b, Address x, std::size_t size, Address stream,
             std::int64_t width, const api::SolveOptions& how, nb::object callback,
             std::int64_t solution_every, bool polls_signals) {
            const std::size_t all = size * static_cast<std::size_t>(width);
            return listening(self, how, std::move(callback), solution_every, polls_signals,
                             [&](const api::SolveOptions& listened) {
                               return self.solve_many(on_gpu<const double>(b, all, stream),
                                                      on_gpu<double>(x, all, stream), width,
                                                      listened);
                             });
          },
          nb::arg("b"), nb::arg("x"), nb::arg("size"), nb::arg("stream"), nb::arg("width"),
          nb::arg("how"), nb::arg("callback").none(), nb::arg("solution_every"),
          nb::arg("polls_signals"))
      .def("update",
           [](api::Solver& self, const In& values) {
             const nb::gil_scoped_release no_gil;
             self.update(span_of(values));
           })
      .def("precondition",
           [](api::Solver& self, const In& r, const Out& z) {
             const nb::gil_scoped_release no_gil;
             self.precondition(span_of(r), span_of(z));
           })
      .def("precondition_on_gpu",
           [](api::Solver& self, Address r, Address z, std::size_t size, Address stream) {
             const nb::gil_scoped_release no_gil;
             self.precondition(on_gpu<const double>(r, size, stream),
                               on_gpu<double>(z, size, stream));
           })
      .def("facts", [](const api::Solver& self) { return dict_of(self.facts()); });
}

void bind_product(nb::module_& m) {
  nb::class_<api::Product>(m, "Product")
      .def("__init__",
           [](api::Product* self, std::int64_t rows, std::int64_t cols, const AnyIndices& row_ptr,
              const AnyIndices& col_idx, const In& values, const std::string& kernel,
              const std::string& device) {
             const api::CsrArrays matrix = matrix_of(rows, cols, row_ptr, col_idx, values);
             const nb::gil_scoped_release no_gil;
             new (self) api::Product(matrix, kernel, device);
           })
      .def_prop_ro("kernel", &api::Product::kernel)
      .def_prop_ro("device", &api::Product::device)
      .def_prop_ro("gpu", &api::Product::gpu)
      .def("multiply_on_gpu",
           [](api::Product& self, Address x, Address y, std::size_t size, Address stream) {
             const nb::gil_scoped_release no_gil;
             self.multiply(on_gpu<const double>(x, size, stream), on_gpu<double>(y, size, stream));
           })
      .def("multiply",
           [](api::Product& self, const In& x, const Out& y) {
             const nb::gil_scoped_release no_gil;
             self.multiply(span_of(x), span_of(y));
           })
      .def("multiply_transposed",
           [](api::Product& self, const In& x, const Out& y) {
             const nb::gil_scoped_release no_gil;
             self.multiply_transposed(span_of(x), span_of(y));
           })
      .def("multiply_many", [](api::Product& self, const In& x, const Out& y, std::int64_t width) {
        const nb::gil_scoped_release no_gil;
        self.multiply_many(span_of(x), span_of(y), width);
      });
}

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // of solvers that live until the interpreter ends
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const api::Failure& failure) {
      set_error(failure);
    }
  });
  m.attr("version") = TRIREME_VERSION;
  m.attr("has_mpi") = api::has_mpi();
  bind_options(m);
  bind_solver(m);
  bind_product(m);
  m.def("kernels", [] {
    nb::dict all;
    for (const api::KernelFacts& facts : api::kernels()) {
      all[facts.name.c_str()] = dict_of(facts);
    }
    return all;
  });
  m.def("methods", &api::methods);
  m.def("preconditioners", &api::preconditioners);
  m.def("has_gpu", &api::has_gpu);
}
