"""Hold-outs of a validation: silicon and families of architectures, in all sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.corpus import Corpus, Rows
from ctm_research.corpus.single_operators import OPERATOR_FAMILY
from predictor.core.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The measurements of a corpus, for training or held out; each is in one part.

    Attributes:
        training: neither silicon nor family is held out.
        unseen_device: on held-out silicon, of families that training has.
        unseen_network: of held-out families, on silicon that training has.
        unseen_both: of held-out families, on held-out silicon.
    """

    training: Rows
    unseen_device: Rows
    unseen_network: Rows
    unseen_both: Rows


@dataclass(frozen=True, slots=True)
class HoldOut:
    """Keys that training must not see, whichever source they are in.

    Attributes:
        silicon: keys of :attr:`Corpus.silicon`.
        families: of :attr:`Corpus.families`.
    """

    silicon: frozenset[str] = frozenset()
    families: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, corpus: Corpus, devices: Iterable[str] = (), networks: Iterable[str] = ()
    ) -> HoldOut:
        """Return the hold-out of devices and networks, and so of all their silicon and families.

        Args:
            corpus: where they are.
            devices: ids of the catalogue.
            networks: names of graphs, as in ``Graphs.names``.

        Raises:
            InputError: the corpus has no measurement of one of them.
        """
        by_device = {
            target.device_id: key
            for target, key in zip(corpus.targets, corpus.silicon, strict=True)
            if target.is_listed and not target.cluster
        }
        by_network = dict(zip(corpus.graphs.names, corpus.graphs.family.tolist(), strict=True))
        return cls(
            frozenset(by_device[_known("device", d, by_device)] for d in devices),
            frozenset(
                corpus.families[by_network[_known("network", n, by_network)]] for n in networks
            ),
        )

    def __or__(self, other: HoldOut) -> HoldOut:
        return HoldOut(self.silicon | other.silicon, self.families | other.families)

    def split(self, corpus: Corpus) -> Split:
        """Divide the measurements.

        Raises:
            InputError: a key is none of the corpus.
        """
        for key in sorted(self.silicon):
            _known("silicon", key, corpus.silicon)
        for key in sorted(self.families):
            _known("family", key, corpus.families)
        silicon = _members(corpus.silicon, self.silicon)[corpus.measurements.target]
        families = _members(corpus.families, self.families)
        network = families[corpus.graphs.family][corpus.measurements.graph]
        return Split(
            training=np.flatnonzero(~silicon & ~network),
            unseen_device=np.flatnonzero(silicon & ~network),
            unseen_network=np.flatnonzero(~silicon & network),
            unseen_both=np.flatnonzero(silicon & network),
        )


def draw_hold_out(
    corpus: Corpus,
    seed: int,
    silicon_share: float = 0.2,
    family_share: float = 0.2,
    always: HoldOut | None = None,
) -> HoldOut:
    """Draw silicon and families that hold out about a share of each source.

    Keys are taken in an order of their own by seed, each if no source then loses more than its
    share: of its targets to silicon, of its graphs to families. So a source with little silicon
    loses none unless ``always`` names it. Single operators are no family to hold out.

    Args:
        corpus: where they are.
        seed: of the order.
        silicon_share: largest part of a source's targets, 0 to 1.
        family_share: largest part of a source's graphs, 0 to 1.
        always: keys that are held out in any case and count towards the shares.

    Raises:
        InputError: a share is not between 0 and 1.
    """
    for name, share in (("silicon", silicon_share), ("family", family_share)):
        if not 0 <= share <= 1:
            raise InputError(f"share of {name}", f"it is {share}", "give a number from 0 to 1")
    always = always or HoldOut()
    m = corpus.measurements
    family_names = [corpus.families[index] for index in corpus.graphs.family.tolist()]
    generator = np.random.default_rng(seed)
    return HoldOut(
        _drawn(
            generator, _presence(m.source, m.target, corpus.silicon), silicon_share, always.silicon
        ),
        _drawn(
            generator, _presence(m.source, m.graph, family_names), family_share, always.families
        ),
    )


def hold_out_folds(corpus: Corpus, count: int, seed: int) -> list[HoldOut]:
    """Return ``count`` hold-outs that hold out each silicon and each family once.

    The largest keys go first, each to the fold with the fewest measurements so far.

    Raises:
        InputError: there is less than one fold.
    """
    if count < 1:
        raise InputError("number of folds", f"it is {count}", "give a number above 0")
    m = corpus.measurements
    family_names = [corpus.families[index] for index in corpus.graphs.family.tolist()]
    generator = np.random.default_rng(seed)
    silicon = _folds(generator, [corpus.silicon[t] for t in m.target.tolist()], count)
    families = _folds(generator, [family_names[g] for g in m.graph.tolist()], count)
    return [HoldOut(*keys) for keys in zip(silicon, families, strict=True)]


def _known(what: str, key: str, measured: Iterable[str]) -> str:
    if key not in measured:
        raise InputError(f"{what} {key}", "the corpus has no measurement of it", "correct its name")
    return key


def _members(names: Sequence[str], chosen: frozenset[str]) -> NDArray[np.bool_]:
    return np.array([name in chosen for name in names], np.bool_)


def _presence(
    source: NDArray[np.integer], item: NDArray[np.integer], keys: Sequence[str]
) -> dict[str, dict[int, int]]:
    """Return the number of distinct items of each key in each source."""
    counts: dict[str, dict[int, int]] = {}
    for s, i in np.unique(np.stack([source, item], axis=1), axis=0).tolist():
        by_source = counts.setdefault(keys[i], {})
        by_source[s] = by_source.get(s, 0) + 1
    return counts


def _drawn(
    generator: np.random.Generator,
    counts: dict[str, dict[int, int]],
    share: float,
    always: frozenset[str],
) -> frozenset[str]:
    totals: dict[int, int] = {}
    for by_source in counts.values():
        for source, count in by_source.items():
            totals[source] = totals.get(source, 0) + count
    held = dict.fromkeys(totals, 0)
    for key in always & counts.keys():
        for source, count in counts[key].items():
            held[source] += count
    chosen = set(always)
    # Sorted first: sets of strings have another order in each process, the draw must not.
    free = sorted(counts.keys() - always - {OPERATOR_FAMILY})
    for key in generator.permutation(free).tolist():
        by_source = counts[key]
        if all(held[s] + count <= share * totals[s] for s, count in by_source.items()):
            chosen.add(key)
            for s, count in by_source.items():
                held[s] += count
    return frozenset(chosen)


def _folds(generator: np.random.Generator, keys: Sequence[str], count: int) -> list[frozenset[str]]:
    names, sizes = np.unique(np.array(keys), return_counts=True)
    order = generator.permutation(len(names))
    # A stable sort of a random order: keys of equal size are dealt at random, by seed.
    order = order[np.argsort(-sizes[order], kind="stable")]
    folds: list[set[str]] = [set() for _ in range(count)]
    held = np.zeros(count)
    for index in order.tolist():
        if names[index] != OPERATOR_FAMILY:
            fold = int(held.argmin())
            folds[fold].add(str(names[index]))
            held[fold] += sizes[index]
    return [frozenset(fold) for fold in folds]
