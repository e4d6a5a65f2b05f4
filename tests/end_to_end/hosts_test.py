#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""solve on three hosts, which are namespaces of this machine (hosts.py) with TCP between them.

usage: hosts_test.py SOURCE_FOLDER SOLVE PROBLEM mpiexec and its flags ...

The script exits with 77, which CTest shows as skipped, where namespaces are not allowed.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

import h5py
import jsonschema
import numpy as np
import scipy.sparse

import hosts
from ranks_of import ranks_of

SOURCE, SOLVE, PROBLEM = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
MPIEXEC = sys.argv[4:]
SCHEMA = json.loads((SOURCE / "configs" / "report.schema.json").read_text())
PATIENCE = 90.0  # seconds that one run may take on a busy machine
LIMIT = 15.0  # seconds from the death of a host to the end of the job
LOST = 205  # the exit code of mpirun where it has lost the connection to a host
AGENT_FAILED = [1, 255]  # and where it hears first from the agent that started processes there
# docs/how-to/run-on-a-cluster.md: how soon mpirun notices that nothing is heard from a host
KEEPALIVE = {"OMPI_MCA_oob_tcp_keepalive_time": "4", "OMPI_MCA_oob_tcp_keepalive_intvl": "2",
             "OMPI_MCA_oob_tcp_keepalive_probes": "3"}


class OnHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = hosts.SHARED / "inputs"
        cls.inputs.mkdir(exist_ok=True)
        for name, *kind in [("poisson", "poisson3d", "-n", "16"), ("convection", "convection3d", "-n", "12"),
                            ("mesh", "mesh2d", "-n", "40")]:
            subprocess.run([PROBLEM, "generate", *kind, cls.inputs / f"{name}.h5", "--rhs", "from-ones"], check=True,
                           capture_output=True)

    def setUp(self):
        self.folder = hosts.SHARED / "case"
        self.folder.mkdir()
        self.addCleanup(shutil.rmtree, self.folder)
        self.results = self.folder / "results"

    def case(self, problem, text=""):
        (self.folder / "case.yaml").write_text(
            f"problem: {{file: {self.inputs / problem}.h5, rhs: /b, x_exact: /x_exact}}\ndevice: cpu\n" + text)

    def command(self, ranks, *options, flags=()):
        return [*HOSTS.mpirun([*MPIEXEC, *flags], ranks, self.folder), SOLVE, "--config", "case.yaml", *options]

    def solve(self, *options, ranks=(1, 1, 1), flags=(), code=0):
        done = subprocess.run(self.command(ranks, *options, flags=flags), capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def report(self):
        report = json.loads((self.results / "report.json").read_text())
        jsonschema.validate(report, SCHEMA)
        return report

    def assert_solved(self, tolerance=1e-5):
        run, = self.report()["runs"]
        self.assertTrue(run["converged"])
        self.assertLessEqual(run["relative_residual"], 1.02 * run["rtol"])
        with h5py.File(self.results / "solution.h5") as file:
            np.testing.assert_allclose(file["x"][:], 1, rtol=tolerance)
        return run


class Exchanges(OnHosts):
    def test_of_products_sums_levels_and_transposed_products(self):
        for problem, options in [
                ("poisson", "solver: {method: cg}\nkernel: csr\n"),
                ("convection", "solver: {method: bicgstab}\nkernel: albus\n"),
                ("poisson", "solver: {method: minres, preconditioner: none}\n"),
                ("poisson", "solver: {preconditioner: multigrid}\n"),
                ("poisson", "solver: {engine: petsc}\nkernel: petsc-aij\n"),
                ("convection", "solver: {method: bicg}\nkernel: csr\n"),
                ("poisson", "kernel: auto\nprecision: mixed\n")]:
            with self.subTest(problem=problem, options=options):
                self.case(problem, options)
                self.solve("--quiet")
                self.assert_solved()

    def test_of_several_vectors_at_once(self):
        with h5py.File(self.inputs / "poisson.h5") as file, h5py.File(self.inputs / "several.h5", "w") as several:
            for name in ("A", "x_exact"):
                file.copy(name, several)
            several["b"] = np.outer(file["b"][:], np.arange(1, 6))
            del several["x_exact"]
            several["x_exact"] = np.outer(np.ones(16**3), np.arange(1, 6))
        self.case("several", "solver: {block: 5}\nkernel: csr\n")
        self.solve("--quiet")
        with h5py.File(self.results / "solution.h5") as file:
            np.testing.assert_allclose(file["x"][:], np.outer(np.ones(16**3), np.arange(1, 6)), rtol=1e-5)

    def test_of_rows_that_move_to_the_parts_of_a_graph(self):
        self.case("mesh", "distribution: graph\nkernel: csr\n")
        self.solve("--quiet", "--no-cache")
        self.assert_solved()
        distribution = self.report()["distribution"]
        self.assertEqual(distribution["distribution"], "graph", distribution)
        self.assertLess(distribution["graph"]["ghosts"], distribution["rows"]["ghosts"])


class Reports(OnHosts):
    def test_name_the_hosts_and_their_ranks(self):
        self.case("poisson")
        for flags, places in [((), [[0], [1, 2], [3]]), (("--map-by", "node"), [[0], [1, 3], [2]])]:
            with self.subTest(flags=flags):
                table = self.solve(ranks=(1, 2, 1), flags=flags).stdout
                self.assertEqual(self.report()["machine"]["nodes"],
                                 [{"host": host, "ranks": ranks} for host, ranks in zip(HOSTS.names, places)])
                self.assertEqual(self.report()["machine"]["host"], "node1")
                self.assertIn("on 3 nodes (node1: rank 0; node2: ranks 1", " ".join(table.split()))


class Files(OnHosts):
    def test_are_read_on_all_hosts_and_written_on_that_of_rank_0(self):
        self.results.mkdir()
        for name in HOSTS.names:
            HOSTS.on(name, "mount", "-t", "tmpfs", "none", self.results)
        self.case("poisson", "report: {formats: [json, csv, html, markdown]}\n")
        self.solve("--quiet")
        seen = {}
        for name in HOSTS.names:
            HOSTS.on(name, "sh", "-c", f"ls -A {self.results} >{hosts.SHARED}/list-{name}")
            HOSTS.on(name, "umount", self.results)
            seen[name] = (hosts.SHARED / f"list-{name}").read_text().split()
        written = ["history.csv", "report.html", "report.json", "report.md", "solution.h5"]
        self.assertEqual(seen, {"node1": written, "node2": [], "node3": []})

    def test_that_one_host_does_not_see_end_the_job_with_a_line(self):
        self.case("poisson")
        hidden = hosts.SHARED / "hidden"
        hidden.mkdir(exist_ok=True)
        HOSTS.on("node3", "mount", "--bind", hidden, self.inputs)
        try:
            said = self.solve("--quiet", code=3).stderr
        finally:
            HOSTS.on("node3", "umount", self.inputs)
        lines = [line for line in said.splitlines() if line.startswith("solve: ")]
        self.assertEqual(len(lines), 1, said)
        self.assertIn("poisson.h5", lines[0])
        self.assertIn("node3", lines[0])
        self.assertFalse(self.results.exists())


class DyingHosts(OnHosts):
    ROWS = 200_000  # of a chain, for which CG needs as many iterations: no machine ends them in time

    def begun(self, **environment):
        """Starts a solve, and returns its process when a checkpoint is on the disk."""
        chain = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(self.ROWS, self.ROWS), format="csr")
        with h5py.File(self.folder / "chain.h5", "w") as file:
            group = file.create_group("A")
            group.attrs["format"], group.attrs["shape"] = "csr", chain.shape
            group["indptr"], group["indices"], group["data"] = chain.indptr, chain.indices, chain.data
        (self.folder / "case.yaml").write_text(
            "problem: {file: chain.h5, rhs: random}\ndevice: cpu\nkernel: csr\n"
            f"report: {{checkpoint: 0.2s}}\nsolver: {{method: cg, preconditioner: none, max_iterations: {9 * self.ROWS}}}\n")
        child = subprocess.Popen(self.command((1, 1, 1)), text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, env={**os.environ, **environment})
        self.addCleanup(child.kill)
        begin = time.monotonic()
        while not (self.results / "state.h5").exists():
            self.assertLess(time.monotonic() - begin, PATIENCE, "no checkpoint")
            self.assertIsNone(child.poll(), child.poll() and child.communicate()[0])
            time.sleep(0.05)
        self.assertEqual(len(ranks_of(1)), 3)
        return child

    def assert_ends(self, child, *codes):
        died = time.monotonic()
        try:
            said = child.communicate(timeout=LIMIT)[0]
        except subprocess.TimeoutExpired:
            self.fail("the job goes on")
        self.assertIn(child.returncode, codes, said)
        if child.returncode == LOST:
            self.assertIn("node3", said)
        else:  # Open MPI may take the end of its agent for a failed start, and then names no host
            self.assertRegex(said, "node3|ORTE was unable to reliably start")
        while ranks_of(1):
            self.assertLess(time.monotonic() - died, LIMIT, "ranks go on")
            time.sleep(0.1)
        self.assertEqual({path.name for path in self.results.glob("[!.]*")}, {"state.h5"})
        for path in self.results.glob(".*"):
            self.assertTrue(path.name.endswith(".tmp"), path)

    def assert_goes_on_with_two_hosts(self):
        with h5py.File(self.results / "state.h5") as file:
            done = int(file["iterations"][0])
        self.solve("--quiet", "--resume", "--set", f"solver.max_iterations={done + 20}", ranks=(1, 1), code=5)
        run, = self.report()["runs"]
        self.assertIn(f"resumed at iteration {done}", " ".join(run["notes"]))
        self.assertEqual(run["iterations"], done + 20)

    def test_whose_processes_end_at_once(self):
        child = self.begun()
        HOSTS.kill("node3")
        try:
            self.assert_ends(child, LOST, *AGENT_FAILED)
            self.assert_goes_on_with_two_hosts()
        finally:
            HOSTS.renew("node3")

    def test_from_which_nothing_is_heard_any_more(self):
        child = self.begun(**KEEPALIVE)
        HOSTS.cut("node3")
        try:
            self.assert_ends(child, LOST)
            self.assert_goes_on_with_two_hosts()
        finally:
            HOSTS.renew("node3")


if __name__ == "__main__":
    hosts.enter()
    HOSTS = hosts.Hosts(3)
    unittest.main(argv=sys.argv[:1], verbosity=2)
