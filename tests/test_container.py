"""What the image and the examples for Compose and Kubernetes promise. `.ci/container` runs the image's steps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
KUBERNETES: dict[str, Any] = {
    one["kind"]: one for one in yaml.safe_load_all((ROOT / "docs" / "kubernetes.yaml").read_text("utf-8"))
}
HOME, ID, PORT = "/home/daybook", 10001, 8765
SHUTDOWN_S = 30
"""Within which a gateway ends (SPEC 10.6)."""


def line(word: str) -> str:
    """What the stage that stays says last with this word."""
    return re.findall(rf"^{word} (.+)$", DOCKERFILE.rpartition("\nFROM ")[2], re.MULTILINE)[-1]


def test_the_image_is_made_in_two_stages_and_starts_as_a_user() -> None:
    assert len(re.findall(r"^FROM python:3\.\d+-slim( AS build)?$", DOCKERFILE, re.MULTILINE)) == 2
    assert line("USER") == f"{ID}:{ID}" and f"ID={ID}\n" in (ROOT / ".ci" / "image").read_text("utf-8")
    assert json.loads(line("VOLUME")) == [HOME] and line("EXPOSE") == str(PORT)
    assert f"127.0.0.1:{PORT}/healthz" in line("HEALTHCHECK")
    installs = re.findall(r"^ +pip .*install .*$", (ROOT / ".ci" / "image").read_text("utf-8"), re.MULTILINE)
    assert len(installs) == 3 and all("--require-hashes" in one for one in installs)


def test_the_build_gets_sources_and_nothing_of_the_person_who_builds() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines
    wanted = {name[1:] for name in lines if name.startswith("!")}
    packages = {"gateway", "channels", "agent", "workspace_template"}
    assert wanted == packages | {".ci/image", "pyproject.toml", "constraints.txt", "README.md", "LICENSE"}
    assert all((ROOT / name).exists() for name in wanted)


def test_compose_confines_the_gateway_and_opens_the_page_to_this_machine_only() -> None:
    gateway = COMPOSE["services"]["gateway"]
    assert gateway["read_only"] is True and gateway["tmpfs"] == ["/tmp"]
    assert gateway["cap_drop"] == ["ALL"] and gateway["security_opt"] == ["no-new-privileges:true"]
    assert gateway["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert gateway["volumes"] == [f"home:{HOME}"] and "home" in COMPOSE["volumes"]
    assert int(gateway["stop_grace_period"].removesuffix("s")) > SHUTDOWN_S
    assert "mem_limit" in gateway and "pids_limit" in gateway


def test_compose_starts_more_only_when_asked() -> None:
    services = COMPOSE["services"]
    assert {name: one.get("profiles") for name, one in services.items()} == {
        "gateway": None,
        "postgres": ["postgres"],
        "searxng": ["searxng"],
    }
    assert services["gateway"]["depends_on"]["postgres"] == {"condition": "service_healthy", "required": False}
    (mounted,) = services["searxng"]["configs"]
    assert "json" in yaml.safe_load(COMPOSE["configs"][mounted["source"]]["content"])["search"]["formats"]
    for one in services.values():
        assert {mount.partition(":")[0] for mount in one.get("volumes", ())} <= COMPOSE["volumes"].keys()


def test_kubernetes_confines_the_gateway() -> None:
    pod = KUBERNETES["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert {pod["securityContext"][name] for name in ("runAsUser", "runAsGroup", "fsGroup")} == {ID}
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"].keys() == {"requests", "limits"}
    assert pod["terminationGracePeriodSeconds"] > SHUTDOWN_S


def test_kubernetes_keeps_the_home_and_asks_for_health() -> None:
    deployment = KUBERNETES["Deployment"]["spec"]
    assert deployment["replicas"] == 1 and deployment["strategy"] == {"type": "Recreate"}
    pod = deployment["template"]["spec"]
    (container,) = pod["containers"]
    volumes = {one["name"]: one for one in pod["volumes"]}
    mounts = {one["mountPath"]: volumes[one["name"]] for one in container["volumeMounts"]}
    assert mounts.keys() == {HOME, "/tmp"} and "emptyDir" in mounts["/tmp"]
    assert mounts[HOME]["persistentVolumeClaim"]["claimName"] == KUBERNETES["PersistentVolumeClaim"]["metadata"]["name"]
    (port,) = container["ports"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"] == {"path": "/healthz", "port": port["name"]}
    (served,) = KUBERNETES["Service"]["spec"]["ports"]
    assert (served["port"], served["targetPort"], port["containerPort"]) == (PORT, port["name"], PORT)
    assert KUBERNETES["Service"]["spec"]["selector"] == deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"]


def test_no_file_holds_a_secret_or_the_name_of_a_registry() -> None:
    assert "Secret" not in KUBERNETES
    values = [value for one in COMPOSE["services"].values() for value in one.get("environment", {}).values()]
    assert [value for value in values if not value.startswith("${") and value != "daybook"] == []
    images = [one["image"] for one in COMPOSE["services"].values()]
    images += [one["image"] for one in KUBERNETES["Deployment"]["spec"]["template"]["spec"]["containers"]]
    images += re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert [image for image in images if "." in image.partition("/")[0] and "/" in image] == []
