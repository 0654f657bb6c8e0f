"""What the paper states about movie recommendation, each statement with its test."""

from __future__ import annotations

from nvgf.experiments.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
