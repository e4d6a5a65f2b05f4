# SPDX-License-Identifier: BSD-3-Clause
"""The iteration time of CG on up to 1,024 GPUs, from what was measured on one, two and four.

  python3 bench/scale_model                 prints the tables
  python3 bench/scale_model --write FOLDER  puts tables and plot into FOLDER/scale.md and FOLDER/scale.svg
"""
import argparse
import pathlib

import page
import plot
import tables

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER")
options = parser.parse_args()
if options.write:
    path = options.write / "scale.md"
    path.write_text(page.with_tables(path.read_text(), tables.tables()))
    (options.write / "scale.svg").write_text(plot.svg())
else:
    for name, lines in tables.tables().items():
        print(f"{name}\n", *lines, "", sep="\n")
