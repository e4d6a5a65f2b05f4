# SPDX-License-Identifier: BSD-3-Clause
"""The small faults that scripts/mutate puts into C++ text, one at a time."""
import dataclasses
import re

HIDDEN = re.compile(  # comments, literals, preprocessor lines and other text in which no fault is put
    r"""//[^\n]*|/\*.*?\*/|R"(?P<raw>\w*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:\\\n|[^\n])*|\bstatic_assert\((?:[^()]|\([^()]*\))*\)|\btemplate <[^;{}()]*?>\s""",
    re.DOTALL | re.MULTILINE)
SWAPS = {  # kind -> a pattern, and the replacement of its first group
    "relation": (r" (<=|>=|<|>|==|!=) ", {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}),
    "logic": (r" (&&|\|\|) ", {"&&": "||", "||": "&&"}),
    "arithmetic": (r" ([-+*/%]) ", {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/"}),
    "assignment": (r" ([-+*/|&^]=) ", {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "=", "&=": "=",
                                       "^=": "="}),
    "function": (r"\b(min|max|ceil|floor|MPI_SUM|MPI_MAX|MPI_MIN|lower_bound|upper_bound|all_of|any_of|front|back)\b",
                 {"min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "MPI_SUM": "MPI_MAX",
                  "MPI_MAX": "MPI_MIN", "MPI_MIN": "MPI_MAX", "lower_bound": "upper_bound",
                  "upper_bound": "lower_bound", "all_of": "any_of", "any_of": "all_of", "front": "back",
                  "back": "front"}),
    "truth": (r"\b(true|false)\b", {"true": "false", "false": "true"}),
    "jump": (r"\b(continue|break);", {"continue": "break", "break": "continue"}),
    "negation": (r"(?<![\w)\]])(!)(?=[\w(*])", {"!": ""}),
    "sign": (r"(?:[=(,?:] |return |[(\[])(-)(?=[\w(])", {"-": ""}),
    "step": (r"(\+\+|--)", {"++": "--", "--": "++"}),
}
NUMBER = re.compile(r"(?<![\w.'])(?:0[xX][\da-fA-F']+(?:p[-+]?\d+)?|\d[\d']*(?:\.\d*)?(?:[eE][-+]?\d+)?)[uUlLfF]*(?![\w.'])")
CONDITION = re.compile(r"\bif \(")
CALL = re.compile(r"\b\w+\(([\w.\[\]>-]+), ([\w.\[\]>-]+)\)")
CHOICE = re.compile(r" \? ([^?:;,(){}]+) : ([^?:;,(){}]+)(?=[;,)])")
MEMBER = re.compile(r"\b([A-Za-z_]\w*)\.(\w+)\b(?! ?[(\w])")
STATEMENT = re.compile(  # a whole line: a call, an assignment or a guard
    r"^[ \t]*((?:if \([^;{}]*\) [^;{}]*|(?!return\b|throw\b|using\b|delete\b|break\b|continue\b|else\b|case\b|default\b|for\b|while\b)"
    r"(?:\+\+|--)?[\w.:>\[\]*()-]+(?:\([^;{}]*\)| [-+*/|&^]?= [^;{}]*|\+\+|--)?);)[ \t]*$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Mutation:
    kind: str
    begin: int  # the replaced text is [begin, end)
    end: int
    new: str

    def applied(self, text: str) -> str:
        return text[:self.begin] + self.new + text[self.end:]

    def line(self, text: str) -> int:
        return text.count("\n", 0, self.begin) + 1


def code_of(text: str) -> str:
    """Returns the text with the hidden parts replaced by spaces, so that all positions stay the same."""
    return HIDDEN.sub(lambda hidden: re.sub(r"[^\n]", " ", hidden[0]), text)


def closing(code: str, at: int) -> int:
    """Returns the position of the parenthesis that closes the one at `at`, or -1."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return -1


def other_numbers(literal: str) -> list:
    if re.fullmatch(r"\d+", literal):
        value = int(literal)
        return [str(value + 1)] + ([str(value - 1)] if value > 0 else [])
    if re.fullmatch(r"0x1p.*|0[xX].*|.*'.*|\d+[uUlL]+", literal):
        return [f"({literal} + 1)"]
    return ["1.0"] if float(literal.rstrip("fFlL")) == 0 else [f"(2 * {literal})"]


def mutations(text: str) -> list:
    """Returns every small fault that can be put into `text`."""
    code, found = code_of(text), []
    for kind, (pattern, others) in SWAPS.items():
        for match in re.finditer(pattern, code):
            found.append(Mutation(kind, *match.span(1), others[match[1]]))
    for match in NUMBER.finditer(code):
        found += [Mutation("number", *match.span(), other) for other in other_numbers(match[0])]
    for match in CONDITION.finditer(code):
        end = closing(code, match.end() - 1)
        inside = text[match.end():end]
        if end > 0 and ";" not in inside:
            found.append(Mutation("condition", match.end(), end, f"!({inside})"))
    for kind, pattern in (("arguments", CALL), ("choice", CHOICE)):
        for match in pattern.finditer(code):
            if match[1] != match[2]:
                one, two = text[slice(*match.span(1))], text[slice(*match.span(2))]
                found.append(Mutation(kind, match.start(1), match.end(2), two + text[match.end(1):match.start(2)] + one))
    members = list(MEMBER.finditer(code))
    for place, match in enumerate(members):
        near = members[max(0, place - 8):place + 9]
        for other in sorted({m[2] for m in near if m[1] == match[1] and m[2] != match[2]}):
            found.append(Mutation("member", *match.span(2), other))
    for match in STATEMENT.finditer(code):
        if ".reserve(" not in match[1]:
            found.append(Mutation("statement", *match.span(1), ";"))
    return [m for m in found if m.applied(text) != text]
