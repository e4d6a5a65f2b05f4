#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The model of scale computes what a calculation by hand gives, and its page has its tables and its plot.

usage: scale_model_test.py SOURCE_FOLDER
"""
import pathlib
import sys
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SOURCE / "bench" / "scale_model"))
import measured  # noqa: E402
import model  # noqa: E402
import page  # noqa: E402
import plot  # noqa: E402
import tables  # noqa: E402

PAGE = SOURCE / "docs" / "performance" / "scale.md"


class ByHand(unittest.TestCase):
    def test_the_loop_of_one_gpu_lies_on_lines_through_the_measured_points(self):
        self.assertAlmostEqual(model.one_gpu("poisson27", 216_000), 31.5)
        self.assertAlmostEqual(model.one_gpu("poisson27", 4_000_000), 31.5 + 566.9 * 3.784 / 7.784)
        self.assertAlmostEqual(model.one_gpu("poisson3d", 1_000_000), 41.9)
        self.assertAlmostEqual(model.one_gpu("poisson3d", 2_548_000), (41.9 + 148.0) / 2)
        self.assertAlmostEqual(model.one_gpu("mesh2d", 2_000_000), 142.8)
        self.assertAlmostEqual(model.one_gpu("mesh2d", 0), 10.4, delta=0.1)

    def test_sums_between_hosts_are_those_of_nccls_model(self):
        self.assertAlmostEqual(model.nccl_sum(8, 128), 4.4 + 14 * 0.936 + 14 * 5)
        self.assertAlmostEqual(model.nccl_sum(8, 125), 4.4 + 14 * 0.936 + 12 * 5)
        self.assertAlmostEqual(model.nccl_sum(1, 2), 14.4)
        self.assertAlmostEqual(model.switch_sum(8), 4.4 + 14 * 0.936 + 5)
        self.assertAlmostEqual(model.sum_within_host("peer", 8), 3.1)

    def test_few_rows_have_one_point_of_sums(self):
        self.assertAlmostEqual(model.sums("peer", 1_500_000, 2.2), 2.2 + 3.0)
        self.assertAlmostEqual(model.sums("peer", 1_500_001, 2.2), 4.4)

    def test_the_fit_meets_the_figures_that_it_was_made_with(self):
        of_8m = 618.1 - (598.4 + 1504 * 566.9 / 7_784_000) - 2 * 2.2
        of_256k = 26.8 - (20.7 - 6144 * 1.4 / 111_104) - 2.2 - 0.512
        per_number = (of_8m - of_256k) / (63504 - 6400)
        self.assertAlmostEqual(model.EXCHANGES["peer"].per_number, per_number)
        self.assertAlmostEqual(model.EXCHANGES["peer"].fixed, of_256k - 6400 * per_number)
        self.assertAlmostEqual(per_number, 2.053e-4, delta=1e-7)

    def test_the_figures_that_check_the_model_do_not_change_it(self):
        before = model.fit()
        kept = list(measured.SEVERAL)
        self.addCleanup(lambda: measured.SEVERAL.__setitem__(slice(None), kept))
        measured.SEVERAL[:] = [row if row[0] == "fit" else (*row[:-1], 2 * row[-1]) for row in kept]
        self.assertEqual(model.fit(), before)

    def test_gpus_form_a_grid_whose_parts_have_neighbours(self):
        self.assertEqual([model.grid(gpus) for gpus in (1, 2, 8, 16, 1024)],
                         [[1, 1, 1], [2, 1, 1], [2, 2, 2], [4, 2, 2], [16, 8, 8]])
        for gpus, expected in ((1, (0, 0)), (2, (10_000, 0)), (8, (30_000, 0)), (16, (40_000, 10_000)),
                               (1024, (60_000, 30_000))):
            halo = model.halo_of("poisson27", gpus, 1_000_000, "graph")
            self.assertAlmostEqual(halo[0], expected[0], places=3)
            self.assertAlmostEqual(halo[1], expected[1], places=3)
        self.assertAlmostEqual(model.halo_of("poisson27", 8, 1_000_000, "rows")[0], 80_000, places=3)
        self.assertAlmostEqual(model.halo_of("mesh2d", 1024, 1_000_000, "graph")[0], 4 * 1743)

    def test_an_iteration_on_1024_gpus(self):
        it, efficiency = model.weak("poisson27", 1024, 8_000_000)
        exchange = model.EXCHANGES["nccl"]
        self.assertAlmostEqual(it.loop, 598.4)
        self.assertAlmostEqual(it.sums, 2 * 87.504)
        self.assertAlmostEqual(it.halo, exchange.fixed + 240_000 * exchange.per_number)  # the product hides the network
        self.assertAlmostEqual(efficiency, 598.4 / it.time)
        slabs = model.iteration("poisson27", 1024, 8_000_000, model.Setting(parts="rows"))
        plane = (8_000_000 * 1024)**(2 / 3)
        network = 9.6 + 8 * plane / 50_000 - 89.2 * 8_000_000 / 1_728_000
        self.assertAlmostEqual(slabs.halo, exchange.fixed + 2 * plane * exchange.per_number + network)

    def test_large_grids_agree_with_what_was_measured_on_two_and_four_gpus(self):
        checked = 0
        for kind, problem, exchange, gpus, rows, halo, time in measured.SEVERAL:
            if kind == "check" and problem != "mesh2d" and rows / gpus >= 500_000:
                predicted = model.within_host(problem, exchange, gpus, rows / gpus, halo)
                self.assertLess(abs(predicted / time - 1), 0.03, (problem, exchange, gpus, rows))
                checked += 1
        self.assertEqual(checked, 12)


class Page(unittest.TestCase):
    def test_the_page_has_the_tables_that_the_program_prints(self):
        text = PAGE.read_text()
        self.assertEqual(page.with_tables(text, tables.tables()), text,
                         "python3 bench/scale_model --write docs/performance")

    def test_a_table_that_was_changed_by_hand_is_found(self):
        text = PAGE.read_text().replace("| 618.1 |", "| 618.2 |")
        self.assertNotEqual(page.with_tables(text, tables.tables()), text)

    def test_the_plot_is_the_one_that_the_program_draws(self):
        drawn = plot.svg()
        xml.etree.ElementTree.fromstring(drawn)
        self.assertEqual((PAGE.parent / "scale.svg").read_text(), drawn)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
