"""What the hooks need of each file: those found here and, for a user's file, those of every project it serves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.assembly import assemble
from hookline.config.discover import project_root
from hookline.deploy import apply, doors
from hookline.deploy.needs import merged, needs_of, own_program
from hookline.deploy.plugin import source
from hookline.dialects.base import FOREIGN
from hookline.remarks import problem_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.daemon.http_place import Door
    from hookline.deploy.aims import Aim
    from hookline.deploy.plan import Plan
    from hookline.deploy.targets import Need

#: Projects that are remembered of a user's file.
MOST_ROOTS = 100


class Wishes:
    """``planned`` is what deploying would write into a file, ``roots`` the projects that it would serve."""

    def __init__(
        self,
        *,
        here: str,
        home: str,
        known: Mapping[str, apply.Kept],
        only: Sequence[str] = (),
        anew: bool = False,
        door: str = "",
        build: bool = False,
        forecast: bool = False,
    ) -> None:
        """``only`` are the events that are asked for; without them all are, or, unless ``anew``, those of last time.

        ``door`` is the one that is asked for; without it, that of last time. What it needs is made with ``build``,
        and with ``forecast`` taken for made.
        """
        self._door, self._build, self._forecast = door, build, forecast
        self.here, self.home, self.known = here, home, known
        self._only, self._anew = tuple(only), anew
        self._program = own_program()
        assembly = assemble(cwd=here, record=False)
        assembly.engine.close()
        specs = assembly.loaded.specs
        #: What could not be loaded: a guard among them is registered for nothing.
        self.problems = tuple(problem_lines(assembly))
        self._specs = specs
        self._root = project_root(here, home) if any(spec.origin.layer in FOREIGN for spec in specs) else ""
        self._others: dict[str, Sequence[Need]] = {}

    def roots(self, aim: Aim) -> tuple[str, ...]:
        """The projects whose hooks this file serves, this one last."""
        kept = self.known.get(aim.path)
        old = kept.roots if kept is not None and aim.scope == "user" else ()
        found = [root for root in old if root != self._root and os.path.isdir(root)]
        return (*found[-MOST_ROOTS:], *([self._root] if self._root else ()))

    def planned(self, aim: Aim) -> Plan:
        target, needs = aim.target, self._needs_of(aim)
        if target.form == "plugin":
            return apply.planned(aim.path, target.form, source(target, self._program, needs, aim.scope))
        program, http = self._way(aim)
        return apply.planned(aim.path, target.form, target.wanted(program, needs, aim.scope, http))

    def door(self, aim: Aim) -> str:
        """The one that was asked for, now or last time; "" where nobody has chosen."""
        kept = self.known.get(aim.path)
        return self._door or (kept.door if kept is not None else "")

    def way(self, aim: Aim) -> str:
        """Which door it came to: a key of ``doors.SAID``."""
        program, http = self._way(aim)
        return doors.name(aim.target, program, self._program, http, aim.scope)

    def _way(self, aim: Aim) -> tuple[str, Door | None]:
        if aim.target.form == "plugin":  # it has a way of its own
            return self._program, None
        choice = self.door(aim)
        program = doors.program(choice, self._program, os.environ, build=self._build, forecast=self._forecast)
        return program, doors.http(choice, os.environ, build=self._build)

    def only(self, aim: Aim) -> tuple[str, ...]:
        """The events that were asked for; none where all are."""
        kept = self.known.get(aim.path)
        return self._only or (kept.only if kept is not None and not self._anew else ())

    def _needs_of(self, aim: Aim) -> Sequence[Need]:
        only = self.only(aim)
        mine = needs_of(self._specs, only)
        if aim.scope != "user":
            return mine
        others = merged([mine, *(self._there(root) for root in self.roots(aim) if root != self._root)])
        return tuple(need for need in others if not only or need.event in only)

    def _there(self, root: str) -> Sequence[Need]:
        if root not in self._others:
            assembly = assemble(cwd=root, record=False)
            assembly.engine.close()
            self._others[root] = needs_of(assembly.loaded.specs)
        return self._others[root]
