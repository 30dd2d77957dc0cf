"""Peer libraries, each run by the Python of its own virtual environment (only numpy, scipy and the peer there)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """Where a peer's contestants run and what has to be installed there, one pip call a tuple."""

    name: str
    contestants: tuple[str, ...]
    installs: tuple[tuple[str, ...], ...]

    @property
    def module(self) -> str:
        """The module that its Python runs."""
        return f"benchmarks.peers.{self.name}"


PEERS = {
    peer.name: peer
    for peer in (
        # torch by itself first: pulled in as a dependency it would bring gigabytes for graphics cards.
        Peer("pecos", ("pecos",), (("torch==2.13.0",), ("libpecos==1.2.8", "numpy<2"))),
        Peer("omikuji", ("omikuji-parabel", "omikuji-bonsai"), (("omikuji==0.5.2", "numpy", "scipy"),)),
        Peer("napkinxc", ("napkinxc",), (("napkinxc==0.7.2",),)),
    )
}


def peer_of(contestant: str) -> Peer | None:
    """The peer that a contestant belongs to, None for a longtail system."""
    return next((peer for peer in PEERS.values() if contestant in peer.contestants), None)
