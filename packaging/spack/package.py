# SPDX-License-Identifier: BSD-3-Clause
"""Trireme for Spack. docs/how-to/install.md says how to use this file."""
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Trireme(CMakePackage, CudaPackage):
    """Large sparse linear systems by Krylov methods and complete factors, on
    CPUs, GPUs and clusters; a plugin for PETSc."""

    # The archive is looked for beside this file. scripts/release writes it and its checksum, which
    # stands in SHA256SUMS and belongs here.
    url = f"file://{os.path.dirname(os.path.realpath(__file__))}/trireme-0.2.0.tar.gz"
    homepage = url

    license("BSD-3-Clause")

    version("0.2.0")

    variant("mpi", default=True, description="Several processes; without it, the core for one process")
    variant("petsc", default=True, when="+mpi", description="The programs and the plugin for PETSc")
    variant("int64", default=False, when="+petsc", description="More than 2^31-1 rows on all ranks together")
    variant("peers", default=False, description="Kernels that are there to be compared with")
    variant("python", default=False, description="The Python package, for one process")
    variant("cuda", default=False, description="GPUs of NVIDIA")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    generator("ninja")

    depends_on("fmt@9:")
    depends_on("highway")
    depends_on("cuda@12.4:", when="+cuda")
    with when("+mpi"):
        depends_on("mpi")
    with when("+petsc"):
        depends_on("petsc@3.18: +mpi~complex+double")
        depends_on("petsc+int64", when="+int64")
        depends_on("petsc~int64", when="~int64")
        depends_on("yaml-cpp")
        depends_on("nlohmann-json")
        depends_on("hdf5+mpi")
        depends_on("cli11")
        depends_on("fast-float")
        depends_on("xxhash")
        depends_on("zlib-api")
    with when("+python"):
        extends("python@3.10:")
        depends_on("py-nanobind@3:", type="build")
        depends_on("py-numpy@1.23:", type=("build", "run"))
        depends_on("py-scipy@1.10:", type=("build", "run"))

    conflicts("%gcc@:11", msg="C++20 as GCC 12 has it is needed")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU, such as cuda_arch=90")
    for arch in CudaPackage.cuda_arch_values:
        if int("".join(c for c in arch if c.isdigit())) < 80:
            conflicts(f"cuda_arch={arch}", when="+cuda", msg="GPUs older than 8.0 do not serve")

    def cmake_args(self):
        args = [
            self.define_from_variant("TRIREME_MPI", "mpi"),
            self.define_from_variant("TRIREME_PEERS", "peers"),
            self.define_from_variant("TRIREME_PYTHON", "python"),
            self.define("TRIREME_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("TRIREME_PETSC", "PETSc" if self.spec.satisfies("+petsc") else "OFF"),
            self.define("TRIREME_TESTS", self.run_tests),
            self.define("CMAKE_UNITY_BUILD", True),  # halves the time
            self.define("CMAKE_UNITY_BUILD_BATCH_SIZE", "8"),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("TRIREME_PYTHON_FOLDER", os.path.relpath(python_platlib, self.prefix)))
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
