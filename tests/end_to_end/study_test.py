#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""solve --study from outside: it survives its runs, goes on after a stop, and refuses wrong studies.

usage: study_test.py SOURCE_FOLDER SOLVE PROBLEM RANKS MPIEXEC [its flags ...]
"""
import csv
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE, SOLVE, PROBLEM = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
MPIRUN = sys.argv[5:]

# Takes the place of solve. The value of solver.rtol says how it ends; mostly with a report that
# solve wrote.
FAKE = """#!/bin/sh
echo "$@" >> {log}
case "$*" in
  *solver.rtol=1e-1*) kill -SEGV $$ ;;
  *solver.rtol=1e-2*) exec sleep 1000 ;;
  *solver.rtol=1e-3*) echo "solve: a reason of its own" >&2; exit 5 ;;
  *solver.rtol=1e-5*) exit 0 ;;
esac
cp {report} "$2"  # after --output
"""


def ratio_text(ratio):
    return f"{ratio:.2f}x" if ratio < 99.95 else f"{ratio:.0f}x"


class Study(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.example = pathlib.Path(tempfile.mkdtemp(prefix="trireme-study-"))
        cls.addClassCleanup(shutil.rmtree, cls.example)
        (cls.example / "case.yaml").write_text("problem: {generate: poisson2d, n: 8}\n")
        subprocess.run([SOLVE, "--config", "case.yaml", "--quiet"], cwd=cls.example, check=True)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-study-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.log = self.folder / "log"
        fake = self.folder / "fake"
        fake.write_text(FAKE.format(log=self.log, report=self.example / "results/report.json"))
        fake.chmod(0o755)
        (self.folder / "case.yaml").write_text("problem: {generate: poisson2d, n: 8}\ndevice: cpu\n")

    def study(self, text, *arguments, code=0):
        (self.folder / "study.yaml").write_text(text)
        done = subprocess.run([SOLVE, "--study", "study.yaml", *arguments], cwd=self.folder, text=True,
                              capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def calls(self):
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def summary(self):
        return json.loads((self.folder / "results-of-study/summary.json").read_text())

    def runs(self):
        with open(self.folder / "results-of-study/runs.csv") as file:
            return list(csv.DictReader(file))

    def test_a_run_that_crashes_hangs_or_fails_does_not_stop_the_rest(self):
        text = ("case: case.yaml\nset: {program: ./fake}\nlimit: 1s\n"
                "vary: {solver.rtol: [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]}\nbaseline: {solver.rtol: 1e-4}\n")
        done = self.study(text, code=5)
        self.assertEqual([run["failure"] for run in self.runs()], ["signal 11", "time", "exit 5", "", "no report"])
        self.assertEqual(self.summary()["done"], 5)
        reasons = {failure["variant"]: failure["reason"] for failure in self.summary()["failures"]}
        self.assertEqual(reasons["rtol=1e-1"], "signal 11 (Segmentation fault)")
        self.assertEqual(reasons["rtol=1e-2"], "time limit of 1.00 s")
        self.assertEqual(reasons["rtol=1e-3"], "exit code 5: a reason of its own")
        self.assertIn("5 of 5 runs done, 4 failed", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout[done.stdout.index("\n\n"):].splitlines())), 80)

        # What has ended, in any way, is not repeated: unless its case, or its time, is another.
        self.study(text, code=5)
        self.assertEqual(self.calls(), 5)
        self.study(text.replace("limit: 1s", "limit: 2s"), code=5)
        self.assertEqual(self.calls(), 6)
        shutil.rmtree(next(self.folder.glob("results-of-study/runs/*1e-3")))
        self.study(text, "--set", "limit=2s", code=5)
        self.assertEqual(self.calls(), 7)
        self.study(text, "--set", "limit=2s", "--set", "solver.rtol=[1e-4, 1e-3]", code=5)
        self.assertEqual(self.calls(), 7)
        self.study(text, "--set", "solver.rtol=[1e-4, 1e-3]", "--again", code=5)
        self.assertEqual(self.calls(), 9)
        case = self.folder / "case.yaml"
        case.write_text(case.read_text() + "repeat: 2\n")
        self.study(text, "--set", "solver.rtol=[1e-4, 1e-3]", code=5)
        self.assertEqual(self.calls(), 11)

    def test_ratios_are_those_of_the_reports(self):
        self.study("case: case.yaml\nset: {threads: 1}\nvary: {problem.n: [8, 12, 16], kernel: [albus, csr]}\n"
                   "baseline: {kernel: csr}\nfigure: [product, iteration, total]\nrepeat: 3\n")
        products = {}
        for report in self.folder.glob("results-of-study/runs/*/report.json"):
            text = json.loads(report.read_text())
            run, = text["runs"]
            products.setdefault((text["problem"]["rows"], run["kernel"]), []).append(run["kernel_us"]["median"])
        self.assertEqual({len(times) for times in products.values()}, {3})
        median = {key: sorted(times)[1] for key, times in products.items()}
        ratios = [median[n * n, "csr"] / median[n * n, "albus"] for n in (8, 12, 16)]
        summary = self.summary()
        self.assertEqual(summary["variants"], ["albus", "csr"])
        table, _, _ = summary["figures"]
        for row, ratio in zip(table["problems"], ratios):
            self.assertAlmostEqual(row["cells"][0]["ratio"], ratio, delta=1e-9 * ratio)
        mean = math.exp(sum(map(math.log, ratios)) / 3)
        self.assertAlmostEqual(table["variants"][0]["geometric_mean"], mean, delta=1e-9 * mean)
        self.assertIn(ratio_text(mean) + " (3)", (self.folder / "results-of-study/summary.md").read_text())
        self.assertIn(ratio_text(mean), (self.folder / "results-of-study/summary.html").read_text())

    def test_products_are_measured_by_kernel_bench_in_one_process(self):
        n = 300
        places = [(1, c) for c in range(1, n + 1)] + [(r, 1) for r in range(2, n + 1)]
        (self.folder / "arrow.mtx").write_text(
            f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(places)}\n" +
            "".join(f"{r} {c} 1\n" for r, c in places))
        done = self.study("measure: products\nset: {seconds: 0, device: cpu, threads: 1, precision: float}\n"
                          "speed_up_of: baseline\nbaseline: {kernel: albus}\n"
                          "vary: {problem: [arrow.mtx, {generate: poisson2d, n: 16}], kernel: [albus, csr, ell]}\n", code=5)
        table, = self.summary()["figures"]
        self.assertEqual(self.summary()["variants"], ["albus", "csr", "ell"])
        self.assertEqual([cell["failure"] for cell in table["problems"][0]["cells"]], ["", "", "left out"])
        folder, = {run["folder"] for run in self.runs() if run["problem.n"]}
        rows = json.loads((pathlib.Path(folder) / "products.json").read_text())
        self.assertEqual({row["precision"] for row in rows}, {"float"})
        albus, csr, _ = [row["median_us"] for row in rows]
        self.assertAlmostEqual(table["problems"][1]["cells"][1]["ratio"], csr / albus, delta=1e-6)
        self.assertIn("failed: ell: ", done.stdout)

    def test_a_case_that_compares_kernels_has_a_column_for_each(self):
        self.study("case: case.yaml\nset: {kernel: [csr, sell]}\nvary: {problem.n: [8, 9]}\nbaseline: {kernel: csr}\n")
        self.assertEqual(self.summary()["variants"], ["csr", "sell"])
        self.assertEqual(self.summary()["figures"][0]["variants"][1]["count"], 2)
        self.assertEqual(len(self.runs()), 4)

    def test_runs_on_several_ranks(self):
        launcher = " ".join(MPIRUN)
        done = self.study(f"case: case.yaml\nlauncher: {launcher} -n {{}}\nvary: {{ranks: [1, 2]}}\n",
                          "--progress=plain")
        self.assertEqual(done.stderr, "1/2 1-rank ...\n2/2 2-ranks ...\n")
        ranks = [json.loads(report.read_text())["runs"][0]["ranks"]
                 for report in sorted(self.folder.glob("results-of-study/runs/*/report.json"))]
        self.assertEqual(ranks, [1, 2])
        self.assertEqual(self.summary()["variants"], ["1 rank", "2 ranks"])

    def test_a_hang_on_several_ranks_leaves_no_process(self):
        launcher = " ".join(MPIRUN)
        mark = str(1000 + os.getpid())
        (self.folder / "hang").write_text(f"#!/bin/sh\ntrap '' TERM\nsleep {mark}\nsleep {mark}\n")
        (self.folder / "hang").chmod(0o755)
        self.study(f"case: case.yaml\nset: {{program: ./hang, ranks: 2}}\nlimit: 1s\nlauncher: {launcher} -n {{}}\n",
                   code=5)
        self.assertEqual(self.runs()[0]["failure"], "time")
        for _ in range(100):
            left = subprocess.run(["pgrep", "-f", f"^sleep {mark}"], capture_output=True, text=True).stdout
            if not left:
                break
            time.sleep(0.05)
        self.assertEqual(left, "")

    def test_a_study_that_dies_takes_its_run_with_it_and_is_not_started_beside_it(self):
        mark = str(100000 + os.getpid())
        (self.folder / "hang").write_text(f"#!/bin/sh\ntrap '' TERM QUIT\nsleep {mark}\nsleep {mark}\n")
        (self.folder / "hang").chmod(0o755)
        launcher = " ".join(MPIRUN)
        text = f"case: case.yaml\nset: {{program: ./hang, ranks: 2}}\nlauncher: {launcher} -n {{}}\n"
        (self.folder / "study.yaml").write_text(text)

        def sleeping():
            return subprocess.run(["pgrep", "-f", f"^sleep {mark}"], capture_output=True, text=True).stdout

        def wait_until(done):
            begin = time.monotonic()
            while not done():
                self.assertLess(time.monotonic() - begin, 60)
                time.sleep(0.02)

        child = subprocess.Popen([SOLVE, "--study", "study.yaml"], cwd=self.folder, stdout=subprocess.DEVNULL)
        wait_until(lambda: len(sleeping().split()) == 2)
        child.send_signal(signal.SIGQUIT)
        self.assertEqual(child.wait(timeout=20), -signal.SIGQUIT)
        self.assertIn("another process runs a study there", self.study(text, code=2).stderr)
        wait_until(lambda: not sleeping())
        (self.folder / "hang").write_text("#!/bin/sh\n")
        done = []
        wait_until(lambda: done.append(subprocess.run(
            [SOLVE, "--study", "study.yaml", "--quiet"], cwd=self.folder, capture_output=True)) or
            done[-1].returncode != 2)
        self.assertEqual(self.summary()["done"], 1)

    def test_ctrl_c_ends_the_run_and_the_study_goes_on_later(self):
        text = "case: case.yaml\nset: {program: ./fake}\nvary: {solver.rtol: [1e-4, 1e-2, 1e-6]}\n"
        (self.folder / "study.yaml").write_text(text)
        child = subprocess.Popen([SOLVE, "--study", "study.yaml"], cwd=self.folder, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        begin = time.monotonic()
        while self.calls() < 2:
            self.assertLess(time.monotonic() - begin, 60)
            self.assertIsNone(child.poll())
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=20)
        self.assertEqual(child.returncode, 5, errors)
        self.assertIn("1 of 3 runs done, 0 failed; stopped by a signal, and the same command goes on", output)
        self.assertEqual([run["failure"] for run in self.runs()], ["", "not run", "not run"])
        fake = self.folder / "fake"
        fake.write_text(fake.read_text().replace("exec sleep 1000", ":"))
        self.study(text)
        self.assertEqual(self.calls(), 4)
        self.assertEqual(self.summary()["done"], 3)

    def test_the_total_time_ends_a_study_that_goes_on_later(self):
        text = "case: case.yaml\nset: {program: ./fake}\nvary: {solver.rtol: [1e-2, 1e-4]}\ntotal: 1s\n"
        done = self.study(text, code=5)
        self.assertIn("0 of 2 runs done, 0 failed; the total time is over", done.stdout)
        self.assertEqual(self.calls(), 1)

    def test_a_wrong_study_is_one_line(self):
        for text, words in (("vary: {kernel: [csr]}\n", "problem needs a file"),
                            ("case: case.yaml\nvarry: {}\n", "study.yaml:2:1: unknown key 'varry'; did you mean 'vary'?"),
                            ("case: case.yaml\nvary: {kernel: [csr]}\nbaseline: {kernel: sell}\n", "matches no run"),
                            ("case: case.yaml\nvary: {solver.rtoll: [1]}\n", "study.yaml:2:23: unknown key 'solver.rtoll'")):
            done = self.study(text, code=2)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertFalse((self.folder / "results-of-study").exists())
        (self.folder / "nothing").mkdir()
        done = subprocess.run([SOLVE, "--study", "nothing"], cwd=self.folder, text=True, capture_output=True)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
        done = subprocess.run([*MPIRUN, "-n", "2", SOLVE, "--study", "study.yaml"], cwd=self.folder, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("solve: --study"), 1, done.stderr)

    def test_check_lists_the_runs(self):
        done = self.study("case: case.yaml\nvary: {kernel: [csr, albus]}\n", "--check")
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines()],
                         ["csr", "albus"])
        self.assertFalse((self.folder / "results-of-study").exists())
        done = self.study("case: case.yaml\n", "--check", "--no-cache")
        self.assertIn(" --no-cache", done.stdout)

    def test_the_studies_of_the_project_are_right(self):
        studies = sorted((SOURCE / "bench/studies").glob("*.yaml"))
        self.assertTrue(studies)
        for study in studies:
            done = subprocess.run([SOLVE, "--study", study, "--check"], cwd=self.folder, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
