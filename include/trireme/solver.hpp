// SPDX-License-Identifier: BSD-3-Clause
// Trireme in C++20, without PETSc and HDF5: on CPUs or on one GPU; in builds with MPI also on the
// CPUs of many processes. The Python package trireme is made of nothing else.
//
//   using namespace trireme::api;
//   Solver solver({.rows = n, .cols = n, .row_ptr = ptr, .col_idx = idx, .values = a});
//   SolveReport report = solver.solve(b, x, {.rtol = 1e-8});
//
// Stable: what this header declares keeps its name and its meaning from version 0.2.0 on, until
// version 1.0 at least. Later versions may add members, words for an option, and functions.
//
// Errors: a function that cannot do what it is asked throws Failure, whose text is one line that
// says what is wrong, where, and what to do. A solve that does not converge is no Failure: its
// report says so.
//
// Threads: objects may be used by different threads at the same time, but one object by one thread
// at a time. Functions use the threads of OpenMP, as many as OMP_NUM_THREADS says.
#ifndef TRIREME_SOLVER_HPP
#define TRIREME_SOLVER_HPP

#include <trireme/version.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trireme::api {

class Failure : public std::runtime_error {
 public:
  enum class Kind {
    usage,     // an unknown word, a number out of range, sizes that do not fit together
    input,     // the matrix or b: a value that is not finite, an index out of range, unfit for the
               // method
    resource,  // not enough memory, or no such device
    internal   // a bug in Trireme, or an unexpected error of a library
  };
  Failure(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

using Indices = std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>>;

// Numbers in the memory of the GPU that a solver works on. They are touched after what `stream` (a
// cudaStream_t; null: the legacy default stream) has when a function is called.
template <class T>
struct GpuArray {
  T* data = nullptr;
  std::size_t size = 0;
  void* stream = nullptr;
};

// A matrix in compressed sparse rows, in the caller's arrays, which are copied: 12 bytes per
// nonzero. Columns of a row need not be sorted, and entries of the same place add up. Of a solver
// on several processes: the rows of this process, which follow those of the process before, with
// the columns of the whole matrix.
struct CsrArrays {
  std::int64_t rows = 0, cols = 0;
  Indices row_ptr{};                 // rows + 1 offsets, ascending from 0
  Indices col_idx{};                 // nnz column numbers from 0
  std::span<const double> values{};  // nnz
};

struct MultigridOptions {
  std::string cycle = "v";             // v, w
  std::string smoother = "chebyshev";  // chebyshev, jacobi, l1-jacobi, block-jacobi
  std::int32_t degree = 2;             // products of one smoothing, 1 to 8
  double threshold = 0.25;             // of strong connections, 0 to below 1
  bool smoothed_prolongator = true;
  double fill = 0.7;                   // most nonzeros of a level per nonzero of the finer one
  std::int32_t aggressive_levels = 0;  // finest levels that are coarsened twice at once
  std::int32_t max_levels = 20;
  std::int32_t coarsest_rows = 400;  // a level of at most so many rows is inverted
};

struct SolverOptions {
  // auto, or a name of methods(): cg, bicgstab, minres, gmres, ... auto looks at the matrix, begins
  // with what is cheapest, and goes on to another one where that fails.
  std::string method = "auto";
  // auto, none, jacobi, block-jacobi, chebyshev, multigrid, fsai, spai, ilu, icc. auto begins with
  // jacobi and changes to what pays while it solves. chebyshev, fsai and icc are for methods for
  // symmetric matrices, spai and ilu for the others. ilu and icc are incomplete factors, on several
  // processes those of the rows and columns of each.
  std::string preconditioner = "auto";
  std::string kernel = "auto";       // or a name of kernels()
  std::string precision = "double";  // double, or mixed: matrix values in FP32, corrected in FP64
  std::string device = "auto";       // auto, cpu, cuda, or a GPU by its number: cuda:1
  // auto, none, diagonal, ruiz, matching: by which powers of two rows and columns are multiplied.
  std::string scaling = "auto";
  // Consecutive rows that are the unknowns of one node, 1 to 32. With 1, multigrid finds more where
  // the pattern shows them.
  std::int32_t block_size = 1;
  std::int32_t restart = 30;  // of gmres
  std::int32_t chebyshev_degree = 4;
  std::int32_t ilu_levels = 0;     // of fill, 0 to 8, for ilu and icc
  std::string ilu_order = "auto";  // given, rcm, colours: in which rows are eliminated; auto:
                                   // given on CPUs, colours on GPUs
  MultigridOptions multigrid{};
  // Of elastic bodies, for multigrid: the place of each node, `dimensions` numbers (2 or 3) after
  // each other. block_size is `dimensions` then. Empty: none.
  std::vector<double> coordinates{};
  std::int32_t dimensions = 0;
  // In place of coordinates: vectors that the matrix maps to almost zero, number k of row i at
  // [i * modes + k]. Empty: none.
  std::vector<double> near_nullspace{};
  std::int32_t modes = 0;
  // The address of the MPI_Comm of the processes that solve together, on CPUs; it is duplicated.
  // Null: this process alone. b, x, r, z, coordinates and near_nullspace have the numbers of this
  // process's rows. All other options are the same in all processes. They make and destroy the
  // solver together, and call its functions together, except rows(), gpu() and facts(). A Failure
  // is thrown in all of them.
  const void* communicator = nullptr;
};

// What a caller is shown after each iteration.
struct Iteration {
  std::int64_t number = 0;
  double relative_norm = 0;  // of the residual that the method tests, over ||b||
  // Writes the present solution, rows() numbers; called in all processes together. Null: there is
  // none at this moment, as with methods that restart and on a GPU.
  std::function<void(std::span<double>)> copy_solution{};
};

struct SolveOptions {
  // Converged: ||b - A x|| <= max(rtol ||b||, atol), or up to 2 % more, for rounding. One of them
  // is above 0.
  double rtol = 1e-8, atol = 0;
  // The same must hold, within rtol, for the residual and b with each row divided by its size,
  // where rows differ in size by 1000 or more.
  bool in_every_row = true;
  std::int64_t max_iterations = 10000;
  bool guess = false;            // x holds an initial guess
  bool drop_worse_guess = true;  // begin with 0 where the guess has a larger residual than 0
  // How many solves with this matrix are expected after this one: `auto` weighs the set-up of a
  // preconditioner and trials of kernels against them.
  std::int64_t solves_after = 0;
  // Returns true to end the solve with what it has, which one of several processes can ask for.
  // Null: none.
  std::function<bool(const Iteration&)> on_iteration{};
  // Polled while the solve runs, from the thread that called solve(); true ends it. Null: none.
  std::function<bool()> stop{};
};

enum class Status {
  converged,
  not_converged,  // max_iterations, or divergence
  breakdown,      // of the method; such as CG for a matrix that is not definite
  interrupted     // by on_iteration or stop
};

// One method that a solve has tried.
struct Attempt {
  std::string method, preconditioner, scaling;
  std::string why;      // it was tried
  std::string verdict;  // how it ended
  std::int64_t iterations = 0;
  double relative_residual = 0, seconds = 0;
};

struct SolveReport {
  Status status = Status::not_converged;
  std::string text;  // one line: how the solve has ended, and what to try where it failed
  std::int64_t iterations = 0;
  double relative_residual = 0;  // ||b - A x|| / ||b||, in FP64 from the matrix as it was given
  std::vector<double> history;   // relative norms, that of iteration 0 first
  double seconds = 0;            // of all, with set-ups that took place meanwhile
  double set_up_seconds = 0;     // of these
  std::string method, preconditioner, scaling;  // that solved it
  std::vector<std::string> notes;
  std::vector<Attempt> attempts;  // the last one is the one that solved it

  bool converged() const { return status == Status::converged; }
};

struct LevelFacts {
  std::int64_t rows = 0, nnz = 0;
};

// What `kernel: auto` knows of a kernel. Times are of one product.
struct KernelTrial {
  std::string kernel;
  std::string ghost_kernel;           // for the columns of other processes; empty: `kernel`
  double predicted_microseconds = 0;  // by the cost model
  double product_microseconds = 0;    // measured; 0: not tried
  double build_seconds = 0;           // 0: not tried
  std::string verdict;
};

struct SolverFacts {
  std::int64_t rows = 0, nnz = 0;  // of all processes
  std::string matrix;              // what a look has told: "symmetric, with a positive diagonal"
  std::string kernel, device, precision;
  std::string method, preconditioner;  // in use, or with which the next solve begins
  double build_seconds = 0;            // of kernels, those tried included
  double set_up_seconds = 0;           // of preconditioners, so far
  double product_microseconds = 0;     // median of the products so far; 0: none
  std::int64_t solves = 0, iterations = 0;
  double solve_seconds = 0;
  std::vector<LevelFacts> levels{};  // of multigrid, the finest one first
  // Of `kernel: auto`, the kernel in use first; empty: a trial of others has not paid so far.
  std::vector<KernelTrial> kernels{};
};

class Solver {
 public:
  // Throws Failure: usage for options, input for a matrix that is not square, has an index out of
  // range or a value that is not finite; resource.
  explicit Solver(const CsrArrays& matrix, const SolverOptions& options = {});
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  std::int64_t rows() const;  // of this process
  int gpu() const;            // the number of the GPU that it works on; -1: the CPU
  // Solves A x = b. b and x have rows() numbers and do not overlap. x becomes the solution, or what
  // the solve has reached. Throws Failure{input} for numbers in b or x that are not finite.
  SolveReport solve(std::span<const double> b, std::span<double> x, const SolveOptions& how = {});
  // The same where they are on the GPU. x is complete on return.
  SolveReport solve(GpuArray<const double> b, GpuArray<double> x, const SolveOptions& how = {});
  // The same for `width` vectors that lie one after another. The first one is solved by itself, and
  // shows what serves the others, which are solved together where the method can. on_iteration is
  // called for the first one only.
  std::vector<SolveReport> solve_many(std::span<const double> b, std::span<double> x,
                                      std::int64_t width, const SolveOptions& how = {});
  std::vector<SolveReport> solve_many(GpuArray<const double> b, GpuArray<double> x,
                                      std::int64_t width, const SolveOptions& how = {});
  // New values, in the order of the caller's arrays. What was set up for the old values is set up
  // anew by the next solve that needs it.
  void update(std::span<const double> values);
  // z = M^-1 r by the preconditioner that the options name, one of multigrid, fsai, jacobi and
  // none, which is set up by the first call. Throws Failure{usage} for others.
  void precondition(std::span<const double> r, std::span<double> z);
  // The same on the GPU: queues work in the stream of r, and may return before z is complete.
  void precondition(GpuArray<const double> r, GpuArray<double> z);
  SolverFacts facts() const;

  class Work;  // what it is inside, which programs do not see

 private:
  std::unique_ptr<Work> work_;
};

// A matrix that multiplies by a kernel. It may be rectangular on the CPU.
class Product {
 public:
  explicit Product(const CsrArrays& matrix, const std::string& kernel = "auto",
                   const std::string& device = "auto");
  ~Product();
  Product(Product&&) noexcept;
  Product& operator=(Product&&) noexcept;

  std::int64_t rows() const;
  std::int64_t cols() const;
  std::string kernel() const;  // the one that was chosen
  std::string device() const;
  int gpu() const;  // the number of the GPU that it works on; -1: the CPU
  // y = A x. They do not overlap.
  void multiply(std::span<const double> x, std::span<double> y);
  // The same on the GPU: queues work in the stream of x, and may return before y is complete.
  void multiply(GpuArray<const double> x, GpuArray<double> y);
  // y = A^T x by plain CSR.
  void multiply_transposed(std::span<const double> x, std::span<double> y);
  // Y = A X for `width` vectors side by side: number j of row i at [i * width + j].
  void multiply_many(std::span<const double> x, std::span<double> y, std::int64_t width);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

struct KernelFacts {
  std::string name, summary, paper;
  bool on_cpu = false, on_cuda = false;
  bool peer = false;  // there to be compared with
};
std::vector<KernelFacts> kernels();
std::vector<std::string> methods();
std::vector<std::string> preconditioners();
// Whether this build has CUDA, and this machine a GPU for it.
bool has_gpu();
// Whether this build takes SolverOptions::communicator.
bool has_mpi();

}  // namespace trireme::api

#endif
