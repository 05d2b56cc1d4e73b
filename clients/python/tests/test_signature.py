"""A Loader's settings are written in its signature. The docstring and the daemon must agree with it."""

import inspect
import json
import re
import subprocess
from typing import NamedTuple

import forebay
import pytest
from forebay import loader
from forebay.settings import OF_THE_DAEMON

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

# Settings that say how this trainer attaches. A configuration has no such keys.
OF_THE_TRAINER = {"shard_id", "rank", "world_size", "group", "join", "socket", "wait", "random_shuffle", "writable"}
# Keys that only whoever runs a service can decide on. Its `group` is one of users.
OF_THE_SERVICE = {"fill", "shard_size", "trainers", "credits", "group"}

SIGNATURE = inspect.signature(forebay.Loader).parameters
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


class Key(NamedTuple):
    """A key as `forebay config --example` shows it: its value, and the text above it."""

    value: object
    text: str

    @property
    def is_default(self):
        """As the example's first lines say."""
        return "Required" not in self.text and "Left out" not in self.text


@pytest.fixture(scope="module")
def keys(binary):
    """Keys of the sections [streams.train] and [decode], by name."""
    example = subprocess.run([binary, "config", "--example"], check=True, stdout=subprocess.PIPE, text=True).stdout

    def section(name):
        body = re.search(rf"^(?:# )?\[{re.escape(name)}\]\n(.+?)(?:\n\n|\Z)", example, re.DOTALL | re.MULTILINE)[1]
        found, text, after_key = {}, "", False
        for line in body.splitlines():
            key = re.fullmatch(r"(?:# )?(\w+) = (.+)", line)
            if key:
                found[key[1]] = Key(parsed(key[2]), text)
            else:
                # Keys that follow each other share the text above them.
                text = line if after_key else f"{text} {line}"
            after_key = bool(key)
        return found

    return section("streams.train"), section("decode")


def parsed(value):
    """A value of TOML that JSON has as well; one with inline tables as its text."""
    return value if "{" in value else json.loads(value)


@pytest.fixture(scope="module")
def documented():
    """The docstring's entries, by the name of the setting."""
    arguments = inspect.getdoc(forebay.Loader).split("\nArgs:\n")[1].split("\n\n")[0]
    entries = re.split(r"^    (\w+): ", arguments, flags=re.MULTILINE)
    return {name: " ".join(text.replace("`", "").split()) for name, text in zip(entries[1::2], entries[2::2])}


def quoted(text):
    """Words in quotes."""
    return set(re.findall(r'"([\w:]+)"', text))


def shown(value):
    """A default of the daemon as the docstring writes it."""
    duration = re.fullmatch(r"(\d+)(ms|s|m|h)", value) if isinstance(value, str) else None
    return f"{int(duration[1]) * UNITS[duration[2]]:g} s" if duration else json.dumps(value)


def test_the_signature_is_one_that_editors_can_show():
    kinds = {parameter.kind for name, parameter in SIGNATURE.items() if name != "source"}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in SIGNATURE.values())
    # Editors believe what a decorator's annotations say that it gives.
    decorator = inspect.signature(loader._remember_given)
    assert decorator.return_annotation == decorator.parameters["init"].annotation


def test_the_docstring_has_every_setting_in_the_order_of_the_signature(documented):
    assert list(documented) == list(SIGNATURE)


def test_every_setting_is_a_key_of_the_daemon_and_every_key_is_a_setting(keys):
    stream, decode = keys
    assert set(SIGNATURE) - OF_THE_TRAINER - set(OF_THE_DAEMON) == set(stream) - OF_THE_SERVICE
    assert set(OF_THE_DAEMON) <= set(decode)
    assert set(stream) >= OF_THE_SERVICE


def test_the_daemon_s_defaults_are_the_signature_s_or_the_docstring_names_them(keys, documented):
    stream, decode = keys
    ours = {**stream, **{name: decode[name] for name in OF_THE_DAEMON}}
    for name in set(ours) - OF_THE_SERVICE - {"source"}:
        default = SIGNATURE[name].default
        if ours[name].is_default and default is None:
            assert f"None is {shown(ours[name].value)}" in documented[name], name
        elif ours[name].is_default:
            assert default == ours[name].value, name
        else:
            assert default is None, name
            assert "Required" in ours[name].text or "None " in documented[name], f"{name}: say what None means"


def test_the_docstring_has_the_daemon_s_choices(keys, documented):
    stream, _ = keys
    # One text may be about several keys, such as dtype and layout.
    texts = {key.text: set() for name, key in stream.items() if isinstance(key.value, str) and quoted(key.text)}
    for name in set(stream) - OF_THE_SERVICE:
        if stream[name].text in texts:
            texts[stream[name].text] |= quoted(documented[name])
    assert len(texts) > 5
    for text, choices in texts.items():
        assert choices >= quoted(text), text


def test_rule_26_the_daemon_itself_has_these_defaults(keys, pictures, service):
    stream, _ = keys
    defaults = {name: key.value for name, key in stream.items() if key.is_default and name not in OF_THE_SERVICE}
    in_signature = {name: each.default for name, each in SIGNATURE.items() if each.default not in (None, each.empty)}
    daemon = service(pictures(4), batch_size=4, size=8)
    with forebay.Loader("stream:train", socket=daemon.socket, **{**defaults, **in_signature}) as attached:
        assert attached.next().valid == 4
    for name, value in {**defaults, **in_signature}.items():
        if isinstance(value, bool) and name not in ("stick_to_shard", "pad_last_batch", "mixing_per_batch", "writable"):
            with pytest.raises(forebay.SettingsError, match=f"{name}: is {str(not value).lower()}, but the stream has"):
                forebay.Loader("stream:train", socket=daemon.socket, **{name: not value})
