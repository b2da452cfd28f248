"""The help of the program."""

from sigstats.flows.commands import GROUPS, REGISTRY, parser


def test_the_help_lists_each_command_once_under_its_heading():
    lines = parser().format_help().splitlines()
    headings = [line.removesuffix(":") for line in lines if line and not line.startswith((" ", "usage"))]
    assert [each for each in headings if each in GROUPS] == list(GROUPS)
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2:3].isalpha()]
    assert sorted(listed) == sorted(REGISTRY.names())
