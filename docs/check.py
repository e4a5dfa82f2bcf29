"""After a build: no link is dead, every public name is in the reference, and both parts are linked.

``python docs/check.py docs/_build/html`` prints what is wrong.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PACKAGE = Path(__file__).parents[1] / "onehot_fast"
INTEGRATIONS = PACKAGE.with_name("integrations")
NOT_PUBLIC = {"onehot_fast.__version__"}


class Page(HTMLParser):
    """What a page leads to, and where it can be led to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and anchors of an element."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def dead_links(root: Path) -> Iterator[str]:
    """Yield every link within the site that leads nowhere."""
    files = (path for path in sorted(root.rglob("*.html")) if "_static" not in path.parts)
    pages = {path: Page(path) for path in files}
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            if not target.exists():
                yield f"{path.relative_to(root)}: {link}: there is no such file"
            elif target in pages and anchor not in pages[target].anchors:
                yield f"{path.relative_to(root)}: {link}: there is no such place in it"


def public_names() -> Iterator[str]:
    """Yield what `__all__` of the package and of its integrations names."""
    for module in [PACKAGE, *INTEGRATIONS.iterdir()]:
        source = module / "__init__.py"
        if not source.exists():
            continue
        prefix = "onehot_fast" if module == PACKAGE else f"onehot_fast.integrations.{module.name}"
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                yield from (f"{prefix}.{name}" for name in ast.literal_eval(node.value))


def missing_names(root: Path) -> Iterator[str]:
    """Yield every public name that the reference has not."""
    from sphinx.util.inventory import InventoryFile  # not where only the links are tested

    inventory = InventoryFile.loads((root / "objects.inv").read_bytes(), uri="").data
    known = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    for name in sorted(set(public_names()) - NOT_PUBLIC - known):
        yield f"the reference does not have {name}"


def guide_pages(root: Path) -> Iterator[Path]:
    """Yield the pages of the user guide, which are those of its table of contents."""
    guide = (root / "guide.html").read_text(encoding="utf-8")
    contents = guide.partition('<div class="toctree-wrapper')[2]
    for link in sorted(set(re.findall(r'href="([\w/]+\.html)"', contents))):
        yield root / link


def unlinked(root: Path) -> Iterator[str]:
    """Yield pages of the guide and entries of the reference that lack a link to the other."""
    for page in guide_pages(root):
        if not re.search(r'href="[./]*reference/\w+\.html#', page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(root)}: it has no link to an entry of the reference"
    names = sorted(set(public_names()) - NOT_PUBLIC)
    for page in sorted((root / "reference").glob("*.html")):
        text = page.read_text(encoding="utf-8")
        found = {name: text.find(f'id="{name}"') for name in names}
        places = sorted((place, name) for name, place in found.items() if place >= 0)
        ends = [*(place for place, _ in places[1:]), len(text)]
        for (begin, name), end in zip(places, ends, strict=False):
            if "In the guide: " not in text[begin:end]:
                yield f"{page.relative_to(root)}: the entry {name} has no link to the guide"


def main(root: Path) -> int:
    """Print what is wrong, and return 1 if anything is."""
    wrong = [*dead_links(root.resolve()), *missing_names(root), *unlinked(root)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
