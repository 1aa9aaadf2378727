"""Work on any executor: the same bytes as in one process, nothing lost with a worker, finished pieces kept."""

from __future__ import annotations

import concurrent.futures
import gc
import importlib.util
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amble
from amble import parallel
from amble.cli import options
from amble.cli.main import main
from amble.evaluation.scores import _score_some, _Scoring
from amble.metaevaluation import correlations, discriminative_power, leave_out, pool_effect, swap_rates
from amble.parallel import FilePath, Workers, spread
from amble.rankings.lists import Lists
from amble.users.simulation import ScoreCounts

ROOT = Path(__file__).parent.parent
GRADES = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
HAS_DASK = importlib.util.find_spec("distributed") is not None
NO_DASK = pytest.mark.skipif(not HAS_DASK, reason="distributed is not installed: the extra cluster has it")


def _script() -> Any:
    spec = importlib.util.spec_from_file_location("killed_workers", ROOT / "benchmarks" / "killed_workers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


killed_workers = _script()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """Judgments and three runs in files."""
    found: tuple[str, list[str]] = killed_workers.collection(tmp_path_factory.mktemp("files"), 3, topics=6, depth=40)
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Dask scheduler with two workers, processes of their own."""
    made = killed_workers.Cluster(tmp_path_factory.mktemp("dask"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def processes() -> Iterator[Workers]:
    """Two processes, for all tests."""
    with Workers(2) as workers:
        yield workers


def numbers(files: tuple[str, list[str]], executor: Any) -> dict[str, bytes]:
    """All calls that take an executor, each with the bytes of its result."""
    qrels, runs = files
    out = {}
    scores = amble.evaluate(qrels, runs, "AP nDCG@3 PH(loss=.2) MP(rescale='RR') GMAP", executor=executor)
    rankings = amble.align(qrels, runs, executor=executor)
    out["evaluate"] = [scores.values, amble.evaluate(rankings, "RBP", undefined="skip", executor=executor).values]
    out["align"] = [rankings.rank, rankings.row, rankings.offsets]
    data = amble.read_qrels(qrels).to_dict(), {"x": {"0": {"d1": 1.0, "d2": 2.0}}}
    out["in memory"] = [amble.evaluate(*data, "AP", executor=executor).values]
    one = amble.simulate("PH(p=.5,q=.25,loss=.25)", GRADES, users=300_000, seed=7, executor=executor)
    many = amble.simulate("RBP(p=Beta(8,2))", GRADES, users=9_000, seed=1, executor=executor)
    out["simulate"] = [one.values, one.probs, [one.order2, one.mean_visits], many.values, many.probs]
    for users in (None, 500):
        found = amble.run_distributions(
            rankings, "PH(loss=0)" if users is None else "PH(loss=.2)", users=users, seed=3, executor=executor
        )
        out[f"distributions of {users}"] = [x for d in found.values() for x in (d.values, d.probs)]
    swaps = swap_rates(scores, executor=executor)
    out["swaps"] = [swaps.counts, swaps.swaps]
    out["tau"] = [correlations(scores, rounds=50, executor=executor).low]
    out["power"] = [discriminative_power(scores, rounds=50, executor=executor).levels]
    effect = pool_effect(rankings, "AP RBP", rounds=2, executor=executor)
    out["pools"] = [effect.means, effect.taus, pool_effect(rankings, "AP", depths=[5], executor=executor).means]
    left = leave_out(rankings, "AP", {"a": [0], "b": [1, 2]}, depth=10, executor=executor)
    out["groups"] = [left.without, left.taus, left.unique]
    for test in ("permutation", "bootstrap", "tukey"):
        tested = amble.compare(scores, "AP", test=test, rounds=600, executor=executor)
        out[test] = [tested.p, tested.low]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SOURCE_DATE_EPOCH", "0")  # a report tells the day, which may be over by now
        page = amble.report(scores, executor=executor).html()
    out["report"] = [np.frombuffer(page.encode(), np.uint8)]
    return {name: b"".join(np.asarray(x).tobytes() for x in arrays) for name, arrays in out.items()}


@pytest.fixture(scope="module")
def alone(files: tuple[str, list[str]]) -> dict[str, bytes]:
    """The same in this process."""
    return numbers(files, None)


@pytest.mark.parametrize("kind", ["processes", "threads", "loky", pytest.param("dask", marks=NO_DASK), "here"])
def test_every_executor_gives_the_same_bytes(
    kind: str,
    files: tuple[str, list[str]],
    shards: tuple[str, list[str]],
    alone: dict[str, bytes],
    request: pytest.FixtureRequest,
) -> None:
    from amble.logs import read_log

    made: Any = None
    if kind == "threads":
        made = executor = concurrent.futures.ThreadPoolExecutor(2)
    elif kind == "loky":
        made = executor = pytest.importorskip("loky").ProcessPoolExecutor(2)
    elif kind == "dask":
        executor = request.getfixturevalue("cluster").client.get_executor(retries=3)
    else:
        executor = Workers() if kind == "here" else request.getfixturevalue("processes")
    try:
        found = numbers(files, executor)
        counts = read_log(shards[1], executor=executor)
    finally:
        if made is not None:
            made.shutdown()
    assert [name for name in alone if found[name] != alone[name]] == []
    assert same_counts(counts, read_log(shards[0]))


def lists_of_many_lengths(subtopics: bool) -> amble.Rankings:
    """Lists of 1 to 90 documents; those of the first runs are short."""
    rng = np.random.default_rng(1)
    judged: Any = {str(t): {f"d{i}": int(rng.integers(3)) for i in range(60)} for t in range(5)}
    if subtopics:
        judged = {t: {s: dict(list(of.items())[i::2]) for i, s in enumerate("ab")} for t, of in judged.items()}
    runs = {
        str(r): {str(t): {f"d{i}": -k for k, i in enumerate(rng.permutation(90)[:n])} for t in range(5)}
        for r, n in enumerate([*range(1, 5), *rng.integers(1, 90, 16).tolist()])
    }
    return amble.align(judged, runs)


def test_scores_of_a_list_do_not_depend_on_other_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [name for name, d in amble.measures.REGISTRY.items() if not d.of_sessions]
    texts = ["PH(order=2)", "PH(effort='h^2')", "PH(effort='log')", "RBP(p=0.97)", "INST(T=9)", "IA(of='PH')", *names]
    given = {kind: lists_of_many_lengths(kind) for kind in (False, True)}
    apart, shared, seen = [], [], 0
    for text in texts:
        try:
            m = amble.parse(text)
            rankings = given[m.declaration.of_intents]
            together = amble.evaluate(rankings, m).values
        except amble.MeasureError:
            continue
        assert isinstance(m, amble.measures.ListMeasure)
        seen += 1
        shared += [] if m.by_list else [text]
        for some in (1, 20):
            monkeypatch.setattr("amble.evaluation.scores._TOGETHER", some)
            found = amble.evaluate(rankings, m, executor=Workers())
            apart += [text] * (found.values.tobytes() != together.tobytes())
    assert apart == []
    assert seen > 70
    # where lists have more in common, so that the last bits may be others, the scores are not shared out
    assert shared == ["PH(order=2)", "PH(effort='h^2')", "PH(effort='log')", "IA(of='PH')", "PH"]
    others = "MP(rescale='RR')", "PH(pqs=Dirichlet(20,10,10))", "MP(model='GL_AD_ID',counts='FRBN')"
    assert not any(getattr(amble.parse(text), "by_list") for text in others)  # noqa: B009


def test_an_error_in_a_file_is_the_same_and_stops_the_job(
    files: tuple[str, list[str]], tmp_path: Path, processes: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.run").write_text("0 Q0 d1 1 2.0 x\n0 Q0 d2 two\n")
    runs = [*files[1], "bad.run"]
    messages = []
    for executor in (None, processes):
        with pytest.raises(amble.ReadError) as told:
            amble.evaluate(files[0], runs, "AP", executor=executor)
        messages.append(str(told.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith("bad.run:2: ")
    assert amble.evaluate(*files, "AP", executor=processes).values.shape == (3, 6, 1)  # the workers serve on


# ---- pieces that are lost


def _once(folder: str, item: int) -> int:
    """Square a number; the first time that 3 comes, die. Each call leaves a file."""
    Path(folder, f"{item}-{os.urandom(4).hex()}").touch()
    if item == 3 and len(list(Path(folder).glob("3-*"))) == 1:
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def _always(_: object, item: int) -> int:
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def _pool() -> concurrent.futures.ProcessPoolExecutor:
    return parallel.processes(2)  # type: ignore[no-any-return]


def _loky() -> Any:
    return pytest.importorskip("loky").ProcessPoolExecutor(2)


@pytest.mark.parametrize("factory", [2, _loky])
def test_a_broken_pool_is_replaced(factory: Any, tmp_path: Path) -> None:
    with Workers(factory) as workers:
        assert list(spread(_once, str(tmp_path), range(8), workers)) == [i * i for i in range(8)]
        assert list(spread(_once, str(tmp_path), [9], workers)) == [81]


def test_workers_that_are_lost_for_good() -> None:
    with (
        Workers(2, tries=1) as workers,
        pytest.raises(
            amble.ClusterLostError, match=r"^workers lost, \d of 5 pieces done: BrokenProcessPool: A process"
        ),
    ):
        list(spread(_always, None, range(5), workers))
    with _pool() as pool, pytest.raises(amble.ClusterLostError, match="give a function that makes an executor"):
        list(spread(_always, None, range(5), pool))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("no.json", "no.json: no such file, expected tcp://HOST:PORT or the scheduler's file, scheduler.json"),
        (__file__, "test_cluster.py: not a scheduler's file, expected one with an address"),
        (0, "executor=0: expected a whole number of at least 1"),
        (1.5, "executor=1.5"),
        ([], r"executor=\[\]"),
    ],
)
def test_executors_that_are_none(wrong: Any, message: str) -> None:
    if isinstance(wrong, str) and not HAS_DASK:
        message = "pip install 'amble-ir\\[cluster\\]'"
    with pytest.raises(amble.AmbleError, match=message):
        amble.simulate("PH", GRADES, users=10, executor=wrong)


def _sent_function(shared: Callable[[int], int], item: int) -> int:
    return shared(item)


def _raises(_: object, item: int) -> int:
    raise KeyError(item)


def test_functions_travel_with_their_code_and_errors_come_back(processes: Workers) -> None:
    pytest.importorskip("cloudpickle")
    assert list(spread(_sent_function, lambda x: x + 1, [1, 2], processes)) == [2, 3]
    with pytest.raises(KeyError) as told:
        list(spread(_raises, None, [7], processes))
    assert "in _raises" in "".join(told.value.__notes__)
    with pytest.raises(amble.AmbleError, match="workers cannot be sent what the job needs: cannot pickle"):
        list(spread(_sent_function, threading.Lock(), [1], processes))


def test_a_program_needs_no_main_guard(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    program = tmp_path / "program.py"
    program.write_text(
        "from amble.parallel import spread\n"
        "def added(shared, item):\n    return shared + item\n"
        "print(list(spread(added, 10, range(4), 2)))\n"
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[10, 11, 12, 13]\n", "")


def test_lists_that_were_scored_are_freed_at_once(files: tuple[str, list[str]]) -> None:
    rankings = amble.align(*files)
    some = Lists.of_rankings(rankings).arrays(0, 2)
    made: list[weakref.ref[Lists]] = []

    class Watched(_Scoring):
        def lists(self, arrays: dict[str, Any]) -> Lists:
            out = super().lists(arrays)
            made.append(weakref.ref(out))
            return out

    gc.collect()
    gc.disable()  # so that what refers to itself would stay
    try:
        _score_some(Watched(rankings, [amble.parse("AP"), amble.parse("nDCG@10")]), some)
        assert made[0]() is None
    finally:
        gc.enable()


def test_a_measure_of_your_own_travels(processes: Workers, tmp_path: Path, files: tuple[str, list[str]]) -> None:
    pytest.importorskip("cloudpickle")
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from typing import Annotated\nfrom amble.measures import Above, Forward, measure\n"
        "@measure('Mine', question='order2')\ndef mine(s: Annotated[float, Above(0), 'x'] = 1.0):\n"
        "    '''Mine.'''\n    return Forward(visits=lambda rank: rank**-s)\n"
    )
    from amble.cli.plugins import load_plugin

    load_plugin(str(plugin))
    try:
        serial = amble.evaluate(*files, "Mine(s=2)").values
        assert amble.evaluate(*files, "Mine(s=2)", executor=processes).values.tobytes() == serial.tobytes()
        with pytest.raises(amble.AmbleError, match="checkpoint: .* is code of your own, and no key tells whether"):
            amble.evaluate(*files, "Mine(s=2)", executor=Workers(checkpoint=tmp_path / "kept"))
    finally:
        del amble.measures.REGISTRY["Mine"]


# ---- Dask


@NO_DASK
def test_a_killed_worker_of_dask_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    for name, job in killed_workers.jobs(tmp_path, 4, 100, 800_000, 20_000, 5_000).items():
        alone = job(None)
        for _ in range(20):  # a short job may be done before a worker is seen at work
            with cluster.one_killed() as killed:
                assert job(cluster.client.get_executor(retries=3)) == alone, name
            if killed:
                break
        assert killed, name


@NO_DASK
def test_a_killed_scheduler_is_told_and_the_rest_is_done_later(
    files: tuple[str, list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "_PATIENCE", 1.0)
    monkeypatch.setattr("amble.evaluation.simulated_distributions._MOST", 1 << 14)
    kept = tmp_path / "kept"
    command = [
        "distribution",
        "--gains",
        "1,0,0,1,0,1",
        "-m",
        "PH(p=.5,q=.45)",
        "--users",
        "1000000",
        "--format",
        "json",
    ]
    assert main(command) == 0
    alone = capsys.readouterr().out
    cluster = killed_workers.Cluster(tmp_path, workers=1)

    def kill() -> None:
        deadline = time.monotonic() + 60
        while not list(kept.glob("*.piece")) and time.monotonic() < deadline:
            time.sleep(0.002)
        cluster.scheduler.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        code = main([*command, "--cluster", cluster.address, "--checkpoint", str(kept)])
    finally:
        killer.join()
        cluster.close()
    out, told = capsys.readouterr()
    assert (code, out) == (4, "")
    assert told.startswith(f"amble: {cluster.address}: no Dask scheduler answers: ")
    assert told.count("\n") == 1
    done = len(list(kept.glob("*.piece")))
    assert 0 < done < 63  # 1,000,000 / 16,384 pieces, and one of reading
    assert main([*command, "--checkpoint", str(kept)]) == 0
    assert capsys.readouterr().out == alone


# ---- shards of logs


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """A log, and the same in three files, a session in one of them."""
    pytest.importorskip("duckdb")
    folder, rng = tmp_path_factory.mktemp("log"), np.random.default_rng(3)
    lines: list[list[str]] = [[], [], []]
    for session in range(200):
        time = 0.0
        own = [f"{session}\t0\tQ\t1\t0\ta\tb\tc\td\n"]
        for doc in rng.choice(list("abcd"[: 2 + session % 3]), rng.integers(1, 5)).tolist():
            time += round(float(rng.exponential(20)), 3)
            own.append(f"{session}\t{time!r}\tC\t{doc}\n")
        lines[session % 3] += own
    paths = [folder / f"{i}.tsv" for i in range(3)]
    for path, some in zip(paths, lines, strict=True):
        path.write_text("".join(some))
    whole = folder / "whole.tsv"
    whole.write_text("".join(line for some in lines for line in some))
    return str(whole), [str(path) for path in paths]


def same_counts(one: Any, two: Any) -> bool:
    return all(
        getattr(one, name).tobytes() == getattr(two, name).tobytes()
        for name in ("pages", "moves", "extremes", "clicked", "dwell", "dwell_censored", "steps")
    ) and (one.facts, one.depth) == (two.facts, two.depth)


def test_counts_of_shards_add_up(
    shards: tuple[str, list[str]], processes: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from amble.logs import read_log
    from amble.logs.shards import merge_counts, read_counts, write_counts

    whole = read_log(shards[0])
    assert whole.facts.sessions == 200
    assert same_counts(read_log(shards[1], executor=processes), whole)
    parts = []
    for i, path in enumerate(shards[1]):
        gaps: list[Any] = []
        counts = read_log(path, gaps=gaps)
        write_counts(tmp_path / f"{i}.counts", counts, gaps[0])
        parts.append(read_counts(tmp_path / f"{i}.counts"))
        assert same_counts(parts[-1][0], counts)
    assert same_counts(merge_counts(parts), whole)
    # with more distinct gaps than are told one by one, a second pass counts those of the ranges with the quartiles
    monkeypatch.setattr("amble.logs.counts.gap_counts.__defaults__", ((), "next > 0", 2))
    passes = []
    monkeypatch.setattr("amble.logs.reading.quartile_ranges", lambda gaps: passes.append(gaps) or _ranges(gaps))
    assert same_counts(read_log(shards[1], executor=Workers()), whole)
    assert passes


def _ranges(gaps: Any) -> tuple[int, ...]:
    from amble.logs.shards import quartile_ranges

    return quartile_ranges(gaps)


def test_quartiles_by_hand() -> None:
    from amble.logs.counts import GapCounts
    from amble.logs.shards import _quartiles, add_gaps

    one = GapCounts(np.array([1.0, 4.0]), np.array([1, 2]))
    two = GapCounts(np.array([2.0, 4.0, 8.0]), np.array([1, 1, 2]))
    # 1 2 4 4 4 8 8: the values at places 8/4 = 2, 4 and 6, counted from 1
    assert _quartiles(add_gaps([one, two])) == (2.0, 4.0, 8.0)


def test_shards_of_a_command(shards: tuple[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit = ["fit", "--model", "walk", "--rounds", "20", "--quiet"]
    assert main([*fit, shards[0]]) == 0
    alone = capsys.readouterr().out
    assert main([*fit, *shards[1], "--checkpoint", str(tmp_path / "kept")]) == 0
    assert capsys.readouterr().out == alone
    files = [str(tmp_path / f"{i}.counts") for i in range(3)]
    for shard, file in zip(shards[1], files, strict=True):
        assert main(["fit", shard, "--save-counts", file, "--quiet"]) == 0
    assert main([*fit, "--merge", *files]) == 0
    assert capsys.readouterr().out == alone
    assert main([*fit, "--merge", *files, os.path.join(tmp_path, ".", "0.counts")]) == 2
    assert capsys.readouterr().err.endswith("0.counts: given twice\n")
    assert main([*fit, "--merge", *files, "-o", str(tmp_path / "fit.toml")]) == 0
    assert 'layout = "counts"' in (tmp_path / "fit.toml").read_text()
    capsys.readouterr()
    assert main([*fit, "--merge", shards[0]]) == 2
    assert "not a file of counts, expected one that amble fit --save-counts wrote" in capsys.readouterr().err
    assert main([*fit, shards[0], "--save-counts", files[0], "--workers", "2"]) == 2
    bad = tmp_path / "bad.tsv"
    bad.write_text("1\t0\tX\n")
    capsys.readouterr()
    assert main([*fit, *shards[1], str(bad), "--checkpoint", str(tmp_path / "kept")]) == 2
    assert f"amble: {bad}:1: " in capsys.readouterr().err


# ---- checkpoints


def _noted(folder: FilePath, item: int) -> tuple[int, np.ndarray]:
    Path(os.path.dirname(folder), f"called-{item}").touch()
    return item, np.arange(item)


def test_a_checkpoint_has_what_was_finished(tmp_path: Path) -> None:
    data, kept = tmp_path / "data", tmp_path / "kept"
    data.write_text("one")
    workers = Workers(checkpoint=kept)

    def called(path: Path = data) -> list[str]:
        for old in tmp_path.glob("called-*"):
            old.unlink()
        assert [(i, len(x)) for i, x in spread(_noted, FilePath(path), range(4), workers)] == [(i, i) for i in range(4)]
        return sorted(found.name for found in tmp_path.glob("called-*"))

    every = [f"called-{i}" for i in range(4)]
    some = spread(_noted, FilePath(data), range(4), workers)
    next(some), next(some)
    some.close()  # type: ignore[attr-defined]
    assert len(list(kept.iterdir())) == 2
    assert called() == every[2:]
    assert called() == []
    moved = tmp_path / "moved"
    moved.write_text("one")
    assert called(moved) == []  # the content is the key
    data.write_text("two")
    assert called() == every
    assert called() == []
    for path in kept.iterdir():
        path.write_bytes(path.read_bytes()[:-1])  # damaged
    assert called() == every
    assert called() == []
    assert not list(kept.glob(".*"))


def test_pieces_of_another_make_are_refused(tmp_path: Path) -> None:
    import hashlib

    workers = Workers(checkpoint=tmp_path)
    assert list(spread(_square, 0, [3], workers)) == [9]
    data = pickle.dumps(os.getcwd)  # a function that would be found by name
    (piece,) = tmp_path.iterdir()
    piece.write_bytes(hashlib.sha256(data).digest() + data)
    with pytest.raises(amble.AmbleError, match="the checkpoint has a piece that amble does not make: posix.getcwd"):
        list(spread(_square, 0, [3], workers))
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(amble.AmbleError, match=r"file: File exists, expected a folder for the checkpoint"):
        Workers(checkpoint=blocked)


def _square(_: object, item: int) -> int:
    return item * item


def test_code_of_your_own_has_no_key(tmp_path: Path) -> None:
    with pytest.raises(amble.AmbleError, match=r"checkpoint: .*<lambda> is code of your own, and no key tells"):
        list(spread(_sent_function, lambda x: x, [1], Workers(checkpoint=tmp_path)))


# ---- the command line


def test_commands_take_workers(
    files: tuple[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, runs = files
    for command in (
        ["eval", qrels, *runs, "-q"],
        ["meta", "swaps", qrels, *runs, "-m", "AP RR", "--rounds", "5"],
        ["distribution", qrels, *runs, "-m", "PH"],
    ):
        assert main(command) == 0
        alone = capsys.readouterr()
        assert main([*command, "--checkpoint", str(tmp_path)]) == 0
        assert capsys.readouterr() == alone
    assert list(tmp_path.glob("*.piece"))
    assert main(["eval", qrels, *runs, "--workers", "2", "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert capsys.readouterr().err == "amble: --workers and --cluster: expected one of them\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for another process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_stopped_leaves_nothing_and_can_go_on(number: int, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    command = [sys.executable, "-m", "amble", "distribution", "--gains", "1,0,0,1,0,1", "--users", "90000000"]
    command += ["-m", "PH(p=.5,q=.4)", "--workers", "2", "--checkpoint", str(kept)]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    while job.poll() is None and len(list(kept.glob("*.piece"))) < 3:
        time.sleep(0.005)
    job.send_signal(number)
    out, told = job.communicate(timeout=300)  # which is when the last of its processes has closed its output
    assert (job.returncode, out) == ((130, b"") if number == signal.SIGINT else (-9, b""))
    if number == signal.SIGINT:
        assert told == b"amble: stopped\n"
        assert not list(kept.glob(".*"))
    assert 3 <= len(list(kept.glob("*.piece"))) < 345  # 90,000,000 / 262,144 pieces, and one of reading
    for path in kept.glob("*.piece"):
        assert len(path.read_bytes()) > 32


PROGRAM = """
import multiprocessing, signal
from amble import parallel
def blocked(): return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
if __name__ == "__main__":
    with parallel.processes(1, spared={spared}) as pool:
        print(pool.submit(len, "x").result(), blocked())
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        print(pool.apply(blocked))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no masks of signals on this system")
@pytest.mark.parametrize("spared", [True, False])
def test_ctrl_c_comes_to_a_command_alone_and_to_a_programs_own_processes(spared: bool, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(spared=spared))
    # of one server, so that what this process hears, those that it forked before hear, too
    assert subprocess.check_output([sys.executable, program], text=True) == f"1 False\n{spared}\n"


def test_a_command_spares_its_workers() -> None:
    made = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            options, "processes", lambda count, **how: made.append((count, how)) or parallel.processes(count)
        )
        assert main(["distribution", "--gains", "1,0,1", "--users", "10", "-m", "PH", "--workers", "1", "--quiet"]) == 0
    assert made == [(1, {"spared": True})]


def half_a_result() -> None:
    """Write the beginning of a message of a megabyte to the pool, as a process that is killed while it answers."""
    writer = sys._getframe(1).f_locals["result_queue"]._writer
    os.write(writer.fileno(), struct.pack("!i", 1 << 20) + b"half")
    time.sleep(60)


def test_half_a_result_keeps_nobody_waiting() -> None:
    pool = parallel.processes(1)
    pool.submit(half_a_result)
    reader, deadline = pool._executor_manager_thread, time.monotonic() + 20

    def receives() -> bool:
        return any(frame.name == "recv" for frame in traceback.extract_stack(sys._current_frames()[reader.ident]))

    while not (begun := receives()) and time.monotonic() < deadline:
        time.sleep(0.005)
    parallel._end(pool, at_once=True)
    assert begun
    reader.join(20)
    assert not reader.is_alive()


# ---- many distinct scores


def test_rounding_is_part_of_the_band(monkeypatch: pytest.MonkeyPatch) -> None:
    # 1 % of users have 1/3, which is no multiple of the grid, and is kept; the others have scores of their own
    monkeypatch.setattr("amble.users.simulation._MOST_ATOMS", 1 << 12)
    monkeypatch.setattr("amble.users.simulation._BATCH", 1 << 10)
    rng, counts = np.random.default_rng(5), ScoreCounts()
    scores = rng.random(30_000)
    scores[::100] = 1 / 3
    for part in np.array_split(scores, 7):
        counts.add(part, part, np.ones(part.size), np.ones(part.size))
    found = counts.distribution(scores.size, 0)
    assert found.values.size <= 1 << 12
    assert found.probs[found.values == 1 / 3] == pytest.approx(0.01)
    at = np.sort(scores)
    off = np.abs(found.cdf(at) - np.searchsorted(np.sort(scores), at, side="right") / scores.size).max()
    assert 0 < off <= found.rounding < 2e-3  # some 15 users in each of 2,048 cells
    plain = np.sqrt(np.log(2 / 0.05) / (2 * scores.size))  # Dvoretzky, Kiefer, Wolfowitz; Massart
    assert found.band == pytest.approx(plain + found.rounding, rel=1e-12)
    half = amble.Distribution.mixture([found, amble.Distribution([0.5], [1.0])])
    assert half.rounding == found.rounding / 2


def test_a_simulation_does_not_depend_on_threads() -> None:
    found = [amble.simulate("PH(loss=.25)", GRADES, users=300_000, seed=2, threads=threads) for threads in (1, 3)]
    assert found[0].order2 == found[1].order2
    assert found[0].order2_error == found[1].order2_error
