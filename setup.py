from setuptools import setup

setup(cmake_source_dir=".", options={"bdist_wheel": {"py_limited_api": "cp310"}})
