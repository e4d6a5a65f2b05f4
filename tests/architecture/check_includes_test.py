#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_includes.py finds each kind of fault in a small tree that has this one fault only."""
import contextlib
import io
import pathlib
import shutil
import tempfile
import unittest

import check_includes

SOUND = {
    "src/base/CMakeLists.txt": "trireme_library(base LINKS fmt::fmt)\n",
    "src/base/error.hpp": "#include <string>\n",
    "src/sparse/CMakeLists.txt": "trireme_library(sparse LINKS trireme_base)\n",
    "src/sparse/csr.hpp": '#include "base/error.hpp"\n#include "sparse/array.hpp"\n',
    "src/kernels/CMakeLists.txt": "trireme_library(kernels LINKS trireme_sparse\n  PRIVATE_LINKS trireme_base)\n",
    "src/kernels/sell/sell.cpp": '#include "kernels/sell/layout.hpp"\n#include "sparse/csr.hpp"\n#include <hwy/highway.h>\n',
    "src/solvers/CMakeLists.txt": "trireme_library(solvers LINKS trireme_kernels)\n",
    "src/solvers/methods/cg.hpp": '#include "base/error.hpp"\n',
    "src/petsc/CMakeLists.txt": "trireme_library(petsc LINKS trireme_solvers)\n",
    "src/petsc/mat.cpp": '#include <petscmat.h>\n#include <mpi.h>\n#include "trireme/petsc.h"\n',
    "apps/solve/main.cpp": '#include "petsc/mat.hpp"\n#include <CLI/CLI.hpp>\n',
    "include/trireme/petsc.h": "#include <petscmat.h>\n",
}


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="trireme-architecture-"))
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in SOUND.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = check_includes.main(self.root)
        return code, printed.getvalue()

    def assert_one_fault(self, fault):
        code, printed = self.check()
        self.assertEqual(code, 1, printed)
        self.assertIn(fault, printed)
        self.assertRegex(printed, r"\n\d+ files, 1 faults\n$")

    def test_a_sound_tree_has_no_fault(self):
        self.assertEqual(self.check(), (0, "7 files, 0 faults\n"))

    def test_a_tree_without_sources_does_not_pass(self):
        shutil.rmtree(self.root / "src")
        shutil.rmtree(self.root / "apps")
        shutil.rmtree(self.root / "include")
        self.assertEqual(self.check(), (1, "0 files, 0 faults\n"))

    def test_a_folder_may_not_include_a_higher_one(self):
        self.write("src/sparse/graph.cu", '\n  #  include "kernels/kernel.hpp"\n')
        self.assert_one_fault("src/sparse/graph.cu:2: sparse/ may not include kernels/kernel.hpp")

    def test_an_installed_header_may_not_include_one_that_is_not_installed(self):
        self.write("include/trireme/version.h", '#include "base/error.hpp"\n')
        self.assert_one_fault("include/trireme/version.h:1: include/ may not include base/error.hpp")

    def test_a_sub_folder_may_be_stricter_than_its_folder(self):
        self.write("src/solvers/methods/minres.hpp", '#include "solvers/executors/host.hpp"\n')
        self.assert_one_fault("solvers/methods/ may not include solvers/executors/host.hpp")

    def test_a_kernel_may_not_include_another_kernel(self):
        self.write("src/kernels/teb/build.cpp", '#include "kernels/sell/layout.hpp"\n')
        self.assert_one_fault("the kernel teb may not include kernels/sell/layout.hpp of another kernel")

    def test_petsc_and_mpi_stay_in_their_homes_however_they_are_included(self):
        for header in ("<petscksp.h>", '"petscksp.h"', "<petsc/private/kspimpl.h>", "<mpi.h>", '"mpi.h"'):
            for folder in ("base", "kernels/sell", "solvers/methods"):
                with self.subTest(header=header, folder=folder):
                    self.write(f"src/{folder}/stray.hpp", f"#include {header}\n")
                    self.assert_one_fault(f"src/{folder}/stray.hpp:1: {header[1:-1]} belongs in ")
                    (self.root / f"src/{folder}/stray.hpp").unlink()

    def test_cub_stays_in_device(self):
        self.write("src/kernels/sell/build_cuda.cu", "#include <cuda_fp16.h>\n#include <cub/device/device_scan.cuh>\n")
        self.assert_one_fault("src/kernels/sell/build_cuda.cu:2: cub/device/device_scan.cuh belongs in device/ only")

    def test_every_folder_has_a_line_and_a_library_of_its_name(self):
        self.write("src/io/file.cpp", "")
        self.assert_one_fault("src/io/: its CMakeLists.txt has no trireme_library(io ...)")
        self.write("src/io/CMakeLists.txt", "trireme_library(input LINKS trireme_base)\n")
        self.assert_one_fault("src/io/: its CMakeLists.txt has no trireme_library(io ...)")
        shutil.move(self.root / "src/io", self.root / "src/unknown")
        self.write("src/unknown/CMakeLists.txt", "trireme_library(unknown)\n")
        self.assert_one_fault("src/unknown/ has no line in MAY_INCLUDE")

    def test_a_library_may_not_link_a_higher_one(self):
        self.write("src/sparse/CMakeLists.txt", "trireme_library(sparse LINKS trireme_base\n  PRIVATE_LINKS trireme_kernels)\n")
        self.assert_one_fault("src/sparse/CMakeLists.txt: sparse may not link trireme_kernels")


class Directions(unittest.TestCase):
    def test_no_folder_reaches_itself(self):
        def reached(folder, above=()):
            self.assertNotIn(folder, above)
            for below in check_includes.MAY_INCLUDE[folder]:
                reached(below, (*above, folder))
        for folder in check_includes.MAY_INCLUDE:
            reached(folder)


if __name__ == "__main__":
    unittest.main()
