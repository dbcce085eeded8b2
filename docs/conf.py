"""The documentation: Sphinx, MyST, furo. ``make docs`` builds it; warnings are errors."""

from __future__ import annotations

import sys
from pathlib import Path

import sparse_tir

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "sparse_tir"
author = "the sparse_tir developers"
project_copyright = author
release = version = sparse_tir.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sparse_tir_docs"]
exclude_patterns = ["_build", "_ext", "pictures"]
default_role = "literal"  # docstrings quote names with one backtick

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"NDArray": "NDArray"}
napoleon_google_docstring = False
napoleon_use_param = False  # one list of parameters, their types as they are written
napoleon_use_rtype = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
# Classes of other packages, for which no inventory is at hand; names of ours must be found.
nitpick_ignore_regex = [("py:.*", r"(?!sparse_tir).*")]

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = "sparse_tir"
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1d3557", "color-brand-content": "#1f5fae"},
    "dark_css_variables": {"color-brand-primary": "#a8c7ff", "color-brand-content": "#8ab4f8"},
}
