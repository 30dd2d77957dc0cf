"""A library catalogue with known answers: every subject has words of its own, subjects of a field go together."""

from __future__ import annotations

import numpy as np

from longtail.types import Dataset, Documents, LabelSet, label_matrix
from tests.planted import Parts, parts_of

HOSTILE = "<img src=x onerror=\"document.title='hacked'\">"
"""A label name that would run a script if it were ever parsed as HTML."""

FIELDS = {
    "energy": {
        "wind power": "turbine rotor offshore breeze nacelle windfarm",
        "solar power": "photovoltaic panel sunlight inverter rooftop silicon",
        "energy storage": "battery lithium accumulator discharge pumped cell",
        "power grids": "transmission voltage substation grid blackout frequency",
        "hydroelectricity": "dam reservoir turbine hydropower spillway river",
        "geothermal energy": "geothermal borehole steam magma heat reykjavik",
    },
    "nature": {
        "bird migration": "bird migration flyway stork ringing autumn",
        "bats": "bat roost echolocation nocturnal cave colony",
        "forest management": "forest timber beetle spruce thinning logging",
        "coral reefs": "coral reef bleaching lagoon polyp ocean",
        "pollination": "bee pollen blossom orchard insect nectar",
        "river ecology": "river salmon sediment floodplain spawning dam",
    },
    "history": {
        "medieval trade": "merchant hanseatic guild medieval ship toll",
        "monasteries": "abbey monk scriptorium cloister medieval manuscript",
        "railway history": "railway locomotive gauge steam station timetable",
        "printing history": "press printer type woodcut incunabula bookseller",
        "whaling": "whale harpoon blubber whaler ship arctic",
        "spice trade": "pepper cinnamon nutmeg caravan merchant monsoon",
    },
    "computing": {
        "machine learning": "classifier training gradient neural prediction dataset",
        "databases": "query index transaction table storage relational",
        "cryptography": "cipher key encryption signature protocol secret",
        "operating systems": "kernel scheduler process memory filesystem driver",
        "computer graphics": "rendering shader texture polygon lighting pixel",
        "information retrieval": "search ranking query relevance document index",
    },
}
PLAIN = [
    "study",
    "report",
    "survey",
    "notes",
    "measured",
    "early",
    "recent",
    "northern",
    "methods",
    "regional",
]
FORMS = (
    "{0} and {1}: a {2} of {3} and {4}",
    "The {0} of {1}, with {2} on {3} and {4}",
    "{2} on {0}, {1} and the {3} of {4}",
    "How {0} changed {1}; {2} of {3} and {4}",
)
DOCUMENTS = 900


def catalogue(seed: int = 0) -> Parts:
    """Training, validation and test part of the catalogue."""
    random = np.random.default_rng(seed)
    names = [name for subjects in FIELDS.values() for name in subjects]
    words = {name: text.split() for subjects in FIELDS.values() for name, text in subjects.items()}
    names.append(HOSTILE)
    words[HOSTILE] = ["markup", "bracket", "browser", "attribute"]
    fields = [list(subjects) for subjects in FIELDS.values()]
    fields[-1].append(HOSTILE)
    every = [*PLAIN, *(word for own in words.values() for word in own)]
    stray = np.where(np.arange(len(every)) < len(PLAIN), 0.6 / len(PLAIN), 0.4 / (len(every) - len(PLAIN)))
    titles, tags = [], []
    for _ in range(DOCUMENTS):
        field = fields[random.integers(len(fields))]
        # The first subjects of a field are frequent, the last ones rare.
        weights = 1 / np.arange(1, len(field) + 1)
        chosen = random.choice(
            field, size=random.integers(1, 3), replace=False, p=weights / weights.sum()
        ).tolist()
        # Few words of their own, and sometimes a word of another subject: no classifier gets all of them.
        own = [str(word) for name in chosen for word in random.permutation(words[name])[: 3 - len(chosen)]]
        drawn = [*own, *map(str, random.choice(every, size=4 - len(own), p=stray))]
        random.shuffle(drawn)
        form = FORMS[random.integers(len(FORMS))]
        title = form.format(drawn[0], drawn[1], random.choice(PLAIN), drawn[2], drawn[3])
        titles.append(title[0].upper() + title[1:])
        tags.append(chosen)
    labels = LabelSet([name if name == HOSTILE else name.replace(" ", "-") for name in names], names)
    documents = Documents([f"book-{i}" for i in range(DOCUMENTS)], titles, [""] * DOCUMENTS)
    ids = dict(zip(names, labels.ids, strict=True))
    return parts_of(Dataset(documents, labels, label_matrix([[ids[n] for n in row] for row in tags], labels)))
