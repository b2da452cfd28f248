"""Stand-ins for the commands of batch systems; `qsub` starts the job that it is given, and `qdel` kills it."""


def stand_ins(folder):
    """The folder of the commands, to be put on the PATH; `submitted` and `deleted` beside it list the jobs."""
    commands = folder / "bin"
    commands.mkdir()
    submit = [
        'cp "$1" "$1.kept"',
        f'echo "$1" >> {folder}/submitted',
        f'( setsid sh "$1.kept" >{folder}/output.$$ 2>&1 & echo $! > {folder}/job.$$ )',
        "echo $$.server",
    ]
    delete = [f"kill -9 -- -$(cat {folder}/job.${{1%.server}})", f'echo "$1" >> {folder}/deleted']
    scripts = {"qsub": submit, "qdel": delete, "bsub": ["exit 1"], "bkill": ["exit 1"], "lsadmin": ["exit 1"]}
    for name, text in scripts.items():
        (commands / name).write_text("\n".join(["#!/bin/sh", *text, ""]))
        (commands / name).chmod(0o755)
    return commands
