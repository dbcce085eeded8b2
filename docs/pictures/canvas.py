"""A few shapes of SVG that read well on light and dark pages."""

from __future__ import annotations

from html import escape

STYLE = """
  text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2933; text-anchor: middle }
  .left { text-anchor: start } .right { text-anchor: end }
  .title { font: 600 14px system-ui, sans-serif; fill: #1d3557 }
  .note { font: 12px system-ui, sans-serif; fill: #52606d }
  .card { fill: #ffffff; stroke: none }
  .cell { fill: #f4f6f8; stroke: #9aa4b2 } .void { fill: none; stroke: #d5dae1 } .hot { fill: #ffe3b3; stroke: #c77700 }
  .line { stroke: #9aa4b2; stroke-width: 1.3; fill: none } .hotline { stroke: #c77700; stroke-width: 2; fill: none }
  .dim { fill: #9aa4b2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e9ee } .title { fill: #a8c7ff } .note { fill: #a9b4c0 } .dim { fill: #65707e }
    .card { fill: #161a20 }
    .cell { fill: #262d36; stroke: #5b6675 } .void { stroke: #333b46 } .hot { fill: #5c4310; stroke: #ffb84d }
    .line { stroke: #5b6675 } .hotline { stroke: #ffb84d }
  }
"""


class Canvas:
    """Collects shapes; `svg` gives the text of the file."""

    def __init__(self, width: int, height: int, describes: str) -> None:
        self.size = (width, height)
        self.parts = [f"<title>{escape(describes)}</title>", f"<style>{STYLE}</style>"]
        self.parts.append(f'<rect class="card" width="{width}" height="{height}" rx="10"/>')

    def text(self, x: float, y: float, text: object, style: str = "") -> None:
        """Centred at x unless the style says ``left`` or ``right``."""
        kind = f' class="{style}"' if style else ""
        self.parts.append(f'<text{kind} x="{x:g}" y="{y:g}">{escape(str(text))}</text>')

    def box(
        self, x: float, y: float, width: float, height: float, text: object = "", style: str = "cell"
    ) -> None:
        """A rectangle with its text in the middle."""
        self.parts.append(
            f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'
        )
        if text != "":
            self.text(x + width / 2, y + height / 2 + 4.5, text)

    def row(self, x: float, y: float, entries: list[object], hot: set[int], width: float = 34) -> None:
        """Boxes side by side, as an array is stored."""
        for number, entry in enumerate(entries):
            self.box(x + number * width, y, width, 26, entry, "hot" if number in hot else "cell")

    def line(self, start: tuple[float, float], end: tuple[float, float], style: str = "line") -> None:
        """A curve that leaves and arrives vertically."""
        (x0, y0), (x1, y1) = start, end
        middle = (y0 + y1) / 2
        self.parts.append(
            f'<path class="{style}" d="M{x0:g} {y0:g} C{x0:g} {middle:g} {x1:g} {middle:g} {x1:g} {y1:g}"/>'
        )

    def svg(self) -> str:
        """The whole file."""
        width, height = self.size
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
        return "\n".join([head, *self.parts, "</svg>", ""])
