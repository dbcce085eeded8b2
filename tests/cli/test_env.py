"""`sparse-tir env`."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
import tvm

import sparse_tir
from sparse_tir import config, errors


def test_json_tells_versions_processor_compiler_and_settings(call_json):
    found = call_json("env")
    assert set(found) == {"versions", "cpu", "compiler", "settings"}
    versions = found["versions"]
    assert set(versions) == {"sparse_tir", "tvm", "tvm_ffi", "numpy", "scipy", "xgboost", "python"}
    assert versions["sparse_tir"] == sparse_tir.__version__
    assert (versions["numpy"], versions["scipy"]) == (np.__version__, scipy.__version__)
    assert versions["tvm"].startswith(tvm.__version__.split("+")[0])
    assert found["cpu"]["cores"] >= 1
    assert found["cpu"]["llvm_name"]
    assert isinstance(found["cpu"]["vectors"], list)


def test_settings_show_what_the_environment_says(call_json, monkeypatch):
    monkeypatch.setenv("TVM_NUM_THREADS", "3")
    monkeypatch.delenv("SPARSE_TIR_WORK_DIR", raising=False)
    settings = call_json("env")["settings"]
    assert {name: entry["variable"] for name, entry in settings.items()} == {
        setting.name: setting.variable for setting in config.SETTINGS
    }
    assert settings["num_threads"]["value"] == "3"
    assert settings["work_dir"]["value"] == "work-dir"


def test_the_plain_form_names_every_entry(call, call_json):
    text = call("env").stdout
    for entries in call_json("env").values():
        assert all(name in text for name in entries)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_setting_that_cannot_be_read_is_named(monkeypatch, text):
    monkeypatch.setenv("TVM_NUM_THREADS", text)
    with pytest.raises(errors.TuningError, match=r"ST604\] \$TVM_NUM_THREADS"):
        config.NUM_THREADS.value()


def test_an_empty_setting_is_a_missing_one(monkeypatch):
    monkeypatch.setenv("TVM_NUM_THREADS", "")
    assert config.NUM_THREADS.value() is None
