"""The notices of what is linked: they name each crate, and have the texts that licences ask for."""

from __future__ import annotations

from pathlib import Path


def test_the_notices_of_the_daemon_have_the_sentence_and_the_licence_of_libjpeg_turbo(notices: dict[str, str]):
    text = Path(notices["FOREBAY_NOTICES"]).read_text(encoding="utf-8")
    assert "This software is based in part on the work of the Independent JPEG Group." in text
    assert "libjpeg-turbo/LICENSE.md" in text
    assert "libjpeg-turbo/README.ijg" in text


def test_the_notices_of_the_daemon_have_the_licence_and_the_patents_of_libwebp(notices: dict[str, str]):
    text = Path(notices["FOREBAY_NOTICES"]).read_text(encoding="utf-8")
    assert "libwebp/COPYING" in text
    assert "libwebp/PATENTS" in text


def test_the_notices_of_the_daemon_have_the_licence_and_the_patents_of_dav1d(notices: dict[str, str]):
    text = Path(notices["FOREBAY_NOTICES"]).read_text(encoding="utf-8")
    assert "dav1d/COPYING" in text
    assert "dav1d/PATENTS" in text


def test_the_notices_have_what_is_linked_and_nothing_else(notices: dict[str, str]):
    daemon = Path(notices["FOREBAY_NOTICES"]).read_text(encoding="utf-8")
    library = Path(notices["FOREBAY_C_NOTICES"]).read_text(encoding="utf-8")
    assert "\ntokio " in daemon
    # Macros of the compiler are not linked, and nor is what only tests use.
    for absent in ("\nsyn ", "\nproptest ", "\ninsta "):
        assert absent not in daemon
    assert "\nrustix " in library
    assert "\nredb " not in library
    assert "GNU GENERAL PUBLIC LICENSE" not in daemon
