/* SPDX-License-Identifier: BSD-3-Clause */
/*
  Trireme for PETSc programs, in C. The header serves C, C++ and, through bind(C), Fortran.

  A program needs this header only to call Trireme from its code. Without it, options suffice:

    ./program -dll_prepend /path/libtrireme_petsc.so -mat_type trireme -ksp_type trireme_cg

  From code:

    PetscCall(TriremeInitializePackage());
    PetscCall(MatCreateTrireme(A, "dasp", "auto", "double", &fast));
    PetscCall(KSPSetOperators(ksp, fast, fast));
    PetscCall(KSPSetType(ksp, KSPTRIREMECG));

  Stable: what this header declares keeps its name, its arguments and its meaning from version 0.2.0
  on, until version 1.0 at least. Later versions may add names, words for an argument, and options.
  The library belongs to the PETSc and the MPI that it was built with. It refuses a PETSc of another
  scalar type, index size or version when it is loaded.

  Errors: every function returns a PETSc error code. The message of the error is one line that says
  what is wrong and what to do. A program is never ended by Trireme.
*/
#ifndef TRIREME_PETSC_H
#define TRIREME_PETSC_H

#include <petscksp.h>
#include <trireme/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
  Mat types. MATTRIREME becomes MATSEQAIJTRIREME on one process and MATMPIAIJTRIREME on several, as
  MATAIJ does. Such a matrix is an AIJ matrix whose MatMult and MatMultAdd are computed by a kernel
  of Trireme; everything else is AIJ's own: assembly, factorisations, every preconditioner,
  MatMultTranspose, MatView, MatConvert, products of matrices. PETSc's names for functions of AIJ
  (MatSeqAIJSetPreallocation, MatMPIAIJGetSeqAIJ, ...) work with it.

  The first product after an assembly copies the matrix and builds the kernel (TriremeBuild in
  -log_view). Where only values have changed since then, in whichever way, the next product hands
  the new values to the same kernel (TriremeUpdateValues). A new nonzero pattern is built anew.

  A matrix that is not square, or whose rows and columns are split differently over the processes,
  is multiplied by AIJ itself.

  Options, with the prefix of the matrix; MatSetFromOptions reads them, and the first product reads
  those that neither MatSetFromOptions nor a call has decided:

    -mat_trireme_kernel <auto>       a name of `solve --list-kernels`, or auto
    -mat_trireme_device <auto>       cpu, cuda, or auto: the CPU until a KSP of Trireme solves with
                                     the matrix, and from then on a GPU if every process has one
    -mat_trireme_precision <double>  double, or mixed: the loop of a KSP of Trireme reads the values
                                     in single precision and corrects the residual by the matrix
                                     itself. MatMult is by the matrix itself in both cases, so that
                                     other KSPs and preconditioners are not affected

  With device cuda and vectors in host memory, MatMult copies x to the GPU and y back. A KSP of
  Trireme keeps all its vectors on the GPU and copies only b and x, so that it is the way to a GPU
  with a PETSc that has no CUDA.
*/
#define MATTRIREME "trireme"
#define MATSEQAIJTRIREME "seqaijtrireme"
#define MATMPIAIJTRIREME "mpiaijtrireme"

/*
  KSP types: conjugate gradients, BiCGStab, BiCGStab(2), and MINRES for symmetric indefinite
  systems. Each runs the whole loop by itself: for a MATTRIREME on the GPU as one graph or kernel
  without returning to the host, for any other Mat by MatMult. Tolerances, norms, monitors,
  convergence tests and KSPConvergedReason are PETSc's. Convergence is checked against the true
  residual b - A x. Preconditioners: none, jacobi, pbjacobi, vpbjacobi and the types below
  (PCTRIREMEMG where the matrix is multiplied on the CPU).

  KSPMatSolve() solves for all columns of its dense matrices at once, in host memory: one product,
  one exchange between processes and one sum serve all of them. The reason is that of the worst
  column. KSPTRIREMEBLOCKCG is conjugate gradients for which the columns also search in one space,
  so that they need fewer iterations; for KSPSolve() it is KSPTRIREMECG. KSPTRIREMEPIPELINEDCG is
  conjugate gradients on CPUs whose sums over the processes run beside the product; it solves for
  one column after the other.
*/
#define KSPTRIREMECG "trireme_cg"
#define KSPTRIREMEBICGSTAB "trireme_bicgstab"
#define KSPTRIREMEBICGSTAB2 "trireme_bicgstab2"
#define KSPTRIREMEGMRES "trireme_gmres"
#define KSPTRIREMEMINRES "trireme_minres"
#define KSPTRIREMEBLOCKCG "trireme_block_cg"
#define KSPTRIREMEPIPELINEDCG "trireme_pipelined_cg"

/*
  PC types. These work under any KSP:

    PCTRIREMEFSAI         a factorised sparse approximate inverse of a symmetric positive definite
                          Pmat, by two products per application
    PCTRIREMEICC          incomplete Cholesky factors of the rows and columns of each process, of a
                          symmetric positive definite Pmat; the options are those of PCTRIREMEILU
    PCTRIREMEILU          incomplete LU factors of them, with -pc_trireme_ilu_levels of fill (0 to
                          8) in the order -pc_trireme_ilu_order (given, rcm, colours; auto, the
                          default, is given on CPUs and colours on GPUs)
    PCTRIREMESPAI         a sparse approximate inverse of any Pmat, by one product per application
    PCTRIREMEMG           one cycle of multigrid by smoothed aggregation. Its entries come from
                          Pmat, of type AIJ or MATTRIREME. A matrix with new values on the same
                          pattern renews the levels, and KSPSetReusePreconditioner keeps them. The
                          cycle runs on the CPU

  The other types work inside the KSP types above only.

    PCTRIREMEBLOCKJACOBI  dense diagonal blocks of -pc_trireme_block_size rows (2 to 32)
    PCTRIREMEPBJACOBI     dense blocks of the block size of the matrix (MatSetBlockSize)
    PCTRIREMEVPBJACOBI    dense blocks of its row groups (MatSetVariableBlockSizes)
    PCTRIREMECHEBYSHEV    a Chebyshev polynomial of Jacobi, -pc_trireme_degree products with A
*/
#define PCTRIREMEBLOCKJACOBI "trireme_block_jacobi"
#define PCTRIREMEPBJACOBI "trireme_pbjacobi"
#define PCTRIREMEVPBJACOBI "trireme_vpbjacobi"
#define PCTRIREMEMG "trireme_mg"
#define PCTRIREMEFSAI "trireme_fsai"
#define PCTRIREMESPAI "trireme_spai"
#define PCTRIREMEILU "trireme_ilu"
#define PCTRIREMEICC "trireme_icc"
#define PCTRIREMECHEBYSHEV "trireme_chebyshev"

/*
  Registers the types above. Call it after PetscInitialize, in each PETSc session; further calls do
  nothing. Fails where the program runs another kind of PETSc than Trireme was built with. A program
  that loads the library by -dll_prepend need not call it.
*/
PetscErrorCode TriremeInitializePackage(void);

/*
  A new matrix of type MATTRIREME with the entries of `assembled`, an assembled matrix of any type
  that MatConvert makes AIJ of. Collective.

    kernel     a name of `solve --list-kernels`, or "auto"; NULL leaves it to the options
    device     "auto", "cpu" or "cuda"; NULL leaves it to the options
    precision  "double" or "mixed"; NULL leaves it to the options
    trireme    the new matrix, which the caller destroys by MatDestroy; it keeps no reference to
               `assembled`

  Calls TriremeInitializePackage. Fails for a word that is none of these. A kernel that does not run
  on the device, and a GPU that is not there, are errors of the first product.
*/
PetscErrorCode MatCreateTrireme(Mat assembled, const char kernel[], const char device[],
                                const char precision[], Mat* trireme);

/*
  Copies the values of `assembled` into `trireme`, a matrix of type MATTRIREME with the same nonzero
  pattern. The next product hands them to the kernel. Fails where the patterns differ. Collective.
*/
PetscErrorCode MatTriremeUpdateValues(Mat trireme, Mat assembled);

/*
  Set what the three options set, with the same words. A new kernel, device or precision is built by
  the next product. A matrix of another type is left alone, as PETSc's own functions of a type do.
  Where PETSc gives the matrix the content of a new one (MatTranspose in place, MatAXPY with
  DIFFERENT_NONZERO_PATTERN), what was set is forgotten, and the options are read again. Logically
  collective.
*/
PetscErrorCode MatTriremeSetKernel(Mat mat, const char kernel[]);
PetscErrorCode MatTriremeSetDevice(Mat mat, const char device[]);
PetscErrorCode MatTriremeSetPrecision(Mat mat, const char precision[]);

#ifdef __cplusplus
}
#endif

#endif
