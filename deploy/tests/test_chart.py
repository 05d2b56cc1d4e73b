"""The Helm chart: what helm, kubernetes-validate and the daemon say of it, and what no pod of it may do."""

import re
import subprocess
from pathlib import Path

import pytest
from certificates import Authority
from chart import CHART, OPERATORS, PLAIN, VALUES, Node, containers, helm, load, one, pods, render, rendered, tools
from monitoring import ROOT, RULES, daemon_binary

NAMES = [path.name.removesuffix("-values.yaml") for path in VALUES]
each_values = pytest.mark.parametrize("values", VALUES, ids=NAMES)


@each_values
def test_helm_finds_nothing_to_say(values):
    done = helm("lint", "--strict", CHART, "--values", values)
    assert done.returncode == 0, done.stdout + done.stderr


@each_values
@pytest.mark.parametrize("version", ["1.28", "1.37"])
def test_every_object_is_valid(values, version, tmp_path):
    texts = re.split(r"^---$", rendered("--values", values), flags=re.MULTILINE)
    for number, text in enumerate(texts):
        if (objects := load(text)) and objects[0]["kind"] not in OPERATORS:
            (tmp_path / f"{number}.yaml").write_text(text)
    files = sorted(tmp_path.iterdir())
    assert len(files) >= 2
    command = [tools() / "kubernetes-validate", "--strict", "-k", version, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("passed for resource") == len(files)


def test_a_field_that_does_not_exist_is_not_valid(tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text(PLAIN.read_text().replace("readOnlyRootFilesystem", "readOnlyRootFileSystem", 1))
    done = subprocess.run([tools() / "kubernetes-validate", "--strict", file], capture_output=True, text=True)
    assert done.returncode != 0


def test_plain_yaml_and_the_alerts_of_the_chart_are_current():
    tools()
    done = subprocess.run(["python3", ROOT / "scripts" / "chart.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@each_values
def test_no_container_has_rights_that_it_does_not_need(values):
    objects = render("--values", values)
    kinds = {each["kind"] for each in objects}
    assert not kinds & {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ServiceAccount"}
    assert pods(objects)
    for name, pod in pods(objects).items():
        spec = pod["spec"]
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["runAsUser"] > 0, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not spec.get("hostNetwork"), name
        assert not spec.get("hostIPC"), name
        for container in containers(pod):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, container["name"]
            assert context["allowPrivilegeEscalation"] is False, container["name"]
            assert context["capabilities"]["drop"] == ["ALL"], container["name"]
            assert "memory" in container["resources"]["limits"], container["name"]
            assert all("hostPort" not in port for port in container.get("ports", []))
            if container["name"] == "prepare-host":
                assert "prepareHost: true" in values.read_text()
                assert context["capabilities"]["add"] == ["CHOWN"]
            else:
                assert "add" not in context["capabilities"], container["name"]
                assert "runAsUser" not in context, container["name"]


def test_nothing_listens_to_the_network_by_default():
    text = rendered()
    assert "0.0.0.0" not in text
    assert "containerPort" not in text
    policy = one(load(text), "NetworkPolicy")
    assert policy["spec"]["ingress"] == policy["spec"]["egress"] == []
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]


@each_values
def test_selectors_select_the_pods_that_they_are_about(values):
    objects = render("--values", values)
    labels = {name: pod["metadata"]["labels"] for name, pod in pods(objects).items()}

    def selected(selector):
        return [name for name, has in labels.items() if selector.items() <= has.items()]

    selectors = []
    for each in objects:
        spec = each.get("spec", {})
        if each["kind"] in ("DaemonSet", "StatefulSet"):
            assert selected(spec["selector"]["matchLabels"]) == [f"{each['kind']} {each['metadata']['name']}"]
        elif each["kind"] == "Service":
            selectors.append(spec["selector"])
        elif each["kind"] == "PodDisruptionBudget":
            selectors.append(spec["selector"]["matchLabels"])
        elif each["kind"] == "NetworkPolicy":
            selectors.append(spec["podSelector"]["matchLabels"])
            peers = [peer for rule in spec["ingress"] for peer in rule.get("from", [])]
            peers += [peer for rule in spec["egress"] for peer in rule.get("to", [])]
            selectors += [peer["podSelector"]["matchLabels"] for peer in peers if "podSelector" in peer]
        elif each["kind"] == "ServiceMonitor":
            services = [other for other in objects if other["kind"] == "Service"]
            wanted = spec["selector"]["matchLabels"].items()
            ports = [other["spec"]["ports"] for other in services if wanted <= other["metadata"]["labels"].items()]
            assert [port["name"] for port in ports[0]].count("metrics") == len(ports) == 1
    for selector in selectors:
        assert len(selected(selector)) == 1, selector


@each_values
def test_what_is_mounted_is_a_volume_and_each_volume_is_mounted(values):
    for name, pod in pods(render("--values", values)).items():
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        volumes |= {"ledgers"} if name.startswith("StatefulSet") else set()
        mounted = {mount["name"] for container in containers(pod) for mount in container["volumeMounts"]}
        assert mounted == volumes, name


@each_values
def test_the_ports_of_policies_are_those_that_containers_listen_at(values):
    objects = render("--values", values)
    for policy in (each for each in objects if each["kind"] == "NetworkPolicy"):
        wanted = policy["spec"]["podSelector"]["matchLabels"].items()
        (pod,) = (pod for pod in pods(objects).values() if wanted <= pod["metadata"]["labels"].items())
        ports = {port["containerPort"] for each in containers(pod) for port in each.get("ports", [])}
        assert {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]} == ports


@pytest.fixture
def node(tmp_path):
    paths = ["/etc/forebay", "/etc/forebay-token", "/etc/forebay-ca", "/etc/forebay-tls", "/run/forebay", "/template"]
    node = Node(tmp_path, [*paths, "/var/lib/forebay", "/var/cache/forebay", "/data", "/datasets"])
    for data in ("/data", "/datasets"):
        command = [daemon_binary(), "sample", node.at(f"{data}/train"), "--count", "4"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    token = node.at("/etc/forebay-token/token")
    token.write_text("a-token-of-this-test\n")
    authority = Authority(tmp_path / "authority")
    certificate, key = authority.sign("node", "node-7.example")
    made = {"ca/ca.crt": authority.ca, "tls/tls.crt": certificate, "tls/tls.key": key}
    for name, file in made.items():
        node.at(f"/etc/forebay-{name}").write_bytes(file.read_bytes())
    for file in (token, node.at("/etc/forebay-tls/tls.key")):
        file.chmod(0o600)
    return node


def configured(objects: list, node: Node) -> Path:
    """The configuration that the daemon of a pod reads, as its init container writes it."""
    text = one(objects, "ConfigMap", "forebay")["data"]["forebay.toml"]
    node.at("/template/forebay.toml").write_text(text)
    for container in one(objects, "DaemonSet")["spec"]["template"]["spec"].get("initContainers", []):
        if container["name"] == "node-name":
            command = [node.here(word) for word in container["command"]]
            subprocess.run(command, check=True, env={"NODE_NAME": "node-7.example", "PATH": "/usr/bin:/bin"})
            text = node.at("/etc/forebay/forebay.toml").read_text()
            assert 'node = "node-7.example"' in text
    assert "@" not in text
    file = node.at("/etc/forebay/forebay.toml")
    file.write_text(node.here(text))
    return file


def checked(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([daemon_binary(), "config", "--check", file], capture_output=True, text=True)


@each_values
def test_the_daemon_finds_no_mistake_in_the_configuration(values, node):
    done = checked(configured(render("--values", values), node))
    assert done.returncode == 0, done.stderr


def test_the_daemon_finds_no_mistake_in_plain_yaml(node):
    assert checked(configured(load(PLAIN.read_text()), node)).returncode == 0


def test_a_mistake_in_the_streams_is_found(node):
    done = checked(configured(render("--set", "daemon.config=[streams.train]\nsauce = 1"), node))
    assert done.returncode == 2
    assert "sauce" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["coordinator.enabled=true"], "set tokenSecret"),
        (["coordinator.enabled=true", "coordinator.tls.clientSecret=x"], "set coordinator.tls.secret"),
        (
            ["coordinator.enabled=true", "coordinator.tokenSecret=x", "coordinator.store=etcd"],
            "name the members of etcd",
        ),
        (["coordinator.enabled=true", "coordinator.tokenSecret=x", "coordinator.etcd.user=x"], "together"),
        (["coordinator.enabled=true", "coordinator.tokenSecret=x", "daemon.stateHostPath=/x"], "no ledgers"),
        (["coordinator.store=redis"], "store"),
        (["daemon.hugepages=1Gi"], "hugetlb"),
        (["daemon.config=[ring]\npages = 'hugetlb'"], "daemon.hugepages"),
        (["daemon.config=[metrics]\naddress = '0.0.0.0:1'"], r"writes the section [metrics]"),
        (["metrics.serviceMonitor.enabled=true"], "set metrics.enabled"),
        (["daemon.prepareHosts=true"], "prepareHosts"),
        (["daemon.memory=4"], "memory"),
        (["trainerGroup=trainers"], "trainerGroup"),
    ],
)
def test_values_that_do_not_fit_are_refused(options, said):
    done = helm("template", "forebay", CHART, *(word for option in options for word in ("--set", option)))
    assert done.returncode != 0
    assert said in done.stderr


def test_the_operator_of_prometheus_gets_the_alerts():
    (rules,) = load(RULES.read_text())
    assert one(render("--values", CHART / "ci" / "single-values.yaml"), "PrometheusRule")["spec"] == rules


def test_the_alert_on_volumes_is_about_the_claims_of_coordinators():
    pattern = re.search(r'persistentvolumeclaim=~"([^"]+)"', RULES.read_text())[1]
    for release in ("forebay", "loader"):
        done = helm("template", release, CHART, "--values", CHART / "ci" / "single-values.yaml")
        coordinators = one(load(done.stdout), "StatefulSet")
        (claim,) = coordinators["spec"]["volumeClaimTemplates"]
        assert re.fullmatch(pattern, f"{claim['metadata']['name']}-{coordinators['metadata']['name']}-0")
    assert not re.fullmatch(pattern, "data-forebay-coordinator-0")


def test_names_follow_the_release():
    done = helm("template", "loader", CHART, "--values", CHART / "ci" / "single-values.yaml")
    objects = load(done.stdout)
    assert one(objects, "DaemonSet")["metadata"]["name"] == "loader-forebay"
    endpoint = 'endpoint = "http://loader-forebay-coordinator-0.loader-forebay-coordinator.default.svc:7171"'
    assert endpoint in one(objects, "ConfigMap", "forebay")["data"]["forebay.toml"]


def test_each_value_is_in_the_document():
    page = (ROOT / "docs" / "kubernetes.md").read_text()

    def keys(values, path=""):
        for key, value in values.items():
            if isinstance(value, dict) and value and key not in ("metricsFrom",):
                yield from keys(value, f"{path}{key}.")
            else:
                yield f"{path}{key}"

    (values,) = load((CHART / "values.yaml").read_text())
    missing = [key for key in keys(values) if f"`{key}`" not in page]
    assert not missing, missing
