"""Tables that are made from the code, so that they cannot fall behind it.

``{settings-table}`` lists `sparse_tir.config.SETTINGS`, ``{pipeline-table}`` lists `sparse_tir.transform.PIPELINE`,
``{command-help}`` shows the help of every command. ``{pages}`` is a toctree of the pages that match.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.directives.other import TocTree
from sphinx.environment import BuildEnvironment
from sphinx.util import docname_join
from sphinx.util.docutils import SphinxDirective
from sphinx.util.matching import patfilter


class _Table(SphinxDirective):
    """A Markdown table; subclasses give its rows."""

    head: Sequence[str]

    def rows(self) -> Iterable[Sequence[str]]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        lines = [self.head, ["---"] * len(self.head), *self.rows()]
        text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return self.parse_text_to_nodes(text)


class SettingsTable(_Table):
    """The settings: their variables, their defaults, what they mean."""

    head = ("variable", "default", "meaning")

    def rows(self) -> Iterable[Sequence[str]]:
        from sparse_tir.config import SETTINGS

        for setting in SETTINGS:
            default = "not set" if setting.default is None else f"`{setting.default}`"
            yield f"`{setting.variable}`", default, setting.meaning


class PipelineTable(_Table):
    """The steps of the lowering, in their order."""

    head = ("pass", "towards", "what it does")

    def rows(self) -> Iterable[Sequence[str]]:
        from sparse_tir.transform import PIPELINE

        for step in PIPELINE:
            what = " ".join((step.make.__doc__ or "").split())
            yield f"`{step.name}`", f'`"{step.towards}"`', what


#: As many columns as a page has.
_WIDTH: dict[str, Any] = {"terminal_width": 88, "max_content_width": 88}


class CommandHelp(SphinxDirective):
    """What ``sparse-tir --help`` and the help of its commands say."""

    def run(self) -> list[nodes.Node]:
        from sparse_tir.cli import main

        group = click.Context(main, info_name="sparse-tir", **(main.context_settings | _WIDTH))
        result = self._section(group)
        for name, command in main.commands.items():
            result += self._section(click.Context(command, group, info_name=name, **_WIDTH))
        return result

    def _section(self, context: click.Context) -> list[nodes.Node]:
        title, text = context.command_path, context.get_help()
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        section += [nodes.title(text=title), nodes.literal_block(text, text, language="text")]
        return [section]


class Pages(TocTree):
    """A toctree with patterns, of which some may match nothing."""

    def run(self) -> list[nodes.Node]:
        here = self.env.current_document.docname
        others = self.env.found_docs - {here}
        matching = [line for line in self.content if patfilter(others, docname_join(here, line.strip()))]
        self.content, self.options["glob"] = StringList(matching, here), True
        return super().run()


#: Where the reference lists classes: not where they are defined, but where users import them from.
_HOMES = ("sparse_tir", "sparse_tir.runtime", "sparse_tir.tuning", "sparse_tir.ir")


def _find_public(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement) -> Any:
    """Annotations name `sparse_tir.runtime.matrix.SparseMatrix`, which is documented as `sparse_tir.SparseMatrix`."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target.startswith("sparse_tir."):
        return None
    objects, name = env.domains["py"].data["objects"], target.rpartition(".")[2]
    public = next((f"{home}.{name}" for home in _HOMES if f"{home}.{name}" in objects), None)
    if public in (None, target):
        return None
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", public, node, content)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("settings-table", SettingsTable)
    app.add_directive("pipeline-table", PipelineTable)
    app.add_directive("command-help", CommandHelp)
    app.add_directive("pages", Pages)
    app.connect("missing-reference", _find_public)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
