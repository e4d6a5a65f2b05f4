# SPDX-License-Identifier: BSD-3-Clause
"""The report of a solver: a dictionary that also writes itself as JSON and as HTML."""

from __future__ import annotations

import html
import json
import math
from typing import Any

_WIDTH, _HEIGHT, _MARGIN = 480, 220, 46


def _plain(value: Any) -> Any:
    """The value without numbers that JSON does not have."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return "; ".join(_text(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items() if item != "")
    return str(value)


def _table(facts: dict[str, Any]) -> str:
    lines = [
        f"<tr><th style='text-align:left'>{html.escape(key.replace('_', ' '))}</th>"
        f"<td style='text-align:left'>{html.escape(_text(value))}</td></tr>"
        for key, value in facts.items()
        if value not in (None, [], {}, "")
    ]
    return f"<table>{''.join(lines)}</table>"


def _curve(history: list[float]) -> str:
    """The residual after each iteration, on a scale of powers of ten."""
    points = [(k, math.log10(r)) for k, r in enumerate(history) if r > 0 and math.isfinite(r)]
    if len(points) < 2:
        return ""
    last = max(points[-1][0], 1)
    low = math.floor(min(y for _, y in points))
    high = max(math.ceil(max(y for _, y in points)), low + 1)
    across, down = _WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN

    def place(k: float, y: float) -> str:
        return f"{_MARGIN + across * k / last:.1f},{_MARGIN + down * (high - y) / (high - low):.1f}"

    step = max(1, (high - low) // 5)
    marks = "".join(
        f"<text x='{_MARGIN - 6}' y='{_MARGIN + down * (high - y) / (high - low) + 4:.1f}' "
        f"text-anchor='end'>1e{y}</text>"
        for y in range(low, high + 1, step)
    )
    line = " ".join(place(k, y) for k, y in points)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{_HEIGHT}' role='img' "
        "font-family='sans-serif' font-size='11' fill='currentColor'>"
        f"<rect x='{_MARGIN}' y='{_MARGIN}' width='{across}' height='{down}' fill='none' "
        "stroke='currentColor' stroke-opacity='0.3'/>"
        f"<polyline points='{line}' fill='none' stroke='#0b6fb8' stroke-width='1.5'/>{marks}"
        f"<text x='{_MARGIN}' y='{_MARGIN - 10}'>relative residual</text>"
        f"<text x='{_MARGIN + across}' y='{_HEIGHT - _MARGIN + 18}' text-anchor='end'>"
        f"{last} iterations</text></svg>"
    )


class Report(dict[str, Any]):
    """Facts of a solver and of its last solve.

    Times are in seconds, but for those whose names end in ``microseconds``. ``kernels`` holds what
    ``kernel="auto"`` knows of each kernel, once trials of others pay. ``last_solve`` is None before
    the first solve. Of several right-hand sides, ``last_solve`` is the one that failed, or else the
    one that took most iterations, and ``vectors`` has all of them in their order.

    Examples
    --------
    >>> import numpy as np, trireme as tr
    >>> solver = tr.Solver(np.eye(3))
    >>> solver.report["rows"], solver.report["last_solve"]
    (3, None)
    >>> x = solver.solve(np.ones(3))
    >>> solver.report["last_solve"]["status"]
    'converged'
    >>> solver.report.to_html().startswith("<!DOCTYPE html>")
    True
    """

    def to_json(self, indent: int | None = None) -> str:
        """The report as JSON. Numbers that are not finite become null."""
        return json.dumps(_plain(self), indent=indent, allow_nan=False)

    def to_html(self) -> str:
        """The report as a page that needs no other file."""
        return (
            "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>Trireme</title>"
            f"</head><body>{self._repr_html_()}</body></html>"
        )

    def _repr_html_(self) -> str:
        others = ("last_solve", "vectors", "levels", "kernels")
        parts = ["<h3>Solver</h3>", _table({k: v for k, v in self.items() if k not in others})]
        if self.get("kernels"):
            kernels = {
                " and ".join(filter(None, (trial["kernel"], trial["ghost_kernel"]))): trial["verdict"]
                for trial in self["kernels"]
            }
            parts += ["<h3>Kernels</h3>", _table(kernels)]
        if self.get("levels"):
            levels = {
                f"level {k}": f"{level['rows']} rows, {level['nnz']} nonzeros"
                for k, level in enumerate(self["levels"])
            }
            parts += ["<h3>Multigrid</h3>", _table(levels)]
        if last := self.get("last_solve"):
            facts = {k: v for k, v in last.items() if k not in ("history", "attempts")}
            attempts = {
                f"attempt {k + 1}": attempt for k, attempt in enumerate(last.get("attempts", []))
            }
            parts += ["<h3>Last solve</h3>", _table({**facts, **attempts})]
            parts.append(_curve(last.get("history", [])))
        return f"<div>{''.join(parts)}</div>"
