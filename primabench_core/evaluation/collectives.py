"""The one place that talks to torch.distributed. Nothing here knows what is exchanged.

Ranks meet at a board (the key-value store that every process group has): each pins up a status and the size of what
it brings, and all read all of them. Only when everybody is there and well do bytes move, as plain tensors, to rank 0;
what came of it goes back to all. A rank that does not come is named after the time-out, on every rank that waited.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import Any

import numpy as np

from primabench_core.errors import DistributedError, UsageError

PIECE = 64 << 20
"""Bytes sent at once: bounds what lies on a device beside the model."""
_BEAT = 2.0
"""Seconds between the signs of life of the rank that computes."""
WORLD = "world"
"""Names the default process group."""


class Ranks:
    """A process group as one of its ranks sees it.

    Args:
        group: A ``torch.distributed.ProcessGroup``, or ``"world"`` for the default one.
        timeout: Seconds to wait for the other ranks at each meeting.

    Raises:
        UsageError: torch.distributed is not initialised, or this process is not in the group.
    """

    def __init__(self, group: Any, timeout: float) -> None:
        import torch.distributed as dist

        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
            raise UsageError(f"timeout is a positive number of seconds, got {timeout!r}.")
        if not dist.is_available() or not dist.is_initialized():
            raise UsageError(
                "process_group= was given, but torch.distributed is not initialised.",
                remedy="torch.distributed.init_process_group(…) first, or leave process_group out",
            )
        if isinstance(group, str) and group != WORLD:
            raise UsageError(f'process_group is a ProcessGroup or "{WORLD}", got {group!r}.')
        self._group: Any = dist.group.WORLD if isinstance(group, str) else group
        if self._group is dist.GroupMember.NON_GROUP_MEMBER or dist.get_rank(self._group) < 0:
            raise UsageError("this process is not in the process group that was given.")
        self.rank, self.size = int(dist.get_rank(self._group)), int(dist.get_world_size(self._group))
        self.timeout = float(timeout)
        self._board = _board_of(self._group)

    def __repr__(self) -> str:
        return f"Ranks({self.rank} of {self.size})"

    # -- meeting ---------------------------------------------------------------------------------------------------

    def meet(self, status: Mapping[str, Any]) -> Meeting:
        """Wait for all ranks and read what each of them says.

        Args:
            status: Plain values.

        Raises:
            DistributedError: ranks are missing after the time-out; they are named.
        """
        with self._reachable():
            number = int(self._board.add(f"primabench/meetings/{self.rank}", 1))
            meeting = Meeting(self, f"primabench/{number}")
            self._board.set(meeting.seat(self.rank), json.dumps(status))
            seats = [meeting.seat(r) for r in range(self.size)]
            missing = self._absent(seats)
            # The first to judge speaks for all, so that nobody waits for ranks that have given up.
            verdict = "go" if not missing else json.dumps(missing)
            said = self._board.compare_set(f"{meeting.name}/verdict", "", verdict).decode()
            if said != "go":
                raise DistributedError(self._missing(json.loads(said)), remedy="see what that rank last wrote")
            meeting.statuses = [json.loads(self._board.get(seat)) for seat in seats]
            if self.rank == 0 and number > 1:
                self._clear(f"primabench/{number - 1}")  # all are here, so nobody reads the last meeting any more
            return meeting

    def _absent(self, seats: list[str]) -> list[int]:
        """Ranks that did not come in time."""
        deadline = monotonic() + self.timeout
        for seat in seats:
            try:
                self._board.wait([seat], timedelta(seconds=max(deadline - monotonic(), 0.01)))
            except RuntimeError:  # DistStoreError: waited too long
                return [r for r, other in enumerate(seats) if not self._board.check([other])]
        return []

    def _missing(self, missing: list[int]) -> str:
        who = f"rank{'' if len(missing) == 1 else 's'} {', '.join(map(str, missing))}"
        if self.rank in missing:
            return f"The other ranks gave up waiting for {who} of {self.size}; this is rank {self.rank}."
        return f"{who} of {self.size} did not reach compute() within {self.timeout:g} s.".capitalize()

    def _clear(self, name: str) -> None:
        for key in [f"{name}/{r}" for r in range(self.size)] + [f"{name}/{k}" for k in ("verdict", "alive", "done")]:
            self._board.delete_key(key)

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        try:
            yield
        except DistributedError:
            raise
        except RuntimeError as error:  # DistNetworkError and others of torch
            raise DistributedError(
                f"Rank {self.rank} of {self.size} lost the other ranks: {_first_line(error)}",
                remedy="see what rank 0 last wrote: it may have ended",
            ) from error

    # -- bytes -----------------------------------------------------------------------------------------------------

    def send(self, payload: bytearray, to: int) -> None:
        """Send bytes to a rank that receives as many."""
        import torch
        import torch.distributed as dist

        with self._transfer(to):
            whole = torch.frombuffer(payload, dtype=torch.uint8) if payload else torch.empty(0, dtype=torch.uint8)
            for start in range(0, len(payload), PIECE):
                piece = whole[start : start + PIECE].to(self._device())
                dist.send(piece, dst=dist.get_global_rank(self._group, to), group=self._group)

    def receive(self, size: int, source: int) -> bytearray:
        """Receive so many bytes from a rank."""
        import torch
        import torch.distributed as dist

        payload = bytearray(size)
        with self._transfer(source):
            whole = torch.frombuffer(payload, dtype=torch.uint8) if size else torch.empty(0, dtype=torch.uint8)
            for start in range(0, size, PIECE):
                here = whole[start : start + PIECE]
                piece = torch.empty(len(here), dtype=torch.uint8, device=self._device())
                dist.recv(piece, src=dist.get_global_rank(self._group, source), group=self._group)
                here.copy_(piece)
        return payload

    def broadcast(self, payload: bytearray | None, size: int) -> bytearray:
        """Bytes of rank 0 on every rank."""
        import torch
        import torch.distributed as dist

        with self._transfer(0):
            held = bytearray(size) if payload is None else payload
            piece = torch.frombuffer(held, dtype=torch.uint8).to(self._device())
            dist.broadcast(piece, src=dist.get_global_rank(self._group, 0), group=self._group)
            return bytearray(np.asarray(piece.cpu()).tobytes())

    def _device(self) -> Any:
        """Where tensors of this group live: the CPU if one of its backends can, else the current CUDA device."""
        import torch
        import torch.distributed as dist

        backends = str(dist.get_backend_config(self._group)).lower()
        on_host = "cpu:" in backends or "gloo" in backends or "mpi" in backends
        return torch.device("cpu") if on_host else torch.device("cuda", torch.cuda.current_device())

    @contextmanager
    def _transfer(self, other: int) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise DistributedError(
                f"Rank {self.rank} lost rank {other} of {self.size} while bytes moved: {_first_line(error)}",
                remedy=f"see what rank {other} last wrote",
            ) from error


class Meeting:
    """One gathering of all ranks.

    Args:
        ranks: Who meets.
        name: Prefix of its keys on the board.
    """

    def __init__(self, ranks: Ranks, name: str) -> None:
        self._ranks, self.name = ranks, name
        self.statuses: list[dict[str, Any]] = []
        """What each rank said."""

    def seat(self, rank: int) -> str:
        """Key under which a rank says its status."""
        return f"{self.name}/{rank}"

    def announce(self, work: Callable[[], bytearray]) -> bytearray:
        """On rank 0: do the work, with signs of life while it lasts, and give its bytes to all."""
        board, stop = self._ranks._board, threading.Event()

        def beat() -> None:
            count = 0
            while not stop.wait(_BEAT):
                count += 1
                try:
                    board.set(f"{self.name}/alive", str(count))
                except RuntimeError:  # the board is gone, and so are those who read it
                    return

        pulse = threading.Thread(target=beat, daemon=True)
        pulse.start()
        try:
            payload = work()
        finally:
            stop.set()
            pulse.join()
        with self._ranks._reachable():
            board.set(f"{self.name}/done", str(len(payload)))
        return self._ranks.broadcast(payload, len(payload))

    def listen(self) -> bytearray:
        """On the other ranks: wait as long as rank 0 shows signs of life, and take what it gives.

        Raises:
            DistributedError: it shows none for the time-out.
        """
        board, last, silent_since = self._ranks._board, b"", monotonic()
        with self._ranks._reachable():
            while True:
                try:
                    board.wait([f"{self.name}/done"], timedelta(seconds=min(_BEAT, self._ranks.timeout)))
                    break
                except RuntimeError:
                    alive = board.get(f"{self.name}/alive") if board.check([f"{self.name}/alive"]) else b""
                    if alive != last:
                        last, silent_since = alive, monotonic()
                    elif monotonic() - silent_since > self._ranks.timeout:
                        raise DistributedError(
                            f"Rank 0 of {self._ranks.size} has not answered for {self._ranks.timeout:g} s.",
                            remedy="see what rank 0 last wrote",
                        ) from None
            size = int(board.get(f"{self.name}/done"))
        return self._ranks.broadcast(None, size)


def _board_of(group: Any) -> Any:
    """The key-value store of a process group."""
    if hasattr(group, "get_group_store"):
        return group.get_group_store()
    from torch.distributed import distributed_c10d  # torch 2.6 has it under this name only

    return distributed_c10d._get_process_group_store(group)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
