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
    "logistic": Style("Logistic regression", 7, 1),
    "svm": Style("Linear SVM", 8, 2),
    "rmgcnn": Style("RMGCNN", 1, 1),
    "rmcayley": Style("RMCayley", 2, 2),
    "nearest": Style("Nearest neighbour", 3, 3),
    "means": Style("User and item means", 7, 1),
    "item-knn": Style("Item kNN", 8, 2),
    "factorisation": Style("Matrix factorisation", 9, 4),
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
class Words:
    """How a study is spoken of.

    Attributes:
        scale: what stored errors are multiplied by to be shown, with ``unit`` and ``digits`` after the point.
        compared: the architectures of the first experiment; ``changed``: those of the second, beside the GCNN.
        first: the subject that the page opens with, if it is there.
    """

    title: str
    lede: str
    subject: str
    subjects: str
    metric: str
    unit: str
    scale: float
    digits: int
    compared: tuple[str, ...]
    anchors_name: str
    first: str
    changed: tuple[str, ...] = ("learn-nvgf", "design-nvgf", "lsigf")

    @property
    def metric_title(self) -> str:
        """The metric at the start of a sentence."""
        return self.metric[0].upper() + self.metric[1:]


STUDIES = {
    "authorship": Words(
        title="Frequency creation in authorship attribution",
        lede=(
            "Was a text written by a given author? Function words are the nodes of a graph, their counts in an excerpt "
            "the signal on it. Architectures that create frequencies are set against those that cannot."
        ),
        subject="author",
        subjects="authors",
        metric="classification error",
        unit=" %",
        scale=100.0,
        digits=2,
        compared=("learn-nvgf", "gat", "gcn", "sgc"),
        anchors_name="Plain linear classifiers",
        first="austen",
    ),
    "movies": Words(
        title="Frequency creation in movie recommendation",
        lede=(
            "What will a user give to a movie? The most rated movies are the nodes of a graph, a user's other ratings "
            "the signal on it. Architectures that create frequencies are set against those that cannot."
        ),
        subject="movie",
        subjects="movies",
        metric="RMSE",
        unit="",
        scale=1.0,
        digits=3,
        compared=("learn-nvgf", "rmgcnn", "rmcayley", "nearest"),
        anchors_name="Plain predictors",
        first="Star Wars (1977)",
    ),
}


def words_of(study: str) -> Words:
    """Return the words of a study."""
    try:
        return STUDIES[study]
    except KeyError:
        raise ValueError(f"study must be one of {', '.join(STUDIES)}, got {study!r}") from None


GROUPS = (
    (1, "Group 1", "Learn NVGF like the GCNN, both better than LSIGF"),
    (2, "Group 2", "Learn NVGF better than the GCNN"),
    (3, "Group 3", "all alike"),
    (0, "In no group", ""),
)
"""The paper's three groups of subjects and those that fit none."""

TOLERANCE = 0.05
"""A relative change up to this is comparable, as the paper has it."""


def subject_label(subject: str) -> str:
    """Return a subject's name as it is shown: authors are stored in lower case.

    Example:
        >>> subject_label("austen"), subject_label("Star Wars (1977)")
        ('Austen', 'Star Wars (1977)')
    """
    return subject[:1].upper() + subject[1:]
