"""``python -m nvgf.experiments.sweep``: the sweep with the standard library's parser, where the command line of nvgf
is not installed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from nvgf.experiments.follow import sweep_cells
from nvgf.experiments.session import Place, run_session
from nvgf.experiments.study import make_study


def parser() -> argparse.ArgumentParser:
    """Return the parser."""
    found = argparse.ArgumentParser(prog="python -m nvgf.experiments.sweep", description=__doc__)
    found.add_argument("--study", default="authorship", help="authorship or movies")
    found.add_argument("--source", help="corpus file or folder of ratings; by default the study's own")
    found.add_argument("--subjects", "--authors", "--targets", help="separated by commas; all by default")
    found.add_argument("--models", help="separated by commas")
    found.add_argument("--setting", help="separated by commas; the paper's own by default")
    found.add_argument("--grid", choices=("paper", "table"), default="paper")
    found.add_argument("--splits", type=int)
    found.add_argument("--split-by")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--device", default="cpu")
    found.add_argument("--workers", type=int, help="processes on a CPU; one a core by default")
    found.add_argument("--dask", help="tcp://host:port of a scheduler")
    found.add_argument("--part", help="1/4: the first of four parts of the subjects")
    found.add_argument("--limit", type=float, help="minutes after which no new batch is begun")
    found.add_argument("--analyse", action="store_true", help="store spectra of the models of experiment 2")
    found.add_argument("--follow", action="store_true", help="then experiment 2 at the chosen hyper-parameters")
    found.add_argument("--out", required=True, help="run folder")
    return found


def split_names(text: str | None) -> list[str] | None:
    """Return the names in a list that is separated by commas.

    Example:
        >>> split_names("austen, poe")
        ['austen', 'poe']
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"expected names separated by commas, got {text!r}")
    return names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sweep; return the exit code: 0 complete, 1 stopped or with failures, 2 wrong input, 130 interrupted."""
    options = parser().parse_args(arguments)
    try:
        study = make_study(options.study, options.source)
        cells = sweep_cells(
            study,
            subjects=split_names(options.subjects),
            models=split_names(options.models),
            settings=split_names(options.setting),
            splits=options.splits,
            split_by=options.split_by,
            grid=options.grid,
            seed=options.seed,
            analyse=options.analyse,
            device=options.device,
        )
        place = Place(options.device, options.workers, options.dask, options.limit)
        outcome = run_session(study, cells, options.out, place, vars(options), follow=options.follow, part=options.part)
    except KeyboardInterrupt:
        print("interrupted; what was trained is stored, and the same command continues", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError) as error:
        print(f"sweep: {error}", file=sys.stderr)
        return 2
    if outcome.stopped:
        print("stopped by --limit; the same command continues", file=sys.stderr)
    return 0 if outcome.complete else 1


if __name__ == "__main__":
    sys.exit(main())
