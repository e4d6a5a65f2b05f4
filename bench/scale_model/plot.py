# SPDX-License-Identifier: BSD-3-Clause
"""Efficiency over GPUs as SVG."""
import math

import measured as m
import model
import tables

LEFT, TOP, WIDTH, HEIGHT = 60, 24, 560, 280
COLOURS = {"poisson27": "#1b6ca8", "mesh2d": "#b8561b"}


def x_of(gpus):
    return LEFT + WIDTH * math.log2(gpus) / 10


def y_of(efficiency):
    return TOP + HEIGHT * (1 - efficiency)


def text(x, y, words, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def axes():
    lines = []
    for k in range(11):
        lines.append(text(x_of(2**k), TOP + HEIGHT + 18, 2**k))
        lines.append(f'<path class="grid" d="M{x_of(2**k):.1f} {TOP}V{TOP + HEIGHT}"/>')
    for k in range(0, 101, 20):
        lines.append(text(LEFT - 8, y_of(k / 100) + 4, f"{k} %", "end"))
        lines.append(f'<path class="grid" d="M{LEFT} {y_of(k / 100):.1f}H{LEFT + WIDTH}"/>')
    lines.append(text(LEFT + WIDTH / 2, TOP + HEIGHT + 38, "GPUs"))
    lines.append(text(LEFT + WIDTH / 2, TOP - 8, "efficiency of an iteration; points were measured"))
    return lines


def measured_points():
    """Efficiency against the one GPU of the same run, which several-gpus.md has for 8 M rows."""
    one = {"poisson27": 598.4, "poisson27 earlier": 680.0}
    for _, problem, exchange, gpus, rows, _, time in m.SEVERAL:
        if problem in one and exchange == "peer" and rows > 1_000_000:
            part = 1 if rows > 8_000_000 else gpus
            yield gpus, one[problem] / part / time


def svg():
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 150} {TOP + HEIGHT + 50}">',
             "<style>text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}.line{fill:none;stroke-width:2}</style>",
             '<rect width="100%" height="100%" fill="#fff"/>', *axes()]
    ends = []
    for problem, weak_rows, strong_rows in tables.PROBLEMS:
        for name, function, rows, dash in (("weak", model.weak, weak_rows, ""),
                                           ("strong", model.strong, strong_rows, ' stroke-dasharray="6 4"')):
            points = [(x_of(2**k), y_of(function(problem, 2**k, rows)[1])) for k in range(11)]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            lines.append(f'<polyline class="line" stroke="{COLOURS[problem]}"{dash} points="{path}"/>')
            ends.append((points[-1][1], f"{problem}, {name}"))
    lowest = -math.inf
    for y, words in sorted(ends):  # labels that would cover each other move down
        lowest = max(y, lowest + 14)
        lines.append(text(LEFT + WIDTH + 8, lowest + 4, words, "start"))
    for gpus, efficiency in measured_points():
        lines.append(f'<circle cx="{x_of(gpus):.1f}" cy="{y_of(efficiency):.1f}" r="3" fill="{COLOURS["poisson27"]}"/>')
    return "\n".join([*lines, "</svg>", ""])
