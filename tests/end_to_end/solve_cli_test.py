#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program solve from outside: its reports, its silence in a pipe, and the exit codes of failed solves.

usage: solve_cli_test.py SOURCE_FOLDER SOLVE PROBLEM RANKS [mpiexec and its flags ...]
"""
import calendar
import csv
import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
import time
import unittest
import xml.etree.ElementTree

import h5py
import numpy as np
import scipy.io

from solve_case import LAUNCH, LIMIT, POISSON, PROBLEM, RANKS, SOLVE, SOURCE, SolveCase

# For tests that compare runs: what is `auto` follows measured times, which differ from run to run.
BY_NAME = "solver: {method: cg, preconditioner: jacobi}\n"


class Solves(SolveCase):
    def test_writes_report_and_solution_and_is_silent_in_a_pipe(self):
        done = self.solve(POISSON + "report: {formats: [json, csv, html]}\n")
        self.assertEqual(done.stderr, "")
        self.assertIn("||b-Ax||", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        names = {path.name for path in self.results.iterdir()}
        self.assertEqual(names, {"report.json", "history.csv", "report.html", "solution.h5"})
        run, = self.report()["runs"]
        self.assertTrue(run["converged"])
        self.assertEqual(run["ranks"], RANKS)
        self.assertLess(run["relative_residual"], 1.1e-8)
        self.assertLess(run["relative_error"], 1e-6)
        self.assertEqual(len(run["history"]), run["iterations"] + 1)

    def test_report_is_valid_by_the_schema(self):
        import jsonschema
        self.solve(POISSON + "kernel: [csr, petsc-aij]\n")
        jsonschema.validate(self.report(), json.loads((SOURCE / "configs/report.schema.json").read_text()))

    def test_report_has_the_case_and_the_command_that_repeats_it(self):
        self.solve(POISSON, "--set", "problem.rhs=from-ones", "--", "-ksp_norm_type", "unpreconditioned")
        report = self.report()
        self.assertIn("poisson3d", report["case"])
        words = shlex.split(report["command"])
        self.assertEqual(words[-7:], ["--config", str(self.folder / "case.yaml"), "--set", "problem.rhs=from-ones",
                                      "--", "-ksp_norm_type", "unpreconditioned"])
        self.assertEqual("mpirun" in words, RANKS > 1)
        self.assertEqual(sum(report["pattern"]["density"]), report["problem"]["nnz"])

    def test_report_says_when_and_by_what_it_was_made(self):
        before = time.time()
        self.solve(POISSON)
        report = self.report()
        begun = calendar.timegm(time.strptime(report["date"], "%Y-%m-%dT%H:%M:%SZ"))
        self.assertTrue(before - 2 < begun < time.time() + 2, report["date"])
        self.assertRegex(report["machine"]["versions"]["compiler"], r"\w+ \d+\.\d+")
        self.assertGreater(report["machine"]["in_cache_gbytes_per_s"], 0)

    def test_writes_the_figures_of_a_report(self):
        self.solve(POISSON + "kernel: [csr, albus]\n")
        done = self.run_solve("--figures", "figures", "results/report.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(path.name for path in (self.folder / "figures").iterdir())
        for name in files:
            self.assertIn(name, done.stdout)
            if name.endswith(".svg"):
                xml.etree.ElementTree.parse(self.folder / "figures" / name)
        self.assertIn("roofline.svg", files)
        with open(self.folder / "figures/convergence-seconds.csv") as file:
            rows = [row for row in csv.DictReader(file) if row["residual"] == "method"]
        for run in self.report()["runs"]:
            mine = [row for row in rows if row["kernel"] == run["kernel"]]
            self.assertEqual([float(row["relative_residual"]) for row in mine], run["history"])
            self.assertEqual([float(row["seconds"]) for row in mine],
                             [i * (1e-6 * run["iteration_us"]) for i in range(len(mine))])
        shutil.move(self.results, self.folder / "done")
        self.assertIn("choose another with --figures", self.refused(2, "--figures", "case.yaml", "done/report.json"))

    def test_compares_two_reports(self):
        self.solve(POISSON + BY_NAME, "--kernel", "csr")
        shutil.move(self.results, self.folder / "before")
        self.solve(POISSON + BY_NAME, "--kernel", "albus")
        done = self.run_solve("--compare", "before/report.json", "results/report.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("csr on cpu -> albus on cpu", done.stdout)
        self.assertRegex(done.stdout, r"iterations +\d+ +\d+ +[0-9.]+  the same")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def test_refuses_to_compare_what_is_no_report(self):
        self.case("schema: 1\n", "no-report.json")
        self.assertIn("'no-report.json' is no report.json of solve",
                      self.refused(3, "--compare", "no-report.json", "no-report.json"))
        self.assertIn("'nowhere' cannot be read", self.refused(3, "--compare", "nowhere", "no-report.json"))
        self.refused(2, "--compare", "no-report.json")
        self.assertIn("'no-report.json' is no report.json of solve",
                      self.refused(3, "--figures", "figures", "no-report.json"))
        self.refused(2, "--figures", "figures")

    def test_reads_matrix_market_as_it_reads_the_imported_file(self):
        entries = [(i, j, 4.5 if i == j else -1) for i in range(1, 41) for j in (i - 1, i, i + 1) if 1 <= j <= 40]
        imported = self.matrix(entries, 40)
        histories = []
        for file in (imported, "matrix.mtx"):
            self.solve(f"problem: {{file: {file}, rhs: random}}\n{BY_NAME}kernel: csr\n")
            run, = self.report()["runs"]
            self.assertTrue(run["converged"])
            histories.append(run["history"])
            shutil.rmtree(self.results)
        self.assertEqual(*histories)
        self.assertIn("holds no vector /b", self.refused_case(3, "problem: {file: matrix.mtx, rhs: /b}\n"))
        self.assertIn("without a name", self.refused_case(2, "problem: {file: matrix.mtx, matrix: /K}\n"))

    def test_solves_the_right_hand_side_of_the_file_and_says_so(self):
        entries = [(i, j, 4.5 if i == j else -1) for i in range(1, 41) for j in (i - 1, i, i + 1) if 1 <= j <= 40]
        file = self.matrix(entries, 40)
        a = scipy.io.mmread(self.folder / "matrix.mtx").toarray()
        b = np.cos(np.arange(40.0))

        def expect(problem, right, said, *rest):
            valid = self.solve(f"problem: {{{problem}}}\n", "--check").stdout
            self.assertIn(said, valid)
            done = self.solve(f"problem: {{{problem}}}\n")
            self.assertIn(said, " ".join(done.stdout.split()))
            with h5py.File(next(self.results.glob("solution*.h5"))) as solution:
                np.testing.assert_allclose(a @ solution["x"][:], right, atol=1e-7)
            self.assertEqual([self.report()["problem"][key] for key in ("rhs", "x0")], list(rest))

        expect(f"file: {file}", a @ np.ones(40), "b: from-ones (the file has no /b)", "from-ones", None)
        with h5py.File(self.folder / file, "r+") as system:
            system["b"], system["x0"] = b, 0.1 * b
        expect(f"file: {file}", b, "b: /b (of the file), x0: /x0", "/b", "/x0")
        expect(f"file: {file}, rhs: ones, x0: none", np.ones(40), "b: ones (/b is left aside)", "ones", None)
        np.savetxt(self.folder / "matrix_b.txt", 2 * b)
        expect(f"file: {file}, rhs: matrix_b.txt", 2 * b, "b: matrix_b.txt, x0: /x0", "matrix_b.txt", "/x0")
        scipy.io.mmwrite(self.folder / "matrix_b.mtx", 3 * b[:, None])
        expect("file: matrix.mtx", 3 * b, "b: matrix_b.mtx (beside the file)", "matrix_b.mtx", None)
        for step in range(2):
            np.savetxt(self.folder / f"b{step}.txt", (step + 1) * b)
        self.solve(f"problem: {{file: {file}, steps: {{count: 2, rhs: 'b{{}}.txt'}}}}\n", "--check")
        self.solve(f"problem: {{file: {file}, steps: {{count: 2, rhs: 'b{{}}.txt'}}}}\n")
        with h5py.File(self.results / "solution.h5") as solution:
            np.testing.assert_allclose(solution["x"][:] @ a.T, np.outer([1, 2], b), atol=1e-7)
        self.assertEqual(self.report()["problem"]["rhs"], "from the steps")
        shutil.rmtree(self.results)
        with h5py.File(self.folder / file, "r+") as system:
            del system["b"]
            system["b"] = b[1:]
        for check in ([], ["--check"]):
            line = self.refused_case(3, f"problem: {{file: {file}}}\n", *check)
            self.assertIn("/b has the shape [39]; the matrix has 40 rows", line)
            self.assertIn("problem.rhs: from-ones leaves it aside", line)
        self.assertIn("step 2: b2.txt: no such file",
                      self.refused_case(3, f"problem: {{file: {file}, steps: {{count: 3, rhs: 'b{{}}.txt'}}}}\n",
                                        "--check").replace(str(self.folder) + "/", ""))

    def test_compares_kernels_in_one_run(self):
        done = self.solve(POISSON + BY_NAME, "--kernel", "csr,albus,petsc-aij")
        runs = self.report()["runs"]
        self.assertEqual([run["kernel"] for run in runs], ["csr", "albus", "petsc-aij"])
        self.assertLessEqual(max(run["iterations"] for run in runs) - min(run["iterations"] for run in runs), 1)
        self.assertRegex(" ".join(done.stdout.split()), r"albus: .* preparation [0-9.]+ .s, (paid|which|ahead)")
        self.assertTrue((self.results / "solution-albus.h5").exists())

    def test_compares_precisions_in_one_run(self):
        import jsonschema
        case = f"problem: {{generate: elasticity3d, n: 6}}\n{BY_NAME}precision: [double, mixed]\ndevice: cpu\n"
        done = self.solve(case, "--kernel", "csr,teb", "--set", "solver.rtol=1e-12")
        report = self.report()
        jsonschema.validate(report, json.loads((SOURCE / "configs/report.schema.json").read_text()))
        runs = report["runs"]
        self.assertEqual([(run["kernel"], run["precision"]) for run in runs],
                         [("csr", "double"), ("csr", "mixed"), ("teb", "double")])
        self.assertEqual(runs[0]["corrections"], None)
        self.assertGreaterEqual(runs[1]["corrections"], 2)
        self.assertLess(runs[1]["relative_residual"], 1.01e-12)
        self.assertRegex(" ".join(done.stdout.split()), r"csr-mixed: .* times as fast as double: .* s and \d+")
        self.assertTrue((self.results / "solution-csr-mixed.h5").exists())

    def test_multigrid_takes_the_rigid_body_modes_of_a_file_or_a_generator(self):
        subprocess.run([PROBLEM, "generate", "elasticity3d", self.folder / "e.h5", "-n", "10", "--rhs", "random"],
                       check=True, capture_output=True)

        def iterations(problem, preconditioner):
            self.solve(f"problem: {{{problem}}}\nsolver: {{preconditioner: {preconditioner}}}\nkernel: csr\n"
                       "device: cpu\n")
            return self.report()["runs"][0]["iterations"]

        for preconditioner in ("multigrid", "gamg"):
            with self.subTest(preconditioner):
                with_modes = iterations("file: e.h5, rhs: /b", preconditioner)
                self.assertEqual(iterations("generate: elasticity3d, n: 10, rhs: random", preconditioner), with_modes)
                without = iterations("file: e.h5, rhs: /b, coordinates: none", preconditioner)
                self.assertLess(with_modes, 0.6 * without)

    def test_takes_changes_from_the_command_line(self):
        self.case("solver: {method: bicgstab}\n", "preset.yaml")
        self.solve(POISSON, "--preset", "preset.yaml", "--set", "solver.rtol=1e-3", "--output", "elsewhere")
        run, = json.loads((self.folder / "elsewhere/report.json").read_text())["runs"]
        self.assertIn("bi", run["method"] + "bicgstab")
        self.assertGreater(run["relative_residual"], 1e-8)
        self.assertFalse(self.results.exists())

    def test_quiet_prints_nothing(self):
        done = self.solve(POISSON, "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertTrue(self.report()["runs"])

    def test_check_solves_and_writes_nothing(self):
        done = self.solve(POISSON, "--check")
        self.assertIn("is valid", done.stdout)
        self.assertFalse(self.results.exists())

    def test_explain_says_what_auto_would_do_and_solves_nothing(self):
        text = self.solve(POISSON, "--set", "solver.method=auto", "--explain").stdout
        self.assertIn("A is symmetric, with a positive diagonal; every row is diagonally dominant\n", text)
        self.assertIn("method: auto takes these in turn, until a residual holds:\n"
                      "  1. cg with auto: the matrix is symmetric, with a positive diagonal\n", text)
        self.assertRegex(text, r"\n  \d\. direct: .*; expected: [\s\S]* MB,\s+analysis ")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        named = self.solve("problem: {generate: convection3d, n: 6}\n", "--set", "solver.method=cg", "--explain")
        self.assertIn("A is not symmetric, with a positive diagonal; the pattern is symmetric; the skew part",
                      " ".join(named.stdout.split()))
        self.assertIn("the case names method cg, which is taken whatever the matrix is", named.stdout)
        self.assertIn("  1. bicgstab with auto", named.stdout)
        self.assertFalse(self.results.exists())
        self.assertIn("--explain goes with --config alone", self.refused_case(2, POISSON, "--explain", "--check"))

    def test_passes_petsc_options_on(self):
        done = self.solve(POISSON, "--", "-ksp_view")
        self.assertIn("KSP Object", done.stdout)

    def test_auto_takes_the_petsc_engine_for_an_option_that_only_it_reads(self):
        self.solve(POISSON, "--set", "solver.method=cg", "--", "-ksp_cg_single_reduction")
        self.assertEqual(self.report()["runs"][0]["engine"], "petsc")
        self.solve(POISSON, "--set", "solver.method=cg", "--", "-ksp_converged_reason")
        self.assertEqual(self.report()["runs"][0]["engine"], "resident")

    def test_resident_refuses_an_option_that_it_does_not_read(self):
        line = self.refused_case(2, POISSON, "--set", "solver.engine=resident", "--",
                                 "-ksp_cg_single_reduction")
        self.assertIn("-ksp_cg_single_reduction", line)

    def test_auto_and_a_named_kernel_are_two_runs(self):
        self.solve(POISSON, "--kernel", "auto,albus", "--device", "cpu", "--set", "solver.method=cg",
                   "--set", "solver.max_iterations=15", code=5)
        runs = self.report()["runs"]
        self.assertEqual(runs[1]["kernel"], "albus")  # which kernel the first run ends with is measured
        self.assertEqual([run["trial"] is None for run in runs], [False, True])

    def test_says_where_fewer_ranks_are_faster(self):
        self.solve("problem: {generate: poisson3d, n: 6}\nsolver: {method: cg}\n", "--kernel", "csr", "--device", "cpu",
                   "--set", "repeat=9")
        notes = " ".join(self.report()["runs"][0]["notes"])
        advice = f"{RANKS} ranks are more than pay: of " in notes and "expected on 1 rank, the best number" in notes
        self.assertEqual(advice, RANKS > 1, notes)

    def test_runs_by_the_slurm_script(self):
        if RANKS == 1:
            self.skipTest("for mpirun")
        environment = {**os.environ, "TRIREME_SOLVE": SOLVE, "TRIREME_MPIRUN": " ".join(LAUNCH)}
        environment.pop("SLURM_JOB_ID", None)
        script = SOURCE / "configs/slurm.sh"
        done = subprocess.run([script, self.case(POISSON), "--kernel", "csr"], cwd=self.folder, env=environment,
                              text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.report()["runs"][0]["ranks"], RANKS)

    def on_terminal(self, stream, *arguments, columns=0, **variables):
        """What solve writes to a stream that is a terminal."""
        if RANKS > 1:
            self.skipTest("mpirun gives its ranks pipes")
        try:
            mine, theirs = pty.openpty()
        except OSError as error:  # a bare chroot has no terminals
            self.skipTest(f"no pseudo-terminals here: {error}")
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        child = subprocess.Popen([SOLVE, *map(str, arguments)], cwd=self.folder, env=environment | variables,
                                 **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs})
        os.close(theirs)
        text = b""
        while True:
            try:
                chunk = os.read(mine, 4096)
            except OSError:  # the terminal was closed
                break
            if not chunk:
                break
            text += chunk
        os.close(mine)
        self.assertEqual(child.wait(), 0)
        return text.decode()

    def test_shows_progress_on_a_terminal(self):
        case = self.case("problem: {generate: poisson3d, n: 60}\n")
        self.assertIn("iteration 0, residual", self.on_terminal("stderr", "--config", case))

    def test_table_has_the_width_and_the_colours_of_the_terminal(self):
        case = self.case(POISSON)
        text = self.on_terminal("stdout", "--config", case, columns=60, TERM="xterm")
        self.assertIn("\033[32mconverged\033[0m", text)
        lines = re.sub(r"\033\[\d*m", "", text).splitlines()
        self.assertGreater(max(map(len, lines)), 40)
        self.assertLessEqual(max(map(len, lines)), 60)
        for columns, variables in [(60, {"TERM": "xterm", "NO_COLOR": "1"}), (60, {"TERM": "dumb"}),
                                   (0, {"TERM": "xterm"})]:
            with self.subTest(columns=columns, variables=variables):
                text = self.on_terminal("stdout", "--config", case, columns=columns, **variables)
                self.assertIn("converged", text)
                self.assertNotIn("\033", text)

    def test_all_times_begin_at_the_start_of_the_process(self):
        done = self.solve(POISSON)
        number, unit = re.search(r"([\d.]+) (m?s) in all, from the start", done.stdout).groups()
        seconds = float(number) * {"s": 1, "ms": 1e-3}[unit]
        self.assertGreater(seconds, self.report()["start_seconds"]["total"])


class OneLine(SolveCase):
    def test_solves_a_matrix_and_prints_the_case_of_the_same_run(self):
        entries = [(i, j, 4.5 if i == j else -1) for i in range(1, 41) for j in (i - 1, i, i + 1) if 1 <= j <= 40]
        self.matrix(entries, 40)
        a = scipy.io.mmread(self.folder / "matrix.mtx").toarray()
        b = np.cos(np.arange(40.0))
        np.savetxt(self.folder / "b.txt", b)
        np.savetxt(self.folder / "x0.txt", np.sin(np.arange(40.0)))
        line = ("matrix.mtx", "--rhs", "b.txt", "--x0", "x0.txt", "--method", "bicgstab", "--preconditioner", "none",
                "--rtol", "1e-10", "--device", "cpu", "--kernel", "csr", "--output", "out")
        done = self.run_solve(*line)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("b: b.txt, x0: x0.txt", " ".join(done.stdout.split()))
        with h5py.File(self.folder / "out/solution.h5") as solution:
            np.testing.assert_allclose(a @ solution["x"][:], b, atol=1e-8)
        report = json.loads((self.folder / "out/report.json").read_text())
        run, = report["runs"]
        self.assertEqual([run[key] for key in ("method", "preconditioner", "kernel", "rtol")],
                         ["bicgstab", "none", "csr", 1e-10])
        printed = self.run_solve(*line, "--print-case").stdout
        for words, given in ((["--config", self.case(printed)], ""), (["--config", "-"], printed)):
            shutil.rmtree(self.folder / "out")
            again = self.run_solve(*words, given=given)
            self.assertEqual((again.returncode, again.stderr), (0, ""), printed)
            self.assertEqual(json.loads((self.folder / "out/report.json").read_text())["runs"][0]["history"],
                             run["history"])

    def test_refuses_in_one_line_what_it_cannot_read(self):
        self.assertIn("missing.mtx", self.refused(3, "missing.mtx"))
        self.assertIn("--rhs b.txt: problem.rhs 'b.txt' is neither", self.refused(2, "missing.mtx", "--rhs", "b.txt"))
        done = self.run_solve("--config", "-", given="rtoll: 1\n", limit=LIMIT)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("solve: standard input:1:1: unknown key 'rtoll'"), 1, done.stderr)

    def test_shows_progress_in_lines_where_it_is_asked_for(self):
        done = self.run_solve("--config", self.case(POISSON), "--progress=plain")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"(?m)^[\w-]+: iteration 0, residual 1\.0e\+00$")
        self.assertNotIn("\r", done.stderr)
        parts = [r"reading poisson3d.* \.\.\.", r"building .* \.\.\.", r"setting up \w+ \.\.\.", "iteration 0"]
        if RANKS > 1:
            parts.insert(1, rf"dividing 512 rows among {RANKS} ranks \.\.\.")
        self.assertRegex(done.stderr, r"[\s\S]*\n".join(parts[:-1]) + r"[\s\S]*" + parts[-1])


class Fails(SolveCase):
    def test_maximum_iterations_reached_is_5_with_a_report(self):
        done = self.solve(POISSON, "--set", "solver.method=cg", "--set", "solver.max_iterations=2", code=5)
        lines = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        run, = self.report()["runs"]
        self.assertFalse(run["converged"])
        self.assertEqual(run["exit_code"], 5)
        self.assertEqual(run["iterations"], 2)

    def test_a_tolerance_beyond_the_arithmetic_is_5_and_says_so(self):
        self.solve(POISSON, "--set", "solver.rtol=1e-18", code=5)
        run, = self.report()["runs"]
        self.assertFalse(run["converged"])
        self.assertLess(run["relative_residual"], 1e-14)
        self.assertIn("raise rtol", run["reason"])

    def test_an_indefinite_matrix_is_5_or_6_with_the_reason_in_words(self):
        n = 40
        entries = [(i, i, 1 if i % 2 else -1) for i in range(1, n + 1)]
        entries += [(i, i + 1, 0.3) for i in range(1, n)] + [(i + 1, i, 0.3) for i in range(1, n)]
        done = self.run_solve("--config", self.case(f"problem: {{file: {self.matrix(entries, n)}, rhs: random}}\n"
                                                    "solver: {method: cg}\n"), limit=LIMIT)
        self.assertIn(done.returncode, (5, 6), done.stderr + done.stdout)
        self.assertIn("definite", self.report()["runs"][0]["reason"])

    def test_a_zero_diagonal_with_jacobi_is_3_and_names_the_row(self):
        file = self.matrix([(1, 1, 2), (2, 3, 1), (3, 2, 1), (4, 4, 1)], 4)
        line = self.refused_case(3, f"problem: {{file: {file}}}\nsolver: {{method: cg}}\n")
        self.assertRegex(line, r"row 1\b")

    def test_a_zero_diagonal_with_sor_is_3_and_names_the_row_whichever_rank_has_it(self):
        for zero in (1, 4, 9):
            entries = [(i, i, 4) for i in range(1, 10) if i != zero]
            entries += [(i, i + 1, 1) for i in range(1, 9)] + [(i + 1, i, 1) for i in range(1, 9)]
            file = self.matrix(entries, 9)
            for preconditioner in ("sor", "eisenstat"):
                line = self.refused_case(3, f"problem: {{file: {file}}}\ndevice: cpu\n"
                                            f"solver: {{preconditioner: {preconditioner}}}\n")
                self.assertRegex(line, rf"row {zero - 1}\b")

    def test_a_singular_block_is_3_and_names_the_row_whichever_rank_has_it(self):
        entries = [(i, i, 4) for i in range(1, 5)] + [(i, i + 1, 1) for i in (1, 3)] + [(i + 1, i, 1) for i in (1, 3)]
        file = self.matrix(entries + [(i, k, 1) for i in (5, 6) for k in (5, 6)], 6)
        line = self.refused_case(3, f"problem: {{file: {file}}}\nsolver: {{preconditioner: pbjacobi}}\n"
                                    "petsc: {mat_block_size: 2}\ndevice: cpu\n")
        self.assertRegex(line, r"row 4\b")

    def sequence(self, steps):
        subprocess.run([PROBLEM, "generate", "poisson2d", self.folder / "heat.h5", "--n", "10", "--rhs", "ones",
                        "--steps", "3"], check=True, capture_output=True)
        return f"problem: {{file: heat.h5, rhs: /b, steps: {steps}}}\n"

    def test_a_step_without_its_data_is_3_and_the_steps_before_are_kept(self):
        done = self.solve(self.sequence("[{count: 3, values: '/values/{}'}, {values: /values/9}]"), code=3)
        line, = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
        self.assertIn("step 3: heat.h5: no dataset /values/9", line.replace(str(self.folder) + "/", ""))
        run, = self.report()["runs"]
        self.assertEqual([step["converged"] for step in run["steps"]], [True] * 3)
        self.assertTrue((self.results / "solution.h5").exists())

    def test_a_first_step_without_its_data_is_3_and_writes_nothing(self):
        self.assertIn("step 0: ", self.refused_case(3, self.sequence("{values: /missing}")))

    def test_check_looks_at_the_shapes_of_all_steps(self):
        text = self.sequence("[{count: 3, values: '/values/{}'}, {values: /b}]")
        self.assertIn("step 3: ", self.refused_case(3, text, "--check"))

    def test_a_sequence_cannot_be_resumed(self):
        self.assertIn("--resume does not go on", self.refused_case(2, self.sequence("{rhs: ones}"), "--resume"))

    def test_a_device_that_is_not_there_is_4(self):
        if shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout:
            self.skipTest("there is a GPU")
        self.refused_case(4, POISSON, "--device", "cuda")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
