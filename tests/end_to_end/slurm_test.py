#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""configs/slurm.sh in the environment that Slurm makes for a job, with an srun that starts as many ranks.

usage: slurm_test.py SOURCE_FOLDER SOLVE mpiexec and its flags ...

The srun of the test understands the options of the real one (version 22.05) that the script gives, and refuses
others. It notes them, and the variables of OpenMP and MPI that the ranks would have.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, SOLVE, MPIEXEC = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
SCRIPT = SOURCE / "configs" / "slurm.sh"
MAX_RANKS = 3  # that the srun of the test really starts
LAUNCHER = """#!{python}
import json, os, pathlib, subprocess, sys
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
if words == ["--mpi=list"]:
    print("MPI plugin types are...\\n\\tnone" + os.environ.get("PLUGINS", ""), file=sys.stderr)
    sys.exit()
known = {{"srun": ["--nodes=", "--ntasks=", "--ntasks-per-node=", "--cpus-per-task=", "--cpu-bind=",
                  "--distribution=", "--gpu-bind="], "mpirun": ["--map-by", "--bind-to", "-n"]}}[name]
options = []
while words and words[0].startswith("-"):
    options.append(words.pop(0))
    if "=" not in options[-1]:
        options.append(words.pop(0))
unknown = [option for option in options if option.startswith("-") and not option.startswith(tuple(known))]
if unknown:
    sys.exit(f"{{name}}: unrecognized option {{unknown[0]}}")
noted = {{key: value for key, value in os.environ.items() if key.startswith(("OMP_", "SLURM_MPI", "OMPI_MCA_oob"))}}
pathlib.Path(os.environ["NOTES"]).write_text(json.dumps([name, options, noted]))
count = [option[9:] for option in options if option.startswith("--ntasks=")] or ["2"]
ranks = str(min(int(count[0]), {max_ranks}))
environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_PROC_BIND="false")
sys.exit(subprocess.run([*{mpiexec}, "-n", ranks, *words], env=environment).returncode)
"""


class Slurm(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-slurm-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("srun", "mpirun"):
            path = self.folder / name
            mpiexec = [shutil.which(MPIEXEC[0]), *MPIEXEC[1:]]
            path.write_text(LAUNCHER.format(python=sys.executable, mpiexec=mpiexec, max_ranks=MAX_RANKS))
            path.chmod(0o755)
        (self.folder / "case.yaml").write_text("problem: {generate: poisson3d, n: 8}\ndevice: cpu\n")

    def sbatch(self, *arguments, code=0, **variables):
        """Runs the script as sbatch does: from a copy elsewhere. Returns the launcher, its options, its variables."""
        spooled = self.folder / "slurm_script"
        shutil.copy(SCRIPT, spooled)
        notes = self.folder / "notes"
        notes.unlink(missing_ok=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "OMP_"))}
        environment |= {"PATH": f"{self.folder}:{os.environ['PATH']}", "TRIREME_SOLVE": SOLVE, "NOTES": str(notes),
                        **variables}
        done = subprocess.run([spooled, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=90)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(notes.read_text()) if notes.exists() else done.stderr

    def ranks(self):
        return json.loads((self.folder / "results" / "report.json").read_text())["machine"]["ranks"]

    JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS_PER_NODE": "8", "SLURM_CPUS_PER_TASK": "4",
           "SLURM_CPUS_ON_NODE": "32"}

    def test_a_rank_per_task_on_cpus(self):
        name, options, variables = self.sbatch("case.yaml", "--quiet", **self.JOB)
        self.assertEqual([name, options], ["srun", [
            "--nodes=2", "--ntasks=16", "--ntasks-per-node=8", "--cpus-per-task=4", "--cpu-bind=cores",
            "--distribution=block:block"]])
        self.assertEqual(variables, {"OMP_NUM_THREADS": "4", "OMP_PLACES": "cores", "OMP_PROC_BIND": "close"})
        self.assertEqual(self.ranks(), MAX_RANKS)

    def test_a_rank_per_gpu_which_shares_the_cores_and_sees_all_gpus(self):
        name, options, variables = self.sbatch("case.yaml", "--quiet", SLURM_GPUS_ON_NODE="4", **self.JOB)
        self.assertEqual([name, options], ["srun", [
            "--nodes=2", "--ntasks=8", "--ntasks-per-node=4", "--cpus-per-task=8", "--cpu-bind=cores",
            "--distribution=block:block", "--gpu-bind=none"]])
        self.assertEqual(variables, {"OMP_NUM_THREADS": "8", "OMP_PROC_BIND": "false"})

    def test_fewer_cores_than_gpus(self):
        options = self.sbatch("case.yaml", "--quiet", SLURM_GPUS_ON_NODE="64", **self.JOB)[1]
        self.assertIn("--cpus-per-task=1", options)

    def test_pmix_where_slurm_has_it_and_nobody_asks_for_another(self):
        for plugins, asked, taken in [("\n\tpmix", {}, "pmix"), ("\n\tpmi2", {}, None),
                                      ("\n\tpmix", {"SLURM_MPI_TYPE": "pmi2"}, "pmi2")]:
            variables = self.sbatch("case.yaml", "--quiet", PLUGINS=plugins, **self.JOB, **asked)[2]
            self.assertEqual(variables.get("SLURM_MPI_TYPE"), taken)

    def test_mpirun_in_place_of_srun_notices_lost_nodes(self):
        name, options, variables = self.sbatch("case.yaml", "--quiet", TRIREME_MPIRUN="mpirun", **self.JOB)
        self.assertEqual([name, options], ["mpirun", ["--map-by", "ppr:8:node:PE=4", "--bind-to", "core"]])
        self.assertEqual(variables["OMPI_MCA_oob_tcp_keepalive_time"], "4")

    def test_without_slurm(self):
        self.assertEqual(self.sbatch("case.yaml", "--quiet")[:2], ["mpirun", ["-n", "2"]])
        options = self.sbatch("case.yaml", "--quiet", TRIREME_MPIRUN="mpirun -n 3")[1]
        self.assertEqual(options, ["-n", "3"])

    def test_a_program_of_several_words_and_further_arguments(self):
        self.sbatch("case.yaml", "--output", "with spaces", TRIREME_SOLVE=f"env A=b {SOLVE}", **self.JOB)
        self.assertTrue((self.folder / "with spaces" / "report.json").exists())

    def test_the_exit_code_of_solve_and_a_missing_case(self):
        self.sbatch("case.yaml", "--quiet", "--set", "solver.method=cg", "--set", "solver.max_iterations=1",
                    code=5, **self.JOB)
        self.assertIn("usage: sbatch", self.sbatch(code=2, **self.JOB))

    def test_the_lines_for_sbatch_are_options_of_sbatch(self):
        lines = re.findall(r"^#SBATCH (--[a-z-]+)=\S+$", SCRIPT.read_text(), re.MULTILINE)
        self.assertEqual(lines, ["--job-name", "--nodes", "--ntasks-per-node", "--cpus-per-task", "--time", "--signal"])
        before = SCRIPT.read_text().split("#SBATCH")[-1].split("\nset ")[0]
        self.assertTrue(all(line.startswith("#") for line in before.splitlines()[1:]), "sbatch stops at a command")

    def test_of_the_shell_find_nothing(self):
        if not shutil.which("shellcheck"):
            self.skipTest("there is no shellcheck")
        done = subprocess.run(["shellcheck", SCRIPT], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
