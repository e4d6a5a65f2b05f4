# SPDX-License-Identifier: BSD-3-Clause
"""Whether the commands of a page name programs, scripts, presets and options that exist."""
import functools
import json
import pathlib
import re
import shlex
import subprocess

# Programs of the system that the pages may use.
SYSTEM = {"apptainer", "apt-get", "cat", "cd", "clang-format-14", "clang-tidy", "cmake", "cp", "ctest", "diff", "eb", "echo",
          "export", "g++", "git", "grep", "gzip", "lintian", "ls", "make", "man", "mkdir", "module", "mpicc", "mpicxx", "mpirun",
          "ninja", "pkg-config", "pkill", "podman", "printf", "python3", "rattler-build", "scancel", "scp", "spack", "srun",
          "sudo", "tail", "tar", "test", "true", "."}
LAUNCHERS = {"mpirun", "sbatch", "srun", "sudo"}
# Of trireme: the program of each.
COMMANDS = {"solve": "solve", "study": "solve", "report": "solve", "problem": "problem", "bench": "kernel_bench"}
SUBCOMMANDS = {"problem": {"import", "generate", "inspect", "cache"}}


def simple_commands(text):
    """The words of each command of a shell text, without its operators and redirections."""
    text = re.sub(r"\\\n", " ", text)
    commands, words = [], []
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        skip = False
        for word in [*lexer, ";"]:
            if word and set(word) <= set("|&;()"):
                if words:
                    commands.append(words)
                words = []
            elif word and set(word) <= set("<>&"):
                skip = True  # the file of a redirection
            elif skip:
                skip = False
            elif words or not re.match(r"[A-Za-z_]\w*=", word):
                words.append(word)
    return commands


class Known:
    """What exists: `root` is the repository, `programs` maps names to built programs."""

    def __init__(self, root, programs):
        self.root = root
        self.programs = programs
        targets = "".join(path.read_text() for path in root.glob("bench/CMakeLists.txt"))
        targets += "".join(path.read_text() for path in root.glob("tests/*/CMakeLists.txt"))
        self.targets = set(re.findall(r"(?:add_executable|trireme_test|trireme_mpi_test)\(\s*([\w-]+)", targets))
        for names in re.findall(r"^\s*foreach\(\w+ ((?:\w+_bench ?)+)\)", targets, re.MULTILINE):
            self.targets |= set(names.split())
        presets = json.loads((root / "CMakePresets.json").read_text())
        self.presets = {kind: {preset["name"] for preset in presets[kind + "Presets"]}
                        for kind in ("configure", "build", "test", "workflow")}

    @functools.cache
    def help_of(self, program, subcommand=None):
        words = [self.programs[program]] + ([subcommand] if subcommand else []) + ["--help"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    def faults(self, text):
        """One sentence for each command, option or file of `text` that does not exist."""
        found = []
        for words in simple_commands(text):
            found += self._faults_of(words)
        return found

    def _faults_of(self, words):
        while words and pathlib.PurePath(words[0]).name in LAUNCHERS:
            words = self._launched(words)
        while words and (words[0] == "!" or re.match(r"[A-Za-z_]\w*=", words[0])):
            words = words[1:]
        if not words:
            return []
        program, arguments = words[0], words[1:]
        name = pathlib.PurePath(program).name
        if name == "trireme" and arguments and arguments[0] in COMMANDS:
            name, program, arguments = COMMANDS[arguments[0]], COMMANDS[arguments[0]], arguments[1:]
        if name in self.programs:
            if "/" in program and not re.search(rf"apps/{name}/{name}$", program):
                return [f"'{program}' is not where the build puts {name}"]
            return self._unknown_options(name, arguments)
        if "/" in program and not program.startswith(("./", "/", "build/")):
            return self._faults_of_script(program, arguments)
        if name in ("cmake", "ctest"):
            return self._unknown_presets(name, arguments)
        if program in SYSTEM or name in self.targets or program.startswith("./"):
            return []
        return [f"there is no program '{program}'"]

    def _launched(self, words):
        k = 1
        while k < len(words) and words[k].startswith("-"):
            k += 2 if words[k] in ("-n", "-np", "-x", "--bind-to", "--map-by") else 1
        return words[k:]

    def _faults_of_script(self, program, arguments):
        path = self.root / program
        if not path.is_file():
            return [f"there is no script '{program}'"]
        text = path.read_text()
        if "arguments of solve" in text:  # passes them on
            text += self.help_of("solve")
        names = [name for a in arguments if a.startswith("--") and (name := a.partition("=")[0])]
        return [f"{program} has no option {name}" for name in names
                if name not in text] + self._faults_of_arguments(arguments)

    def _faults_of_arguments(self, arguments):
        folders = ("cases/", "configs/", "src/", "tests/", "scripts/")
        return [f"there is no '{a}'" for a in arguments
                if a.startswith(folders) and not a.endswith(".h5") and not (self.root / a).exists()]

    def _unknown_options(self, program, arguments):
        subcommand = None
        if program in SUBCOMMANDS:
            given = [a for a in arguments if not a.startswith("-")][:1]
            if given and given[0] not in SUBCOMMANDS[program]:
                return [f"{program} has no subcommand {given[0]}"]
            subcommand = given[0] if given else None
        known = self.help_of(program, subcommand)
        ours = arguments[:arguments.index("--")] if "--" in arguments else arguments
        return [f"{program} has no option {option}" for option in ours
                if option.startswith("--") and not re.search(rf"(?<![\w-]){re.escape(option.partition('=')[0])}(?![\w-])", known)
                ] + self._faults_of_arguments(ours)

    def _unknown_presets(self, program, arguments):
        kind = {"ctest": "test"}.get(program) or ("workflow" if "--workflow" in arguments else
                                                  "build" if "--build" in arguments else "configure")
        return [f"{program}: there is no {kind} preset '{value}'" for option, value in zip(arguments, arguments[1:])
                if option == "--preset" and value not in self.presets[kind]]
