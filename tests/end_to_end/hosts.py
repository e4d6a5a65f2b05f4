# SPDX-License-Identifier: BSD-3-Clause
"""Hosts of a small cluster as namespaces of one machine.

Each host has a name, a network device, a process tree and shared memory of its own. A bridge joins the
networks, and the hosts share the file system. enter() starts the calling script again in namespaces of its own,
which hold all of that, so that the kernel removes every host, process, link and file with the script, however
it ends, and scripts that run at the same time do not see each other.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
SHARED = pathlib.Path("/mnt")  # a file system in memory, which the hosts share
TOOLS = ["ip", "mount", "nsenter", "unshare"]
OWN = ["--net", "--mount", "--pid", "--ipc", "--fork", "--kill-child"]
NEEDED = f"ip link add one type veth peer name two && ip link add three type bridge && mount -t tmpfs none {SHARED}"
# The first process of a host, which prints its number in the namespace of the script, and waits for
# all processes of the host that lose their parent.
INIT = ("hostname $0 && mount -t tmpfs none /dev/shm && ip link set lo up && "
        "read -r number rest </proc/self/stat && echo $number && { sleep infinity & wait; }")
# As ssh, with its exit code for a host that is gone.
AGENT = f"""#!/bin/sh
read -r number <{SHARED}/$1 && shift
nsenter --target $number --net --uts --ipc --mount --pid -- sh -c "$*"
code=$?
[ $code -lt 128 ] || exit 255
exit $code
"""


def enter():
    """Returns in namespaces of its own, or ends the script with a line and SKIPPED where that is not allowed."""
    if os.environ.pop("TRIREME_HOSTS_ENTERED", None):
        subprocess.run(["mount", "-t", "tmpfs", "none", SHARED], check=True)
        return
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    why = f"{', '.join(missing)} not found"
    for user in [[], ["--user", "--map-root-user"]] if not missing else []:
        unshare = ["unshare", *user, *OWN, "--mount-proc"]
        tried = subprocess.run([*unshare, "sh", "-c", NEEDED], capture_output=True, text=True)
        if tried.returncode == 0:
            os.environ["TRIREME_HOSTS_ENTERED"] = "1"
            os.execvp("unshare", [*unshare, sys.executable, "-B", *sys.argv])
        why = tried.stderr.strip().replace("\n", "; ")
    print(f"skipped: no namespaces for hosts here: {why}")
    sys.exit(SKIPPED)


def run(*command):
    subprocess.run(list(map(str, command)), check=True)


class Hosts:
    """The hosts node1, node2, ... `mpirun` runs on node1. To be made once per script, after enter()."""

    def __init__(self, number):
        self.names = [f"node{k}" for k in range(1, number + 1)]
        (SHARED / "hosts").write_text("127.0.0.1 localhost\n" + "".join(
            f"10.0.0.{k} {name}\n" for k, name in enumerate(self.names, 1)))
        run("mount", "--bind", SHARED / "hosts", "/etc/hosts")
        (SHARED / "agent").write_text(AGENT)
        (SHARED / "agent").chmod(0o755)
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "link", "set", "bridge", "up")
        self.processes = {}
        for name in self.names:
            self.start(name)

    def start(self, name):
        k = self.names.index(name) + 1
        process = subprocess.Popen(["unshare", "--uts", *OWN, "sh", "-c", INIT, name],
                                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.processes[name] = process
        number = process.stdout.readline().strip()
        (SHARED / name).write_text(number + "\n")
        run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", number)
        run("ip", "link", "set", name, "master", "bridge", "up")
        self.on(name, "ip", "addr", "add", f"10.0.0.{k}/24", "dev", "eth0")
        self.on(name, "ip", "link", "set", "eth0", "up")

    def _enter(self, name):
        number = (SHARED / name).read_text().strip()
        return ["nsenter", "--target", number, "--net", "--uts", "--ipc", "--mount", "--"]

    def on(self, name, *command):
        """Runs a command on a host, outside of its process tree."""
        run(*self._enter(name), *command)

    def mpirun(self, mpiexec, ranks, folder):
        """The command that starts a program in `folder` on all hosts, ranks[k] ranks on host k."""
        return [*self._enter(self.names[0]), *mpiexec, "--wdir", str(folder),
                "--mca", "plm_rsh_agent", str(SHARED / "agent"), "--mca", "btl", "tcp,self",
                "--mca", "orte_tmpdir_base", "/dev/shm",
                "--host", ",".join(f"{name}:{n}" for name, n in zip(self.names, ranks)), "-n", str(sum(ranks))]

    def kill(self, name):
        """Ends all processes of a host at once."""
        os.kill(int((SHARED / name).read_text()), 9)

    def cut(self, name):
        """Takes the link of a host down, so that nothing of it is heard any more."""
        run("ip", "link", "set", name, "down")

    def renew(self, name):
        """Puts a new host in the place of one that was killed or cut off."""
        with contextlib.suppress(ProcessLookupError):
            self.kill(name)
        with self.processes[name] as process:
            process.wait()
        subprocess.run(["ip", "link", "delete", name], capture_output=True)  # unless it went with the host
        self.start(name)
