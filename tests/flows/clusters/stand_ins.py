"""Stand-ins for the commands of batch systems; `qsub` starts the job that it is given, and `qdel` kills it."""

import sys

#: Runs the rest of the line in a session of its own, as `setsid` does, which not every machine has.
SESSION = f"{sys.executable} -c 'import os, sys; os.setsid(); os.execvp(sys.argv[1], sys.argv[1:])'"


def stand_ins(folder):
    """The folder of the commands, to be put on the PATH; `submitted` and `deleted` beside it list the jobs."""
    commands = folder / "bin"
    commands.mkdir()
    submit = [
        'cp "$1" "$1.kept"',
        f'echo "$1" >> {folder}/submitted',
        f'( {SESSION} sh "$1.kept" >{folder}/output.$$ 2>&1 & echo $! > {folder}/job.$$ )',
        "echo $$.server",
    ]
    delete = [f"kill -9 -- -$(cat {folder}/job.${{1%.server}})", f'echo "$1" >> {folder}/deleted']
    scripts = {"qsub": submit, "qdel": delete}
    scripts |= {name: ["exit 1"] for name in ("bsub", "bkill", "lsadmin", "sbatch", "scancel")}
    for name, text in scripts.items():
        (commands / name).write_text("\n".join(["#!/bin/sh", *text, ""]))
        (commands / name).chmod(0o755)
    return commands
