import csv

import networkx as nx
import numpy as np
import pytest

from nvgf.authorship.export import save_network, to_graphml

WORDS = ["the", "of", "don't", "ere"]
WEIGHTS = np.array([[0.1, 0.2, 0, 0], [1 / 3, 0, 0, 0], [2.0, 0, 0, 0], [0, 0, 0, 0]])


def test_csv_keeps_every_digit_and_the_direction(tmp_path):
    save_network(tmp_path / "wan.csv", WEIGHTS, WORDS)
    with (tmp_path / "wan.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = np.zeros_like(WEIGHTS)
    for row in rows:
        found[WORDS.index(row["source"]), WORDS.index(row["target"])] = float(row["weight"])
    assert np.array_equal(found, WEIGHTS)


def test_graphml_is_read_by_networkx(tmp_path):
    save_network(tmp_path / "wan.graphml", WEIGHTS, WORDS)
    graph = nx.read_graphml(tmp_path / "wan.graphml")
    assert graph.is_directed()
    assert set(graph.nodes) == {"the", "of", "don't"}
    assert nx.to_numpy_array(graph, nodelist=WORDS[:3]).tolist() == WEIGHTS[:3, :3].tolist()


def test_graphml_escapes_names():
    assert '<node id="a&amp;b"/>' in to_graphml(np.ones((1, 1)), ["a&b"])


@pytest.mark.parametrize("name", ["wan.txt", "wan"])
def test_other_formats_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"a network is written to .csv or .graphml, not to"):
        save_network(tmp_path / name, WEIGHTS, WORDS)
