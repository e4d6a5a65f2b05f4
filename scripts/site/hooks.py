# SPDX-License-Identifier: BSD-3-Clause
"""What the site has beside the pages of docs/, and how links reach it. MkDocs calls the functions on_*.

- The README of the repository is the first page, and docs/README.md is the page of all pages.
- A file outside of docs/ that a page links to becomes a page itself: Markdown as it is, a script with
  cells as text and code, any other file as a block of code. A link to a folder becomes inline code.
- The pages api/ are made from the sources (sources.py).
- Headings have the anchors that a code host gives them, as tests/docs checks them.
"""
import pathlib
import posixpath
import re
import sys

import latex2mathml.converter
from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sources  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
LANGUAGES = {".py": "python", ".sh": "sh", ".json": "json", ".yaml": "yaml", ".hpp": "cpp", ".h": "c"}


def place_of(page):
    """Where the source of a page stands in the repository."""
    if page == "index.md":
        return "README.md"
    if page.startswith("repository/"):
        place = page.removeprefix("repository/")
        return place if (ROOT / place).is_file() else place.removesuffix(".md")
    return f"docs/{page}"


def page_of(place):
    """The page that shows a file of the repository."""
    if place.startswith("docs/"):
        return place.removeprefix("docs/")
    if place == "README.md":
        return "index.md"
    return f"repository/{place}" + ("" if place.endswith(".md") else ".md")


def outside_fences(change, text):
    """The text with `change` applied to what stands between its blocks of code."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end:fence.start()]), fence[0]]
        end = fence.end()
    return "".join(parts) + change(text[end:])


def targets(text, place):
    """The files and folders of the repository to which a page links."""
    found = []
    outside_fences(lambda prose: found.extend(m[2] for m in LINK.finditer(prose)) or "", text)
    paths = [posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
             for target in found if not re.match(r"[a-z]+:", target)]
    return [path for path in paths if (ROOT / path).exists()]


def as_math(formula):
    return f"<span>{latex2mathml.converter.convert(formula[1])}</span>"


def by_cells(text):
    """A script in the percent format as a page."""
    parts = []
    for cell in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        mark, _, body = cell.partition("\n")
        if "[markdown]" in mark:
            prose = re.sub(r"^# ?", "", body, flags=re.MULTILINE)
            parts.append(re.sub(r"\$([^$]+)\$", as_math, prose))
        else:
            parts.append(f"```python\n{body.strip()}\n```\n")
    return "\n".join(parts)


def text_of(place):
    """The page of a file outside of docs/."""
    text = (ROOT / place).read_text()
    if place.endswith(".md"):
        return text
    if re.search(r"^# %%", text, re.MULTILINE):
        return by_cells(text)
    return f"# {place}\n\n```{LANGUAGES.get(pathlib.PurePath(place).suffix, 'text')}\n{text}```\n"


def slug(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def expanded(nav, pages, named):
    """The navigation with the pages for which a name with * stands."""
    entries = []
    for entry in nav:
        if isinstance(entry, dict):
            entries += [{title: expanded(below, pages, named)} for title, below in entry.items()]
        elif entry.endswith("*"):
            new = [page for page in pages if page.startswith(entry[:-1]) and page not in named]
            named.update(new)
            entries += new
        else:
            entries.append(entry)
    return entries


def names(nav):
    return {name for entry in nav for name in
            (names(next(iter(entry.values()))) if isinstance(entry, dict) else [entry])}


def on_files(files, config):
    def add(page, **what):
        files.append(File.generated(config, page, **what))

    for name in ("site.css", "iframe-worker.js"):
        add(f"assets/{name}", abs_src_path=str(ROOT / "scripts/site" / name))
    for page, text in sources.pages(ROOT).items():
        add(page, content=text)
    files.get_file_from_path("README.md").dest_uri = "pages.html"
    waiting = ["README.md", *(f"docs/{file.src_uri}" for file in files.documentation_pages()
                              if (ROOT / "docs" / file.src_uri).is_file())]
    for place in waiting:  # grows
        page = page_of(place)
        text = text_of(place)
        if not place.startswith("docs/"):
            add(page, content=text)
        waiting += [path for path in dict.fromkeys(targets(text, place))
                    if (ROOT / path).is_file() and not path.startswith("docs/") and path not in waiting]
    pages = sorted(file.src_uri for file in files.documentation_pages())
    config.nav = expanded(config.nav, pages, names(config.nav))
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    if here.startswith("api/"):
        return markdown
    place = place_of(here)

    def link(match):
        text, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        if re.match(r"[a-z]+:", target) or not (ROOT / path).exists():
            return match[0]
        if (ROOT / path).is_dir():
            return f"{text} (`{path}/`)" if text.strip("/") != path else f"`{text}`"
        return f"[{text}]({posixpath.relpath(page_of(path), posixpath.dirname(here))}{anchor})"

    def change(prose):
        prose = LINK.sub(link, prose)  # and a code host needs \| within the code of a table
        return re.sub(r"^\|.*$", lambda row: re.sub(r"`[^`]+`", lambda code: code[0].replace(r"\|", "|"), row[0]),
                      prose, flags=re.MULTILINE)

    return outside_fences(change, markdown)
