#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the program solve refuses with one line on every rank, and what it prints about itself.

usage: solve_refusals_test.py SOURCE_FOLDER SOLVE PROBLEM RANKS [mpiexec and its flags ...]
"""
import os
import sys
import unittest
import unittest.mock

import h5py

from solve_case import LIMIT, POISSON, SOURCE, SolveCase


class Refuses(SolveCase):
    def test_a_missing_case(self):
        self.assertIn("no such case file", self.refused(2, "--config", "nowhere.yaml"))

    def test_a_device_kernel_and_precision_that_do_not_exist(self):
        self.assertIn("known: auto, cpu, cuda", self.refused_case(2, POISSON, "--device", "gpu"))
        self.assertIn("known: auto, double, mixed", self.refused_case(2, POISSON, "--set", "precision=single"))
        self.assertIn("without corrections FP32 stagnates",
                      self.refused_case(2, POISSON, "--set", "precision=float"))

    def test_mixed_precision_where_residuals_are_not_corrected(self):
        case = "problem: {generate: elasticity3d, n: 4}\nprecision: mixed\ndevice: cpu\n"
        self.assertIn("needs the resident engine", self.refused_case(2, case, "--set", "solver.engine=petsc"))
        self.assertIn("needs the resident engine", self.refused_case(2, case, "--set", "solver.method=fgmres"))
        self.assertIn("-ksp_norm_type none", self.refused_case(2, case, "--", "-ksp_norm_type", "none"))

    def test_a_preset_that_is_missing_or_wrong(self):
        self.assertIn("none.yaml", self.refused_case(2, POISSON, "--preset", "none.yaml"))
        self.case("solver: {rtol: x}\n", "preset.yaml")
        self.assertIn("preset.yaml:1:16", self.refused_case(2, POISSON, "--preset", "preset.yaml"))

    def test_a_petsc_option_that_a_key_sets(self):
        self.assertIn("solver.method", self.refused_case(2, POISSON + "petsc: {ksp_type: gmres}\n"))

    def test_a_model_problem_of_no_size(self):
        self.refused_case(2, "problem: {generate: poisson3d, n: 0}\n")
        self.refused_case(2, "problem: {generate: poisson3d}\n")

    def test_no_case(self):
        self.assertIn("solve --config case.yaml", self.refused(2))

    def test_an_unknown_flag(self):
        self.assertIn("--frobnicate", self.refused(2, "--frobnicate"))

    def test_a_matrix_given_as_case(self):
        (self.folder / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(1000))
        self.refused(2, "--config", "a.h5")

    def test_an_unknown_key(self):
        line = self.refused_case(2, POISSON + "tolerance: 1e-8\n")
        self.assertIn("case.yaml:2:1: unknown key 'tolerance'", line)

    def test_a_misspelt_key(self):
        line = self.refused_case(2, POISSON + "solver:\n  rtoll: 1e-8\n")
        self.assertIn("case.yaml:3:3: unknown key 'solver.rtoll'; did you mean 'solver.rtol'?", line)

    def test_a_mistyped_value(self):
        self.assertIn("case.yaml:2:16:", self.refused_case(2, POISSON + "solver: {rtol: small}\n"))

    def test_a_duplicate_key(self):
        line = self.refused_case(2, POISSON + "device: cpu\ndevice: auto\n")
        self.assertIn("case.yaml:3:1: duplicate key 'device', first given in line 2", line)

    def test_a_misspelt_override(self):
        line = self.refused_case(2, POISSON, "--set", "solver.rotl=1e-4")
        self.assertIn("--set solver.rotl=1e-4: unknown key", line)

    def test_each_slip_on_the_command_line_with_what_was_meant(self):
        self.case(POISSON)
        for arguments, parts in (
                (["--verison"], ["--verison; did you mean '--version'?"]),
                (["--config", "case.yaml", "--kernl=csr"], ["--kernl=csr; did you mean '--kernel'?"]),
                (["--config", "case.yaml", "--preset", "nowhere.yaml"], ["nowhere.yaml: no such preset"]),
                (["--config", "nowhere.yaml"], ["nowhere.yaml: no such case file"]),
                (["--config", "case.yaml", "--kernel", "csr", "--device", "cuda"],
                 ["kernel 'csr' has no CUDA executor for double; use device: cpu"]),
                (["--config", "case.yaml", "--set", "problem.rhs=b.txt"],
                 ["'b.txt' is neither a dataset (/b) nor ones, random, from-ones, nor a file: there is no", "b.txt"])):
            with self.subTest(arguments):
                line = self.refused(2, *arguments)
                for part in parts:
                    self.assertIn(part, line)

    def test_an_unknown_kernel_with_the_known_ones(self):
        line = self.refused_case(2, POISSON, "--kernel", "csr,albuss")
        self.assertIn("--kernel csr,albuss: unknown kernel 'albuss'; did you mean 'albus'?; known: ", line)
        self.assertIn("petsc-aij", line)

    def test_an_unknown_method_and_preconditioner(self):
        line = self.refused_case(2, POISSON, "--set", "solver.method=gmrs")
        self.assertIn("method 'gmrs'", line)
        self.assertIn("did you mean 'gmres'?", line)
        line = self.refused_case(2, POISSON, "--set", "solver.preconditioner=jakobi")
        self.assertIn("preconditioner 'jakobi'", line)
        self.assertIn("did you mean 'jacobi'?", line)
        line = self.refused_case(2, POISSON, "--set", "solver.preconditioner=chebyshev")
        self.assertIn("did you mean 'trireme_chebyshev'?", line)

    def test_a_kernel_for_gpus_where_there_is_none(self):
        with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "-1"}):
            line = self.refused_case(4, POISSON, "--kernel", "csr-vector")
        self.assertIn("a kernel for CPUs", line)

    def test_an_empty_list_of_kernels(self):
        self.assertIn("not an empty list", self.refused_case(2, POISSON, "--kernel", ""))

    def test_a_petsc_option_without_its_dash(self):
        self.assertIn("'ksp_view'", self.refused_case(2, POISSON, "--", "ksp_view"))

    def test_a_petsc_option_of_the_wrong_type(self):
        line = self.refused_case(2, POISSON, "--", "-ksp_divtol", "small")
        self.assertIn("check the PETSc options", line)

    def test_an_unwritable_report_directory(self):
        (self.folder / "file").write_text("x")
        line = self.refused_case(2, POISSON, "--output", "file/results")
        self.assertIn("is not a folder", line)

    def test_an_unwritable_report_directory_before_it_reads_the_matrix(self):
        line = self.refused_case(2, "problem: {file: missing.h5}\n", "--output", "/proc/trireme")
        self.assertIn("/proc", line)

    def test_an_output_that_is_an_input_by_any_name_or_link(self):
        matrix = self.folder / self.matrix([(i, i, 2) for i in (1, 2, 3)], 3, "solution")
        before = matrix.read_bytes()
        case = "problem: {file: solution.h5}\n"
        self.results.mkdir()
        os.link(matrix, self.results / "solution-csr.h5")
        (self.folder / "linked").mkdir()
        (self.folder / "linked" / "solution.h5").symlink_to(matrix)
        for arguments in (["--output", "."], ["--output", self.folder, "--check"], ["--output", "linked"],
                          ["--set", "kernel=[csr, dasp]", "--output", "results"]):
            done = self.run_solve("--config", self.case(case), *arguments, limit=LIMIT)
            lines = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
            self.assertEqual((done.returncode, len(lines)), (2, 1), done.stderr + done.stdout)
            self.assertIn("would replace the input", lines[0])
            self.assertEqual(matrix.read_bytes(), before)
        self.case(case, "report.json")
        done = self.run_solve("--config", "report.json", "--output", ".", "--set", "report.solution=false", limit=LIMIT)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual((self.folder / "report.json").read_text(), case)

    def test_an_output_that_is_the_first_guess(self):
        self.matrix([(i, i, 2) for i in (1, 2, 3)], 3)
        with h5py.File(self.folder / "solution.h5", "w") as file:
            file["x"] = [1.0, 2.0, 3.0]
        before = (self.folder / "solution.h5").read_bytes()
        line = self.refused(2, "matrix.mtx", "--x0", "solution.h5:/x", "--output", ".")
        self.assertIn("would replace the input", line)
        self.assertEqual((self.folder / "solution.h5").read_bytes(), before)

    def test_a_missing_problem_file(self):
        line = self.refused_case(3, "problem: {file: missing.h5}\n")
        self.assertIn("missing.h5", line)

    def test_a_problem_file_that_is_not_hdf5(self):
        (self.folder / "a.h5").write_text("hello\n" * 100)
        self.assertIn("a.h5", self.refused_case(3, "problem: {file: a.h5}\n"))

    def test_a_bad_file_in_check_too(self):
        self.refused_case(3, "problem: {file: missing.h5}\n", "--check")


class Prints(SolveCase):
    def printed(self, *arguments):
        done = self.run_solve(*arguments, limit=LIMIT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_help_with_a_whole_example_on_the_first_screen(self):
        text = self.printed("--help")
        screen = "\n".join(text.splitlines()[:24])
        self.assertIn("mpirun -n 8 solve --config case.yaml", screen)
        self.assertIn("problem: {file: matrix.h5", screen)
        self.assertEqual(text.count("Exit codes"), 1, "once, not once per rank")

    def test_the_committed_schema(self):
        self.assertEqual(self.printed("--print-schema"), (SOURCE / "configs/case.schema.json").read_text())

    def test_the_kernels(self):
        text = self.printed("--list-kernels")
        self.assertRegex(text, r"albus .*\n.* \+\n")
        self.assertIn("+ on the cpu the same bits for the same number of threads", text)
        self.assertIn("\ncsr ", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_the_versions(self):
        self.assertRegex(self.printed("--version"), r"^trireme \d+\.\d+\.\d+\nPETSc \d+\.\d+\.\d+\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
