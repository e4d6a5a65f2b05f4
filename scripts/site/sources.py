# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the site that are made from the sources: the interfaces in Python, C++ and C."""
import ast
import re
import textwrap

PYTHON = """# The Python package

Every public name of `trireme`. [Trireme in Python](../python.md) is the introduction.

"""
CPP = """# The interface in C++

What `<trireme/solver.hpp>` says. [Use from CMake](../how-to/use-from-cmake.md) links it.

"""
C = """# The interface in C, for PETSc programs

What `<trireme/petsc.h>` says. [Use from PETSc](../how-to/use-from-petsc.md) is the introduction.

"""
NAMES = re.compile(r"^(?:class|struct|enum class|using|#define) (\w+)|^\w[^(=\n]*?(\w+)\(", re.MULTILINE)


def python_page(root):
    """One mark of mkdocstrings for each name of __all__."""
    tree = ast.parse((root / "python/trireme/__init__.py").read_text())
    listed = next(ast.literal_eval(node.value) for node in tree.body
                  if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    public = sorted((name for name in listed if name != "__version__"), key=str.lower)
    return PYTHON + "".join(f"::: trireme.{name}\n\n" for name in public)


def prose(comment):
    """A comment as Markdown: what is indented in it is code, or a table of words."""
    blocks = []
    for block in re.split(r"\n\s*\n", textwrap.dedent(comment).strip("\n")):
        indented = all(line.startswith("  ") for line in block.split("\n"))
        blocks.append(f"```text\n{textwrap.dedent(block)}\n```" if indented
                      else block.replace("<", "&lt;").replace("*", "\\*"))
    return "\n\n".join(blocks)


def header_page(text, comment):
    """Each declaration of a header below a heading with its names, and its comment as prose."""
    parts = []
    text = re.sub(r"^(?:.*SPDX-License-Identifier.*|#(?:if|endif|include|define \w+_H(?:PP)?$).*|extern \"C\" \{|\}  // namespace.*"
                  r"|namespace .*\{)\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=\n)\n+", "\n", re.sub(r"#ifdef __cplusplus\n\}?\n?|^\}\n(?=\n*\Z)", "", text, flags=re.M))
    for chunk in re.split(r"\n\n(?=[^\s}])", text):
        chunk += "\n"
        said = comment.match(chunk)
        code = chunk[said.end():].strip("\n") if said else chunk.strip("\n")
        names = [a or b for a, b in NAMES.findall(code)]
        if names:
            parts.append("## " + ", ".join(f"`{name}`" for name in dict.fromkeys(names)))
        if said:
            words = re.sub(r"^// ?", "", said[0], flags=re.MULTILINE).removeprefix("/*").strip()
            parts.append(prose(words.removesuffix("*/") if said[0].startswith("//") else
                               textwrap.dedent(said[0].strip()[2:-2])))
        if names:
            parts.append(f"```cpp\n{code}\n```")
    return "\n\n".join(parts) + "\n"


def pages(root):
    include = root / "include/trireme"
    return {
        "api/python.md": python_page(root),
        "api/cpp.md": CPP + header_page((include / "solver.hpp").read_text(), re.compile(r"(?://.*\n)+")),
        "api/c.md": C + header_page((include / "petsc.h").read_text(), re.compile(r"/\*.*?\*/\n?", re.DOTALL)),
    }
