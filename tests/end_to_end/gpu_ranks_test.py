#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Of two ranks one sees no GPU, as on a node without a driver: both ranks use the CPU, or both end. And what a
user sees of the mixed exchange between GPUs of several nodes, which -trireme_ranks_per_node declares.

usage: gpu_ranks_test.py SOLVE mpiexec and its flags ...
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOLVE, MPIEXEC = sys.argv[1], sys.argv[2:]
BLIND = ["env", "CUDA_VISIBLE_DEVICES="]


def number_of_gpus():
    if not shutil.which("nvidia-smi"):
        return 0
    return len(subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout.splitlines())


class SolvesOnRanks(unittest.TestCase):
    def setUp(self):
        if not number_of_gpus():
            self.skipTest("there is no GPU")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-gpus-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "case.yaml").write_text("problem: {generate: poisson3d, n: 20}\nsolver: {method: cg}\n")

    def run_of_report(self):
        run, = json.loads((self.folder / "results" / "report.json").read_text())["runs"]
        return run

    def expect_one_line(self, done, code):
        lines = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
        self.assertEqual((done.returncode, len(lines)), (code, 1), done.stderr)
        return lines[0]


class OneRankSeesNoGpu(SolvesOnRanks):
    def solve(self, blind, *arguments):
        command = []
        for rank in (0, 1):
            command += [":"] * rank + ["-n", "1", *(BLIND if rank == blind else []), SOLVE, "--config", "case.yaml",
                                       *arguments]
        return subprocess.run([*MPIEXEC, *command], cwd=self.folder, text=True, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL)

    def test_auto_takes_the_cpu_on_every_rank_and_names_the_node(self):
        for blind in (0, 1):
            done = self.solve(blind)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = self.run_of_report()
            self.assertEqual(run["device"], "cpu")
            self.assertRegex("\n".join(run["notes"]), rf"no usable GPU on \S+ \(rank {blind}\)")

    def test_cuda_is_refused_on_every_rank_with_one_line_that_names_the_node(self):
        for blind in (0, 1):
            done = self.solve(blind, "--device", "cuda")
            self.assertRegex(self.expect_one_line(done, 4), rf"no usable GPU on \S+ \(rank {blind}\)")


class MixedExchange(SolvesOnRanks):
    def solve(self, ranks, *options):
        return subprocess.run([*MPIEXEC, "-n", str(ranks), SOLVE, "--config", "case.yaml", "--device", "cuda", "--",
                               *options], cwd=self.folder, text=True, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL)

    def test_is_refused_with_one_line_on_one_node_and_where_no_node_has_peers(self):
        for options in ([], ["-trireme_ranks_per_node", "1"]):
            for way in ("mixed", "peer+nccl", "peer+mpi"):
                done = self.solve(2, "-trireme_exchange", way, *options)
                line = self.expect_one_line(done, 4)
                self.assertIn(f"-trireme_exchange {way} needs several nodes", line)

    def test_another_word_is_refused_with_one_line(self):
        self.assertIn("none of peer, mixed", self.expect_one_line(self.solve(2, "-trireme_exchange", "smoke"), 2))

    def test_ranks_that_share_gpus_on_declared_nodes_use_mpi(self):
        if number_of_gpus() > 1:
            self.skipTest("needs one GPU, which all ranks share")
        done = self.solve(4, "-trireme_ranks_per_node", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("exchange between GPUs: mpi", self.run_of_report()["notes"])

    def test_solves_and_the_report_says_what_the_trial_found(self):
        if number_of_gpus() < 3:
            self.skipTest("needs three GPUs: two nodes are declared, one of them with two GPUs")
        found = {}
        for options in ([], ["-trireme_exchange", "mixed"], ["-trireme_exchange", "peer+mpi"],
                        ["-trireme_exchange", "nccl"]):
            done = self.solve(3, "-trireme_ranks_per_node", "2", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = self.run_of_report()
            found[options[-1] if options else ""] = run["iterations"]
            note, = [note for note in run["notes"] if note.startswith("exchange between GPUs: ")]
            expected = {"": r"(peer\+nccl|nccl): a halo takes [0-9.]+ us, and [0-9.]+ by (nccl alone|peer\+nccl)",
                        "mixed": r"peer\+nccl", "peer+mpi": r"peer\+mpi", "nccl": "nccl"}
            self.assertRegex(note, rf"^exchange between GPUs: {expected[options[-1] if options else '']}$")
        self.assertEqual(len({found[""], found["mixed"], found["nccl"]}), 1, found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
