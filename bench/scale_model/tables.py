# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/performance/scale.md."""
import measured as m
import model

GPUS = [1, 2, 8, 16, 64, 256, 1024]
# Problem, rows per GPU of weak scaling, rows in all of strong scaling.
PROBLEMS = [("poisson27", 8_000_000, 512_000_000), ("mesh2d", 4_000_000, 512_000_000)]
HELP = [
    ("as it is", model.Setting()),
    ("rows cut where they stand", model.Setting(parts="rows")),
    ("one point of sums at any size", model.Setting(points="one")),
    ("sums by peer memory within a host", model.Setting(points="one", sums="by host")),
    ("sums by the switches", model.Setting(points="one", sums="switches")),
    ("sums behind the product (pipelined CG)", model.Setting(sums="hidden")),
    ("the loop stays on the GPU between hosts too", model.Setting(points="one", fixed="peer")),
    ("the last one, and sums by the switches", model.Setting(points="one", fixed="peer", sums="switches")),
]


def count(rows):
    return f"{rows / 1e6:.3g} M"


def percent(part):
    return f"{100 * part:.1f} %"


def check():
    """Every figure of several GPUs beside the model's."""
    text = ["| system | exchange | GPUs | rows per GPU | measured | model | error | |",
            "|---|---|--:|--:|--:|--:|--:|---|"]
    for kind, problem, exchange, gpus, rows, halo, time in m.SEVERAL:
        predicted = model.within_host(problem, exchange, gpus, rows / gpus, halo)
        text.append(f"| {problem} | `{exchange}` | {gpus} | {count(rows / gpus)} | {time:.1f} | {predicted:.1f} | "
                    f"{100 * (predicted / time - 1):+.1f} % | {kind} |")
    return text


def limit(it):
    if it.halo + it.sums < 0.05 * it.loop:
        return "memory of the GPU"
    return "sums" if it.sums >= it.halo else "halo"


def scaling(function, problem, rows):
    text = ["| GPUs | rows per GPU | iteration | loop of one GPU | halo | sums | efficiency | limit |",
            "|--:|--:|--:|--:|--:|--:|--:|---|"]
    for gpus in GPUS:
        mine = rows if function is model.weak else rows / gpus
        it, efficiency = function(problem, gpus, rows)
        text.append(f"| {gpus} | {count(mine)} | {it.time:.0f} | {it.loop:.0f} | {it.halo:.0f} | {it.sums:.0f} | "
                    f"{percent(efficiency)} | {limit(it)} |")
    return text


def helps():
    text = ["| what | poisson27, weak | mesh2d, weak | poisson27, strong | mesh2d, strong |", "|---|--:|--:|--:|--:|"]
    for name, setting in HELP:
        cells = []
        for function, k in ((model.weak, 1), (model.strong, 2)):
            for problem in PROBLEMS:
                if problem[0] == "mesh2d" and setting.parts == "rows":
                    cells.append("")  # most of x would be in the halo
                    continue
                it, efficiency = function(problem[0], GPUS[-1], problem[k], setting)
                cells.append(f"{it.time:.0f}, {percent(efficiency)}")
        text.append(f"| {name} | " + " | ".join(cells) + " |")
    return text


def tables():
    """Name and lines of each table, in the order of the page."""
    result = {"check": check()}
    for problem, weak_rows, strong_rows in PROBLEMS:
        result[f"{problem} weak"] = scaling(model.weak, problem, weak_rows)
        result[f"{problem} strong"] = scaling(model.strong, problem, strong_rows)
    result["helps"] = helps()
    return result
