#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""report.html in a browser: no message on the console, and nothing outside the viewport at 360, 768 and 1400 pixels.

usage: browser_test.py PROGRAM

PROGRAM prints a page when its argument is html. The script exits with 77, which CTest shows as skipped, where
there is no chromium: the package takes 400 MB, and the other tests read the charts back without a browser.
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Contents of .scroll may be wider than the page: the reader scrolls them within their frame.
MEASURE = """<script>
const faults = [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, .skip') || e.matches('.scroll'))
  .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5)
  .map(e => e.tagName + ' ' + e.textContent.slice(0, 40));
for (const e of document.querySelectorAll('.scroll'))
  if (e.scrollWidth > e.clientWidth && getComputedStyle(e).backgroundImage == 'none') faults.push('no cue: ' + e.ariaLabel);
const found = {width: innerWidth, page: document.documentElement.scrollWidth, faults: faults};
const note = parent.document.createElement('pre');
note.id = 'found';
note.textContent = JSON.stringify(found);
parent.document.body.append(note);
</script>"""


def visit(browser: str, text: str, page: pathlib.Path, width: int) -> tuple:
    """Shows the text in a frame, because a window is not as narrow as a telephone."""
    page.write_text(f'<!doctype html><body><iframe style="border:0;width:{width}px;height:900px" '
                    f'srcdoc="{html.escape(text.replace("</body>", MEASURE + "</body>"))}"></iframe>')
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                           "--hide-scrollbars", "--window-size=1600,1000", "--dump-dom", page.as_uri()],
                          capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="found">([{].+)</pre>', done.stdout)
    if not found:
        raise RuntimeError(f"the browser has shown no page: {done.stderr}")
    return json.loads(html.unescape(found[1])), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def main(program: str) -> int:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        print("skipped: there is no chromium")
        return 77
    text = subprocess.run([program, "html"], check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory(prefix="trireme-browser-") as folder:
        page = pathlib.Path(folder) / "report.html"
        faults = []
        for width in (360, 768, 1400):
            found, messages = visit(browser, text, page, width)
            if found["width"] != width:
                faults.append(f"the viewport has {found['width']} pixels in place of {width}")
            if found["page"] > width:
                faults.append(f"at {width} pixels the page is {found['page']} pixels wide")
            faults += [f"at {width} pixels outside the viewport, or without a cue: {fault}" for fault in found["faults"]]
            faults += messages
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
