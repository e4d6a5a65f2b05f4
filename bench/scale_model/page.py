# SPDX-License-Identifier: BSD-3-Clause
"""Tables within a page: each stands between <!-- table: NAME --> and the next empty line."""
import re


def with_tables(text, tables):
    for name, lines in tables.items():
        mark = f"<!-- table: {name} -->\n"
        if text.count(mark) != 1:
            raise SystemExit(f"the page has no single line {mark.strip()}")
        text = re.sub(re.escape(mark) + r"(\|.*\n)*", lambda _: mark + "\n".join(lines) + "\n", text)
    return text
