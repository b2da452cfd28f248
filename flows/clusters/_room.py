"""The number of blocks with needs of their own that a machine can run at the same time."""

from collections.abc import Mapping, Sequence
from typing import Any

import psutil

from sigstats.tasks.engine.needs import Needs

from ..errors import BadInput


def refuse_need(needs: Needs, name: str, at_most: str) -> BadInput:
    """An error of one line about a resource that no worker will have."""
    asked = f"{needs.memory / 2**30:.3g} GiB" if name == "memory" else str(needs.amounts[name])
    return BadInput(f"{needs.who}: resources.{name}: {asked} is not valid here; expected at most {at_most}")


def blocks_at_once(needs: Needs, *, processors: int, gpus: int) -> int:
    """The number of blocks with these needs that this machine can run at the same time."""
    memory = int(psutil.virtual_memory().total)
    has = {
        "threads": (processors, f"{processors}, the processors of this machine"),
        "memory": (memory, f"{memory / 2**30:.3g} GiB, the memory of this machine"),
        "gpu": (gpus, f"{gpus}, the gpus of the cluster file"),
    }
    for name, amount in needs.amounts.items():
        if amount > has[name][0]:
            raise refuse_need(needs, name, has[name][1])
    return min(has[name][0] // amount for name, amount in needs.amounts.items())


def roles(needs: Sequence[Needs], room: Mapping[Needs, int], *, gpus: int) -> list[dict[str, Any]]:
    """The resources that the workers of a machine declare to Dask, as options of a `distributed.Nanny` for each.

    For each of the needs, the first workers have it, as many as there is room for. GPUs are divided among them.
    """
    made: list[dict[str, Any]] = []
    device = 0
    for number in range(max(room.values(), default=0)):
        amounts: dict[str, int] = {}
        for each in needs:
            if number < room[each]:
                amounts |= {name: max(amount, amounts.get(name, 0)) for name, amount in each.amounts.items()}
        share = min(amounts.pop("gpu", 0), gpus - device)
        devices = ",".join(str(device + one) for one in range(share))
        device += share
        found: dict[str, Any] = {"resources": amounts | ({"gpu": share} if share else {})}
        made.append(found | ({"env": {"CUDA_VISIBLE_DEVICES": devices}} if share else {}))
    return made


def with_roles(cluster: type[Any], options: Sequence[dict[str, Any]]) -> type[Any]:
    """A `distributed.SpecCluster` whose first workers have more options than the others.

    A worker that replaces another one takes over its options.
    """

    class WithRoles(cluster):  # type: ignore[misc]
        """Gives each new worker the first role that nobody has."""

        def __init__(self, *arguments: Any, **given: Any) -> None:
            self._held: dict[Any, int] = {}
            super().__init__(*arguments, **given)

        def new_worker_spec(self) -> dict[Any, dict[str, Any]]:
            made: dict[Any, dict[str, Any]] = super().new_worker_spec()
            for name, spec in made.items():
                taken = {role for holder, role in self._held.items() if holder in self.worker_spec}
                role = next((role for role in range(len(options)) if role not in taken), None)
                if role is not None:
                    self._held[name] = role
                    made[name] = {**spec, "options": {**spec["options"], **options[role]}}
            return made

    return WithRoles
