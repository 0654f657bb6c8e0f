"""The names, colours and words of a report: one place for the page and the static figures."""

from __future__ import annotations

from dataclasses import dataclass

PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#b5529b", "#3a3f45", "#c98500", "#3f9fd6", "#7d858d", "#a3632b", "#6a5acd",
)  # fmt: skip
"""Colours that people with any colour vision can tell apart (after Okabe and Ito); the style sheet has the same."""

MARKERS = ("o", "s", "^", "D", "v")
"""Shapes repeat what colours say, so that no figure depends on colour alone."""


@dataclass(frozen=True)
class Style:
    """How an architecture is called and drawn."""

    label: str
    color: int
    shape: int


MODELS = {
    "learn-nvgf": Style("Learn NVGF", 0, 0),
    "gcn": Style("GCN", 1, 1),
    "sgc": Style("SGC", 2, 2),
    "gat": Style("GAT", 3, 3),
    "gcnn": Style("GCNN", 4, 1),
    "lsigf": Style("LSIGF", 5, 2),
    "design-nvgf": Style("Design NVGF", 6, 3),
    "logistic-regression": Style("Logistic regression", 7, 1),
    "linear-svm": Style("Linear SVM", 8, 2),
    "rmgcnn": Style("RMGCNN", 1, 1),
    "rmcayley": Style("RMCayley", 2, 2),
    "nearest-neighbour": Style("Nearest neighbour", 3, 3),
    "mean-of-means": Style("Mean of means", 7, 1),
    "item-knn": Style("Item kNN", 8, 2),
    "biased-mf": Style("Matrix factorisation", 9, 4),
}


def style(model: str) -> Style:
    """Return how a model is called and drawn; one that has no entry is called by its own name, in grey.

    Example:
        >>> style("learn-nvgf").label, style("own-filter").label
        ('Learn NVGF', 'own-filter')
    """
    return MODELS.get(model, Style(model, 7, 4))


FREQUENCY_MODELS = ("lsigf", "gcnn", "design-nvgf", "learn-nvgf")
"""The architectures whose frequencies are looked at, in the order in which they are drawn."""


@dataclass(frozen=True)
class Texts:
    """What a page says about a study and nothing else knows: title, a few sentences, words in the plural.

    ``digits`` are those after the point of an error; ``first`` is the subject that the page opens with.
    """

    title: str
    lede: str
    subjects: str
    digits: int
    anchors_name: str
    first: str


TEXTS = {
    "authorship": Texts(
        title="Frequency creation in authorship attribution",
        lede=(
            "Was a text written by a given author? Function words are the nodes of a graph, their counts in an excerpt "
            "the signal on it. Architectures that create frequencies are set against those that cannot."
        ),
        subjects="authors",
        digits=2,
        anchors_name="Plain linear classifiers",
        first="austen",
    ),
    "movies": Texts(
        title="Frequency creation in movie recommendation",
        lede=(
            "What will a user give to a movie? The most rated movies are the nodes of a graph, a user's other ratings "
            "the signal on it. Architectures that create frequencies are set against those that cannot."
        ),
        subjects="movies",
        digits=3,
        anchors_name="Plain predictors",
        first="star-wars",
    ),
}


@dataclass(frozen=True)
class Words:
    """How a study is spoken of, and which of its models belong to which figure.

    Attributes:
        metric: the error, with its ``unit``; ``scale`` turns stored errors into those shown.
        compared: the architectures of experiment 1; ``changed``: those of experiment 2, without the reference.
        anchors: the models that stand beside them as a measure.
    """

    study: str
    texts: Texts
    subject: str
    metric: str
    unit: str
    scale: float
    compared: tuple[str, ...]
    changed: tuple[str, ...]
    anchors: tuple[str, ...]
    reference: str = "gcnn"

    @property
    def metric_title(self) -> str:
        """The metric at the start of a sentence."""
        return self.metric[0].upper() + self.metric[1:]

    @property
    def space_unit(self) -> str:
        """What follows every number: a sign for the unit, but no words."""
        return f" {self.unit}" if self.unit == "%" else ""

    @property
    def models(self) -> tuple[str, ...]:
        """All models, each once, in the order in which they are shown."""
        return tuple(dict.fromkeys((*self.compared, self.reference, *self.changed, *self.anchors)))


def texts_of(study: str) -> Texts:
    """Return the texts of a study."""
    try:
        return TEXTS[study]
    except KeyError:
        raise ValueError(f"study must be one of {', '.join(TEXTS)}, got {study!r}") from None


GROUPS = (
    (1, "Group 1", "Learn NVGF like the GCNN, both better than LSIGF"),
    (2, "Group 2", "Learn NVGF better than the GCNN"),
    (3, "Group 3", "all alike"),
    (0, "In no group", ""),
)
"""The paper's three groups of subjects and those that fit none."""


def settings_text(learning_rate: float | None = None, features: int | None = None, order: int | None = None) -> str:
    """Return hyper-parameters as text, in the symbols of the paper.

    Example:
        >>> settings_text(0.005, 64)
        'η = 0.005, F = 64'
    """
    parts = (("η", learning_rate), ("F", features), ("K", order))
    return ", ".join(f"{name} = {value:g}" for name, value in parts if value is not None)


def short_title(subject: str, title: str) -> str:
    """Return a subject's short name: its key, as the title writes it, or else the title.

    Example:
        >>> short_title("austen", "Jane Austen"), short_title("star-wars", "Star Wars (1977)")
        ('Austen', 'Star Wars (1977)')
    """
    at = title.casefold().find(subject.casefold())
    return title[at : at + len(subject)] if at >= 0 else title
