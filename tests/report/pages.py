"""A page taken apart, and reports to render."""

from __future__ import annotations

from html.parser import HTMLParser

from sparse_tir.report import Candidate, Matrix, Report, Session, Timing, Winner

VOID = {"meta", "link", "img", "br", "hr", "input", "path", "use", "stop", "line", "rect", "circle"}
INLINE = {"code", "data"}
#: What makes a browser ask for another file.
REFERENCES = {"src", "href", "xlink:href", "srcset", "data", "action", "poster"}


class Page(HTMLParser):
    """The tags of a page, its text, the values of its ``<data>`` elements by table row, its ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.references: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.values: dict[str, list[float]] = {}
        self._open: list[str] = []
        self._row = ""
        self.feed(text)
        self.close()
        assert self._open == [], "tags are not closed"

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.add(tag)
        self.text += "" if tag in INLINE else " "
        self.references += [found[name] for name in REFERENCES & found.keys()]
        self.ids += [found["id"]] if "id" in found else []
        if tag == "tr":
            self._row = found.get("id", "")
        if tag == "data":
            self.values.setdefault(self._row, []).append(float(found["value"]))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data

    @property
    def words(self) -> str:
        """The text with single spaces."""
        return " ".join(self.text.split())

    def check_self_contained(self) -> None:
        """Nothing outside is asked for, and no script runs."""
        assert not self.tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
        assert all(reference.startswith("#") for reference in self.references)
        assert {reference[1:] for reference in self.references} <= set(self.ids)
        assert len(self.ids) == len(set(self.ids))
        for word in ("http", "@import", "@font-face", "url(data", "url(//"):
            assert word not in self.text


def candidate(number: int, ms: float | None = None, reason: str | None = None, **decisions) -> Candidate:
    seconds = None if ms is None else Timing(1e-3 * ms, 0.9e-3 * ms, 1.2e-3 * ms, 9)
    log = "" if reason is None else f"line <1>\n{reason} & more"
    return Candidate(
        number, f"key{number}", decisions or {"rows": 64, "tile": [1, 2, 8]}, seconds, reason, log
    )


def report(**changes) -> Report:
    fields = {
        "operator": "spmm",
        "features": 16,
        "threads": 2,
        "graph": "graph.mtx",
        "matrix": Matrix((3000, 2000), 12345, "float32", 40, 4.1, 7, ((0, 0, 7), (1, 1, 100), (2, 3, 2893))),
        "processor": "A Processor",
        "mcpu": "znver9",
        "versions": {"tvm": "0.27"},
        "sessions": (Session("2026-01-02T03:04:05+00:00", "finished", 4, 0, 83.0, 4),),
        "is_finished": True,
        "candidates": (
            candidate(1, 2.0, rows=64, prefetch=16),
            candidate(2, 1.0, rows=256, prefetch=0),
            candidate(3, reason="time-out", rows=16, prefetch=0),
            candidate(4, 4.0, rows=64, prefetch=0),
        ),
        "comparison": {
            "scipy": Timing(3e-3, 2.9e-3, 3.2e-3, 25),
            "default": Timing(1.9e-3, 1.8e-3, 2e-3, 25),
            "tuned": Timing(1e-3, 0.9e-3, 1.1e-3, 25),
        },
        "default_key": "key1",
        "winner": Winner("key2", "sch.split(l1)", "for i in T.parallel(3):\n    pass"),
        "commands": {"tune": "sparse-tir tune spmm graph.mtx"},
        "skipped": ("failures.jsonl line 3",),
    }
    return Report(**{**fields, **changes})
