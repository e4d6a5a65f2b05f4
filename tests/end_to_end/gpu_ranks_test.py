#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Of two ranks one sees no GPU, as on a node without a driver. Both ranks use the CPU, or both end.

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


class OneRankSeesNoGpu(unittest.TestCase):
    def setUp(self):
        if not (shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout):
            self.skipTest("there is no GPU")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-gpus-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "case.yaml").write_text("problem: {generate: poisson3d, n: 20}\n")

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
            run, = json.loads((self.folder / "results" / "report.json").read_text())["runs"]
            self.assertEqual(run["device"], "cpu")
            self.assertRegex("\n".join(run["notes"]), rf"no usable GPU on \S+ \(rank {blind}\)")

    def test_cuda_is_refused_on_every_rank_with_one_line_that_names_the_node(self):
        for blind in (0, 1):
            done = self.solve(blind, "--device", "cuda")
            lines = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
            self.assertEqual((done.returncode, len(lines)), (4, 1), done.stderr)
            self.assertRegex(lines[0], rf"no usable GPU on \S+ \(rank {blind}\)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
