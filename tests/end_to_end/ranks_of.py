# SPDX-License-Identifier: BSD-3-Clause
"""Finds the ranks of a running job."""
import os
import pathlib


def ranks_of(root):
    """Returns the processes named solve among `root` and the processes that it has started, in their order."""
    family, ranks = {root}, []
    for process in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
        try:
            name, fields = (pathlib.Path("/proc") / process / "stat").read_text().rsplit(")", 1)
        except OSError:  # the process has ended
            continue
        if int(fields.split()[1]) in family or int(process) == root:
            family.add(int(process))
            if name.split("(", 1)[1] == "solve":
                ranks.append(int(process))
    return ranks
