# SPDX-License-Identifier: BSD-3-Clause
"""The time of an iteration on many GPUs, from the parts that were measured.

  iteration = loop of one GPU with its rows + halo + sums
  halo      = fixed + per number * numbers of the halo + what the network takes longer than the local product
  sums      = points of sums * a sum, and one more number per row where there is one point only

Times are microseconds.
"""
import bisect
import dataclasses
import math

import measured as m


def line(points, x):
    """The line through neighbouring points, drawn on at both ends."""
    k = min(max(bisect.bisect_left([p[0] for p in points], x), 1), len(points) - 1)
    (x0, y0), (x1, y1) = points[k - 1], points[k]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def one_gpu(problem, rows):
    """The loop of one GPU."""
    if problem == "mesh2d":
        return line([(0, line(m.ONE_GPU["poisson3d"][-2:], 0)), m.MESH2D_ON_ONE], rows)
    if problem == "poisson27 earlier":
        return line([(0, line(m.ONE_GPU["poisson27"], 0)), m.EARLIER_POISSON27], rows)
    return line(m.ONE_GPU[problem], rows)


def one_point_of_sums(exchange, rows):
    return rows <= m.ONE_SUM_UP_TO_ROWS[exchange]


def sum_within_host(exchange, gpus):
    """Measured for two and four GPUs, and the line through these beyond. MPI's is part of its fixed time."""
    return 0.0 if exchange == "mpi" else line(sorted(m.SUMS[exchange].items()), gpus)


def nccl_sum(gpus_per_host, hosts):
    """NCCL's own model of a tree over several hosts: along the GPUs of a host, and up and down the tree."""
    return m.NCCL_BASE + 2 * ((gpus_per_host - 1) * m.NCCL_NVLINK_STEP +
                              math.floor(math.log2(hosts)) * m.NCCL_NETWORK_STEP)


def switch_sum(gpus_per_host):
    """The same where the switches add: one step of the network however many hosts there are."""
    return m.NCCL_BASE + 2 * (gpus_per_host - 1) * m.NCCL_NVLINK_STEP + m.NCCL_NETWORK_STEP


def sums(exchange, rows, one_sum):
    """All points of sums of an iteration, one of which takes one_sum."""
    if one_point_of_sums(exchange, rows):
        return one_sum + m.ONE_SUM_PER_ROW * rows
    return 2 * one_sum


@dataclasses.dataclass
class Exchange:
    fixed: float       # per iteration
    per_number: float  # of the halo


def fit():
    """The exchanges by the "fit" figures: two for peer memory, one each for the others."""
    rest = {}
    for kind, problem, exchange, gpus, rows, halo, time in m.SEVERAL:
        if kind == "fit":
            mine = rows / gpus
            rest.setdefault(exchange, []).append(
                (halo, time - one_gpu(problem, mine) - sums(exchange, mine, sum_within_host(exchange, gpus))))
    (halo0, time0), (halo1, time1) = rest["peer"]
    per_number = (time0 - time1) / (halo0 - halo1)
    exchanges = {"peer": Exchange(time0 - per_number * halo0, per_number)}
    for exchange in ("nccl", "mpi"):  # the GPU's own work on a number is that of peer memory
        (halo, time), = rest[exchange]
        exchanges[exchange] = Exchange(time - per_number * halo, per_number)
    return exchanges


EXCHANGES = fit()


def within_host(problem, exchange, gpus, rows_per_gpu, halo):
    e = EXCHANGES[exchange]
    return (one_gpu(problem, rows_per_gpu) + e.fixed + e.per_number * halo +
            sums(exchange, rows_per_gpu, sum_within_host(exchange, gpus)))


def grid(gpus):
    """A power of two as three factors, the largest first, as equal as they can be."""
    exponent = round(math.log2(gpus))
    return [2 ** ((exponent + 2 - d) // 3) for d in range(3)]


def halo_of(problem, gpus, rows, parts):
    """The numbers that the GPU with most neighbours receives, and those of them from other hosts.

    parts: "graph" (cubes of a grid, squares of a mesh; the eight GPUs of a host are neighbours) or "rows" (slabs).
    """
    several_hosts = gpus > m.GPUS_PER_HOST
    if parts == "rows":
        plane = (rows * gpus) ** (2 / 3)
        return min(gpus - 1, 2) * plane, plane * several_hosts
    if problem == "mesh2d":
        side = m.MESH2D_GHOSTS_PER_SIDE * rows**0.5
        return min(gpus - 1, 4) * side, 2 * side * several_hosts
    side = rows ** (2 / 3)
    sides = sum(min(d - 1, 2) for d in grid(gpus))
    return sides * side, sum(d > 2 for d in grid(gpus)) * side * several_hosts


@dataclasses.dataclass
class Iteration:
    loop: float
    halo: float
    sums: float

    @property
    def time(self):
        return self.loop + self.halo + self.sums


# What could be otherwise on many hosts.
@dataclasses.dataclass
class Setting:
    parts: str = "graph"      # or "rows"
    sums: str = "tree"        # or "switches", "by host" (peer memory within a host, then a tree of hosts), "hidden"
    points: str = "by rule"   # or "one"
    fixed: str = "nccl"       # or "peer": the loop stays on the GPU


def iteration(problem, gpus, rows, setting=Setting()):
    """On hosts of eight GPUs: peer memory on one host, NCCL on several."""
    if gpus == 1:
        return Iteration(one_gpu(problem, rows), 0, 0)
    halo, foreign = halo_of(problem, gpus, rows, setting.parts)
    hosts = max(1, gpus // m.GPUS_PER_HOST)
    exchange = "peer" if hosts == 1 else "nccl"
    e = EXCHANGES[setting.fixed if hosts > 1 else "peer"]
    product = m.PRODUCT_PER_ROW[problem] * rows
    network = m.NCCL_MESSAGE + 8 * foreign / m.NETWORK_BYTES_PER_US if hosts > 1 else 0
    halo_time = e.fixed + e.per_number * halo + max(0.0, network - product)
    if hosts == 1:
        return Iteration(one_gpu(problem, rows), halo_time, sums(exchange, rows, sum_within_host("peer", gpus)))
    one_sum = {
        "tree": nccl_sum(m.GPUS_PER_HOST, hosts),
        "hidden": nccl_sum(m.GPUS_PER_HOST, hosts),
        "by host": sum_within_host("peer", m.GPUS_PER_HOST) + nccl_sum(1, hosts),
        "switches": switch_sum(m.GPUS_PER_HOST),
    }[setting.sums]
    if setting.sums == "hidden":  # pipelined CG: behind the product, for eight more values per row
        all_sums = max(0.0, one_sum - product) + 8 * 8 * rows / m.MEMORY_BYTES_PER_US
    elif setting.points == "one":
        all_sums = one_sum + m.ONE_SUM_PER_ROW * rows
    else:
        all_sums = sums(exchange, rows, one_sum)
    return Iteration(one_gpu(problem, rows), halo_time, all_sums)


def weak(problem, gpus, rows, setting=Setting()):
    """The iteration, and the efficiency against one GPU with as many rows per GPU."""
    it = iteration(problem, gpus, rows, setting)
    return it, one_gpu(problem, rows) / it.time


def strong(problem, gpus, rows_in_all, setting=Setting()):
    """The iteration, and the efficiency against one GPU with all rows, if it could hold them."""
    it = iteration(problem, gpus, rows_in_all / gpus, setting)
    return it, one_gpu(problem, rows_in_all) / gpus / it.time
