"""Built-in policies as a user writes them, for the tests."""

from __future__ import annotations

import warmcore as wc


class MostRecent(wc.Policy):
    """The built-in ``mru``."""

    def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
        return wc.Wait(request.home) if view.most_recent is None else wc.Run(view.most_recent)


class Wired(wc.Policy):
    """The built-in ``wired-streams``."""

    queues = "per-processor"

    def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
        return wc.Run(request.home) if view.is_idle(request.home) else wc.Wait(request.home)
