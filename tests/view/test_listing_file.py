"""Listing files on disk."""

import os
from pathlib import Path

import pytest

from fxdap.view.listing import Listing
from fxdap.view.listing_file import write_listing

LISTING = Listing(text="# net\n  %x = placeholder\n", lines={"x": 2})


def test_a_listing_goes_into_the_workspace_and_is_ignored_by_git(tmp_path: Path):
    path = write_listing(LISTING, "net", tmp_path)
    assert path == tmp_path / ".fxdap" / "graphs" / "net.fxgraph"
    assert path.read_bytes() == b"# net\n  %x = placeholder\n"
    assert (tmp_path / ".fxdap" / ".gitignore").read_text() == "*\n"
    assert sorted(file.name for file in path.parent.iterdir()) == ["net.fxgraph"]


def test_an_unchanged_listing_is_not_written_again(tmp_path: Path):
    path = write_listing(LISTING, "net", tmp_path)
    os.utime(path, (1, 1))
    write_listing(LISTING, "net", tmp_path)
    assert path.stat().st_mtime == 1
    write_listing(Listing(text="# other\n", lines={}), "net", tmp_path)
    assert path.read_text() == "# other\n"


def test_without_a_workspace_it_goes_into_the_users_cache(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    path = write_listing(LISTING, "net", None)
    assert path == tmp_path / "fxdap" / "graphs" / "net.fxgraph"


def test_a_workspace_that_cannot_be_written_falls_back_to_the_cache(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    workspace = tmp_path / "file"
    workspace.write_text("not a folder")
    path = write_listing(LISTING, "net", workspace)
    assert path == tmp_path / "cache" / "fxdap" / "graphs" / "net.fxgraph"


@pytest.mark.parametrize("name", ["a/b", "../up", "", "..", "two words", "x" * 300, "tab\t"])
def test_any_graph_name_gives_a_file_of_its_own_in_the_folder(tmp_path: Path, name):
    path = write_listing(LISTING, name, tmp_path)
    assert path.parent == tmp_path / ".fxdap" / "graphs"
    assert len(path.name) < 150
    assert path == write_listing(LISTING, name, tmp_path)
    assert path.stem not in ("a_b", "two_words", "graph")


def test_text_that_is_no_unicode_is_written_escaped(tmp_path: Path):
    path = write_listing(Listing(text="# \udc80\n", lines={}), "net", tmp_path)
    assert path.read_bytes() == b"# \\udc80\n"
