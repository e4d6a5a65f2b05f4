# SPDX-License-Identifier: BSD-3-Clause
"""A petsc4py script that knows nothing of Trireme: implicit steps of a heat equation, each solved by
a matrix of the type that -mat_type says and by AIJ. Prints SKIPPED and ends where there is no
petsc4py for the PETSc of the folder in PETSC_OF_TRIREME."""
import os
import sys

try:
    import petsc4py
except ImportError:
    print("SKIPPED: there is no petsc4py; Debian's package is python3-petsc4py")
    sys.exit()
of_trireme = os.environ.get("PETSC_OF_TRIREME", "")
of_petsc4py = petsc4py.get_config()["PETSC_DIR"]
if of_trireme and os.path.realpath(of_trireme) != os.path.realpath(of_petsc4py):
    print(f"SKIPPED: petsc4py uses the PETSc of {of_petsc4py}, and Trireme that of {of_trireme}")
    sys.exit()

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (PETSc must have the arguments first)


def set_entries(matrix, n, inverse_dt):
    first, last = matrix.getOwnershipRange()
    for row in range(first, last):
        i, j = row % n, row // n
        matrix[row, row] = 4 + inverse_dt
        for column, inside in ((row - 1, i > 0), (row + 1, i < n - 1), (row - n, j > 0), (row + n, j < n - 1)):
            if inside:
                matrix[row, column] = -1
    matrix.assemble()


def create(n, kind=None):
    matrix = PETSc.Mat().create()
    matrix.setSizes(n * n)
    if kind:
        matrix.setType(kind)
    else:
        matrix.setFromOptions()
    matrix.setPreallocationNNZ(5)
    return matrix


def differences(pc, n, steps=3):
    """Relative differences between the solutions, a step each."""
    matrix, reference = create(n), create(n, "aij")
    solvers = []
    for operator in (matrix, reference):
        ksp = PETSc.KSP().create()
        ksp.setType("cg")
        ksp.getPC().setType(pc)
        ksp.setTolerances(rtol=1e-11)
        solvers.append(ksp)
    u = None
    for step in range(steps):
        for operator, ksp in zip((matrix, reference), solvers):
            set_entries(operator, n, 1 + step)
            ksp.setOperators(operator)
        if u is None:
            u, rhs = matrix.createVecs()
            expected = u.duplicate()
        u.copy(rhs)
        rhs.shift(1)
        solvers[0].solve(rhs, u)
        solvers[1].solve(rhs, expected)
        assert solvers[0].getConvergedReason() > 0
        size = expected.norm()
        expected.axpy(-1, u)
        yield expected.norm() / size
    assert "trireme" in matrix.getType()
    assert "trireme" not in matrix.convert("aij").getType()


agree = all(difference < 1e-8 for pc in ("jacobi", "bjacobi", "gamg", "trireme_mg") for n in (12, 19)
            for difference in differences(pc, n))
refused = create(5)
try:
    PETSc.Options()["mat_trireme_kernel"] = "csrr"
    refused.setFromOptions()
except PETSc.Error as error:
    PETSc.Sys.Print("mat_trireme_kernel 'csrr' is refused:", str(error).splitlines()[-1])
PETSc.Sys.Print("all solutions agree" if agree else "a solution DIFFERS")
