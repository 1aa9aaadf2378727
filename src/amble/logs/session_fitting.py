"""Users of whole sessions, fitted to logs of several queries a session: p, q, r and s of MsM, p and b of session RBP.

Every page begins at its first document. The user passes every rank to each click, as in `chain_fitting`, and leaves the
page at the last one: for the next query of the session, or for good. A page without a click is left at its first
document. At the first document there is no way back and at the last none forward, and the other probabilities are
scaled up (van Dijk, Ferrante, Ferro & Kanoulas 2019). Session RBP's user reads down to the deepest click.
"""

from __future__ import annotations

import numpy as np

from amble.arrays import Array
from amble.errors import AmbleError
from amble.logs.bootstrap import Resampled
from amble.logs.chain_fitting import by_edge, count_steps, log_likelihood
from amble.logs.counts import Counts
from amble.logs.privacy import disclosable
from amble.users.fitted import FittedModel

__all__ = ["fit_session_rbp", "fit_session_walk", "scaled_probabilities", "session_log_likelihood", "session_steps"]

_ROUNDS = 5000  # of the iteration; it stops when nothing changes
_CLOSE = 1e-11
# which of forward, back, on and stop there are at the first rank, in between and at the last
_OPEN = np.array([[1.0, 0, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1]])
_SEEN = {
    "msm": "sessions: every rank to a click is passed, from rank 1 on; a page is left at the last click",
    "srbp": "sessions: reads down to the deepest click, and leaves the page there",
}


def session_steps(counts: Counts, model: str) -> Array:
    """Steps forward and back, pages left for another query, and sessions ended, at each rank.

    Parameters
    ----------
    counts : Counts
    model : {"msm", "srbp"}
        Session RBP's user goes to the deepest click, and never back.

    Returns
    -------
    (…, n, 4) array
    """
    if not counts.onward.size:
        raise AmbleError("no session has another query: nothing is known of going on to one")
    on = counts.onward
    if model == "msm":
        steps = count_steps(counts.moves, "path")
        out = np.concatenate([steps[..., :2], np.stack([on[..., 1:], steps[..., 2] - on[..., 1:]], axis=-1)], axis=-1)
    else:
        deepest = counts.extremes.sum(axis=-2)[..., 1:]
        forward = np.flip(np.cumsum(np.flip(deepest, axis=-1), axis=-1), axis=-1) - deepest
        # whether another query came is known by the rank of the last click; of all pages it is as often
        share = on[..., 1:].sum(axis=-1, keepdims=True) / np.maximum(deepest.sum(axis=-1, keepdims=True), 1.0)
        out = np.stack([forward, 0.0 * forward, deepest * share, deepest * (1.0 - share)], axis=-1)
    out[..., 0, 2] += on[..., 0]
    out[..., 0, 3] += counts.extremes[..., 0, 0] - on[..., 0]
    return out


def session_probabilities(steps: Array) -> Array:
    """The maximum-likelihood p, q, r and s of steps (…, n, 4), scaled up where a way is closed.

    Each is what was done, divided by how often it could be done, in shares of what is open there; until nothing changes
    (a minorisation-maximisation, as for the Bradley-Terry model).

    Examples
    --------
    >>> import numpy as np
    >>> from amble.logs.session_fitting import session_probabilities
    >>> steps = np.array([[50.0, 0, 20, 20], [50, 10, 20, 20], [0, 10, 20, 20]])  # of 0.9, of 1 and of 0.5
    >>> session_probabilities(steps).round(4)
    array([0.5, 0.1, 0.2, 0.2])
    """
    seen = by_edge(steps)
    did, many = seen.sum(axis=-2), seen.sum(axis=-1)
    out = did / np.maximum(did.sum(axis=-1, keepdims=True), 1.0)
    for _ in range(_ROUNDS):
        inside = np.einsum("em,...m->...e", _OPEN, out)
        could = np.einsum("em,...e->...m", _OPEN, np.divide(many, inside, out=np.zeros_like(many), where=inside > 0))
        found = np.divide(did, could, out=np.zeros_like(did), where=could > 0)
        found /= np.maximum(found.sum(axis=-1, keepdims=True), 1e-300)
        change = float(np.abs(found - out).max(initial=0.0))
        out = found
        if change < _CLOSE:
            break
    return np.asarray(np.where(did.sum(axis=-1, keepdims=True) > 0, out, np.nan))


def scaled_probabilities(probabilities: Array) -> Array:
    """Forward, back, on and stop at the first rank, in between and at the last one (3 x 4), scaled up where closed."""
    inside = _OPEN * probabilities
    return np.asarray(inside / inside.sum(axis=-1, keepdims=True))


def session_log_likelihood(steps: Array, probabilities: Array) -> float:
    """Log-likelihood of steps (n x 4) of a user with these p, q, r and s."""
    return log_likelihood(by_edge(steps), scaled_probabilities(probabilities))


def _checked(data: Resampled, model: str) -> Array:
    steps = session_steps(data.counts, model)
    ways = ("went forward", "went back", "went on to another query", "ended")
    did = steps.sum(axis=-2)
    for i, (enough, way) in enumerate(zip(disclosable(did, data.smallest), ways, strict=True)):
        if not enough:
            raise AmbleError(f"fewer than {data.smallest} sessions {way}: suppressed, and not counted as zero")
        if i != 1 and not did[:, i].any():
            raise AmbleError(f"no session {way}: such a user would never, which measures refuse")
    return np.asarray(did.sum(axis=-1))


def fit_session_walk(data: Resampled) -> FittedModel:
    """MsM's user: p, q, r and s."""
    behind = _checked(data, "msm")
    estimates = data.joint("pqrs", lambda c: session_probabilities(session_steps(c, "msm")), behind)
    return FittedModel("msm", "session", estimates, _SEEN["msm"], confidence=data.confidence)


def fit_session_rbp(data: Resampled) -> FittedModel:
    """Session RBP's user: p, the probability to go on, and b, the share of those who go on that go down."""

    def persistence(counts: Counts) -> Array:
        down, _, on, stop = np.moveaxis(session_probabilities(session_steps(counts, "srbp")), -1, 0)
        return np.stack([1.0 - stop, down / (down + on)], axis=-1)

    estimates = data.joint("pb", persistence, _checked(data, "srbp"))
    return FittedModel("srbp", "session-rbp", estimates, _SEEN["srbp"], confidence=data.confidence)
