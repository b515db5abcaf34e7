"""Installing the extension into the editors on PATH."""

import os
import stat
from pathlib import Path

import pytest

from fxdap.cli import editor, main


@pytest.fixture
def vsix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "fxdap.vsix"
    path.touch()
    monkeypatch.setattr(editor, "_PLACES", (path,))
    return path


def editor_command(folder: Path, name: str, code: int) -> None:
    folder.mkdir(exist_ok=True)
    command = folder / name
    said = f'echo "$0 $*" >> {folder}/calls; echo no room >&2'
    command.write_text(f"#!/bin/sh\n{said}\nexit {code}\n")
    command.chmod(command.stat().st_mode | stat.S_IEXEC)


def test_it_goes_into_every_editor_found(
    vsix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bin_folder = tmp_path / "bin"
    editor_command(bin_folder, "code", 0)
    editor_command(bin_folder, "codium", 0)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    assert main(["vscode"]) == 0
    calls = (bin_folder / "calls").read_text().splitlines()
    assert calls == [
        f"{bin_folder / name} --install-extension {vsix} --force" for name in ("code", "codium")
    ]
    assert capsys.readouterr().out.count("installed the extension into") == 2


def test_an_editor_that_refuses_is_quoted(
    vsix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bin_folder = tmp_path / "bin"
    editor_command(bin_folder, "cursor", 3)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    assert main(["vscode", "--editor", "cursor"]) == 1
    assert "did not take" in (said := capsys.readouterr().err)
    assert "no room" in said


def test_without_an_editor_or_an_extension_it_says_what_to_do(
    vsix: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["vscode"]) == 2
    assert "Install from VSIX" in capsys.readouterr().err
    vsix.unlink()
    assert main(["vscode"]) == 2
    assert "make extension" in capsys.readouterr().err
