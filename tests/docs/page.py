# SPDX-License-Identifier: BSD-3-Clause
"""A Markdown page as the tests of the documentation see it: fenced blocks, links, code spans.

Marks are HTML comments. One stands for a page:
  <!-- names every key of: SCHEMA -->   each property of that JSON schema is a piece of inline code
The others stand in the lines directly above a block:
  <!-- not run: REASON -->   the commands are checked for existence, and are not run
  <!-- setup: COMMANDS -->   COMMANDS run before the next block that runs
  <!-- same as: PATH -->     each line of the block stands in that file of the repository
  <!-- check: COMMANDS -->   COMMANDS run when all blocks of the page are saved, with the
                             include folders of the code in $INCLUDES
"""
import dataclasses
import re

MARK = re.compile(r"<!--\s*(not run|setup|same as|check):\s*(.*?)\s*-->", re.DOTALL)
KEYS = re.compile(r"<!--\s*names every key of:\s*(\S+)\s*-->")
FENCE = re.compile(r"```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")


@dataclasses.dataclass
class Block:
    language: str
    text: str
    line: int
    not_run: str = ""
    setup: str = ""
    same_as: str = ""
    check: str = ""

    def file_name(self):
        """The file that the block is to be saved as: named by a comment in its first line."""
        match = re.match(r"(?:#|//|/\*)\s*([\w./-]+\.\w+)(?: \*/)?$", self.text.split("\n")[0])
        return match[1] if match and self.language != "sh" else None


class Page:
    def __init__(self, path):
        self.path = path
        self.text = path.read_text()
        self.blocks = []
        end = 0
        for match in FENCE.finditer(self.text):
            block = Block(match[1], match[2], self.text.count("\n", 0, match.start()) + 1)
            for mark, value in MARK.findall(self.text[end:match.start()]):
                setattr(block, mark.replace(" ", "_"), value)
            self.blocks.append(block)
            end = match.end()
        self.prose = FENCE.sub("", self.text)

    def links(self):
        return LINK.findall(self.prose)

    def spans(self):
        """Pieces of inline code."""
        return SPAN.findall(self.prose)

    def anchors(self):
        """The names that a link may give after '#': headings as GitHub spells them."""
        headings = re.findall(r"^#+ (.*)$", self.prose, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
