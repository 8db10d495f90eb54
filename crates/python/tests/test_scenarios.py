"""Scenarios as objects: their fields, their defaults, and what is refused."""

from __future__ import annotations

import copy
import inspect
import pathlib
import pickle

import numpy as np
import pytest
import warmcore as wc
from warmcore import _native
from warmcore._document import PARTS

REPOSITORY = pathlib.Path(__file__).parents[3]
EXAMPLES = REPOSITORY / "crates/cli/src/simulate"


def refused(make: object) -> wc.ScenarioError:
    with pytest.raises(wc.ScenarioError) as caught:
        make()  # type: ignore[operator]
    return caught.value


def test_fields_that_are_not_given_are_at_the_defaults_of_the_command_line() -> None:
    scenario = wc.PacketScenario()
    assert (scenario.processors, scenario.seed, scenario.stacks) == (8, 1, "per-processor")
    assert scenario.scheduling.policy == wc.Scheduling().policy
    assert scenario.rate_per_s is None
    assert scenario.live.port == 9000


def test_a_scenario_survives_toml_pickling_and_copying() -> None:
    scenario = wc.PacketScenario(
        rate_per_s=40_000, stacks=4, traffic=wc.Traffic(streams=100, sizes=[wc.Size(bytes=64, weight=1.0)])
    )
    for other in (
        wc.PacketScenario.from_toml(scenario.to_toml()),
        wc.Scenario.from_toml(scenario.to_toml()),
        wc.PacketScenario.from_dict(scenario.to_dict()),
        pickle.loads(pickle.dumps(scenario)),
        copy.deepcopy(scenario),
        scenario.replace(),
    ):
        assert other == scenario and hash(other) == hash(scenario) and other is not scenario
    assert scenario.traffic.sizes[0].bytes == 64


def test_the_kind_is_found_by_the_tables() -> None:
    assert isinstance(wc.Scenario.from_toml(EXAMPLES / "example.toml"), wc.RunQueueScenario)
    assert isinstance(wc.Scenario.from_toml(EXAMPLES / "cluster.toml"), wc.ClusterScenario)
    assert isinstance(wc.Scenario.from_toml("seed = 3"), wc.PacketScenario)
    error = refused(lambda: wc.RunQueueScenario.from_toml(EXAMPLES / "cluster.toml"))
    assert error.field in {"device", "program"}


def test_files_are_relative_to_the_folder_of_the_document(tmp_path: pathlib.Path) -> None:
    document = tmp_path / "point.toml"
    document.write_text('profile = "mine.toml"\n')
    assert wc.PacketScenario.from_toml(document).profile == str(tmp_path / "mine.toml")


def test_parts_may_be_given_as_objects_or_tables() -> None:
    one = wc.PacketScenario(scheduling=wc.Scheduling(policy="mru"))
    other = wc.PacketScenario(scheduling={"policy": "mru"})
    assert one == other and one != wc.PacketScenario()
    assert one.replace({"scheduling.policy": "lru"}).scheduling.policy == "lru"
    assert one.replace({"scheduling.policy": None}) == wc.PacketScenario()


def test_numbers_of_numpy_are_numbers() -> None:
    scenario = wc.PacketScenario(processors=np.int64(4), rate_per_s=np.float32(1000))
    assert (scenario.processors, scenario.rate_per_s) == (4, 1000.0)


@pytest.mark.parametrize(
    ("fields", "field", "told"),
    [
        ({"procesors": 3}, "procesors", "did you mean `processors`?"),
        ({"processors": "x"}, "processors", "expected a whole number from 0 to 4294967295"),
        ({"processors": 1.5}, "processors", "expected a whole number"),
        ({"processors": 0}, "processors", "expected between 1 and 4096"),
        ({"processors": True}, "processors", "expected a whole number"),
        ({"scheduling": {"polcy": "mru"}}, "scheduling.polcy", "did you mean `scheduling.policy`?"),
        ({"scheduling": {"policy": "mur"}}, "scheduling.policy", "did you mean `mru`?"),
        ({"traffic": {"streams": -1}}, "traffic.streams", "expected a whole number"),
        ({"traffic": {"process": {"trains": {"cars": 8, "gap": 40}}}}, "traffic.process.trains.gap", "did you mean"),
        ({"traffic": 3}, "traffic", "expected a table"),
        ({"traffic": [3]}, "traffic", "expected a table of named fields"),
        ({"rate_per_s": float("nan")}, "rate_per_s", "expected a finite number"),
        ({"rate_per_s": [1.0, 2.0]}, "rate_per_s", "expected a number"),
        ({"rate_per_s": np.array([1.0, 2.0])}, "rate_per_s", "expected a number"),
        ({"effects": {"send_path": object()}}, "effects.send_path", "of type object"),
        ({"stacks": "per-steam"}, "stacks", '"per-stream"'),
    ],
)
def test_what_cannot_be_is_refused_with_its_field(fields: dict[str, object], field: str, told: str) -> None:
    error = refused(lambda: wc.PacketScenario(**fields))
    assert error.field == field
    assert told in str(error) and field in str(error)
    assert isinstance(error, ValueError) and isinstance(error, wc.Error)
    restored = pickle.loads(pickle.dumps(error))
    assert (str(restored), restored.field, restored.expected) == (str(error), error.field, error.expected)


def test_a_document_is_refused_with_line_and_field() -> None:
    error = refused(lambda: wc.PacketScenario.from_toml('seed = 3\n[scheduling]\npolcy = "mru"'))
    assert error.field == "scheduling.polcy"
    assert ":3:" in str(error) and "did you mean `scheduling.policy`?" in str(error)
    error = refused(lambda: wc.PacketScenario.from_toml("processors = 0"))
    assert error.field == "processors" and ":1:" in str(error)
    assert "No such file" in str(refused(lambda: wc.PacketScenario.from_toml("missing.toml")))


def test_a_scenario_never_changes() -> None:
    scenario = wc.PacketScenario()
    with pytest.raises(AttributeError, match="replace"):
        scenario.seed = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="did you mean `processors`"):
        scenario.procesors  # noqa: B018
    fields = scenario.to_dict()
    fields["seed"] = 9
    assert scenario.seed == 1


def test_every_part_is_known_to_the_native_reader_and_has_its_fields() -> None:
    given = {
        "Application": wc.Application(name="a", processes=1),
        "Batch": wc.Batch(mean=2.0),
        "Jobs": wc.Jobs(count=1),
        "Size": wc.Size(bytes=64, weight=1.0),
        "References": wc.References(per_us=1.0, parts=[wc.MemoryPart(kib=1.0, share=1.0)]),
        "MemoryPart": wc.MemoryPart(kib=1.0, share=1.0),
    }
    for name, part in PARTS.items():
        try:
            made = given[name] if name in given else part()
        except wc.ScenarioError as error:
            # Those that cannot be without some field say which.
            assert error.found == "missing", f"{name}: {error}"
            continue
        assert set(made.to_dict()) <= set(part._names), name
        assert inspect.signature(part).parameters, name


def test_what_a_document_leaves_out_is_at_its_default() -> None:
    for whole in (wc.PacketScenario(), wc.Traffic(), wc.Application(name="a", processes=1)):
        names = {name for name, value in type(whole)._left_out.items() if value != {}}
        same = whole.replace({name: getattr(whole, name) for name in names})
        assert same == whole, type(whole).__name__


def test_objects_show_themselves() -> None:
    scenario = wc.PacketScenario(rate_per_s=40_000, scheduling=wc.Scheduling(policy="mru"))
    assert repr(scenario) == "PacketScenario(rate_per_s=40000.0, scheduling=Scheduling(policy='mru'))"
    assert eval(repr(scenario), {**vars(wc)}) == scenario
    assert "<b>mru</b>" in scenario._repr_html_() and "<b>8</b>" not in scenario._repr_html_()
    hostile = wc.RunQueueScenario.from_toml(EXAMPLES / "example.toml").replace(name="<script>")
    assert "<script>" not in hostile._repr_html_()
    assert "processors" in inspect.signature(wc.PacketScenario).parameters
    assert (wc.PacketScenario.processors.__doc__ or "").startswith("The number of processors")


def test_the_native_reader_knows_no_other_part() -> None:
    with pytest.raises(RuntimeError, match="no part"):
        _native.part("Nothing", "{}")


def test_tables_within_a_scenario_never_change() -> None:
    scenario = wc.PacketScenario(traffic=wc.Traffic(popularity={"zipf": 1.0}))
    popularity = scenario.traffic.popularity
    assert popularity == {"zipf": 1.0} and repr(popularity) == "{'zipf': 1.0}"
    with pytest.raises(AttributeError, match="replace"):
        popularity.update(zipf=5.0)  # type: ignore[union-attr, attr-defined]
    with pytest.raises(AttributeError, match="replace"):
        popularity["zipf"] = 5.0  # type: ignore[index]
    assert scenario.replace() == scenario and copy.deepcopy(popularity) == pickle.loads(pickle.dumps(popularity)) == popularity
    assert wc.PacketScenario(traffic=wc.Traffic(popularity=popularity)) == scenario


def test_help_says_what_a_scenario_is_and_its_defaults() -> None:
    text = inspect.getdoc(wc.PacketScenario) or ""
    assert text.startswith("Packets on the processors of one host") and "processors (default 8)" in text
    signature = str(inspect.signature(wc.PacketScenario))
    assert "processors: 'int' = 8" in signature and "scheduling: 'Scheduling' = Scheduling()" in signature
    assert all("document of one" not in (inspect.getdoc(kind) or "") for kind in (wc.RunQueueScenario, wc.ClusterScenario))
