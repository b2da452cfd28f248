"""Print the script by which a shell completes commands, options and files; needs the extra `completion`.

In a checkout `pip install '.[completion]'` installs it. In ~/.bashrc: eval "$(sigstats completion bash)"; the same with
zsh in ~/.zshrc, after compinit; for fish, write the script to ~/.config/fish/completions/sigstats.fish.
"""

import argparse

from ..errors import DONE

GROUP = "this machine"

#: What an argument of this name in the help is completed with.
_FILES = {"FILE", "BASELINE", "CANDIDATE", "STUDY", "OUTPUT", "DIR", "DIR_OR_URL", "WHERE"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats completion``."""
    parser.add_argument("shell", choices=("bash", "fish", "zsh"), help="the shell that completes")


def run(options: argparse.Namespace) -> int:
    """Print the script of the shell."""
    import shtab

    from sigstats.comparison.requirements import COMPARED_MEASURES
    from sigstats.multiplicity import IN_WORDS

    from ..config.toml_files import ready_studies
    from . import whole_parsers

    named = {"measure": COMPARED_MEASURES, "adjust": tuple(IN_WORDS)}
    program, of_commands = whole_parsers()
    for parser in of_commands.values():
        parser.description = (parser.description or "").partition("\n")[0]
        for action in parser._actions:
            if action.dest in named:
                action.choices = named[action.dest]
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            if action.metavar == "STUDY":
                action.complete = {**shtab.FILE, "bash": "_sigstats_studies"}  # type: ignore[attr-defined]
    studies = f"compgen -W '{' '.join(ready_studies())}' -- $1; compgen -f -- $1"
    before = {"bash": f"_sigstats_studies() {{ {studies}; }}"}
    print(shtab.complete(program, shell=options.shell, preamble=before))  # type: ignore[arg-type]  # noqa: T201
    return DONE
