"""Each alert has its section in docs/runbook.md, and alerts and dashboard name what there is. No tools are needed."""

import re

from monitoring import DASHBOARD, ROOT, RULES, metrics_of, queries

RUNBOOK = ROOT / "docs" / "runbook.md"
PARTS = ("**Meaning.**", "**Look at**", "**Do**")


def alerts() -> dict[str, str]:
    """The text of each alert, by its name."""
    parts = re.split(r"^ +- alert: (\w+)$", RULES.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def sections() -> dict[str, str]:
    """The text below each heading of an alert, by the heading."""
    parts = re.split(r"^### (.+)$", RUNBOOK.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def test_each_alert_has_a_section_and_each_section_an_alert():
    assert len(alerts()) > 10
    assert sorted(alerts()) == sorted(sections())


def test_each_section_says_what_it_means_what_to_look_at_and_what_to_do():
    for name, text in sections().items():
        places = [text.find(part) for part in PARTS]
        assert -1 not in places, f"{name} lacks one of {PARTS}"
        assert places == sorted(places), name


def test_each_alert_names_its_section():
    for name, text in alerts().items():
        assert f'/docs/runbook.md#{name.lower()}"' in text, name
        assert re.search(r"severity: (page|warning|info)\n", text), name


def test_each_alert_is_raised_by_a_simulated_fault_and_is_silent_before():
    tests = RULES.with_name("forebay.rules.test.yml").read_text()
    for name in alerts():
        expected = re.findall(rf"alertname: {name}\n +eval_time: \w+\n +exp_alerts:( \[\])?", tests)
        assert "" in expected, f"{name} is raised by no test"
        assert expected.count(" []") >= 2, f"{name} is never silent"


def test_panels_that_the_runbook_names_are_on_the_dashboard():
    titles = {name[:-2] for name in queries()}
    named = re.findall(r'[Pp]anels? "([^"]+)"|and "([^"]+)" show', RUNBOOK.read_text().replace("\n", " "))
    assert len(named) > 4
    assert {first or second for first, second in named} <= titles, f"{named} are not all in {DASHBOARD}"


def test_a_metric_of_the_dashboard_is_one_of_the_table():
    (source,) = ROOT.glob("*/src/metric.rs")
    table = source.read_text()
    shown = set(re.findall(r'"((?:forebay|process)_[a-z_]+)"', table))
    named = metrics_of(DASHBOARD.read_text())
    assert len(named) > 30
    assert named <= shown, named - shown


def test_the_chart_has_the_version_of_the_project():
    version = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    chart = (ROOT / "deploy" / "kubernetes" / "forebay" / "Chart.yaml").read_text()
    assert re.findall(r"^(?:version|appVersion): (.+)$", chart, re.MULTILINE) == [version, version]


def test_the_alerts_of_the_chart_are_these():
    assert (ROOT / "deploy" / "kubernetes" / "forebay" / "files" / RULES.name).read_text() == RULES.read_text()
