"""Write the pages of benchmarks/history into the documentation: python -m benchmarks.publish.

`asv publish` makes pages that load their scripts from the net. These have them beside, from the
same packages of npm.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = ROOT / ".asv/html"
SITE = ROOT / "docs/_static/history"
FLOT = "flot@0.8.3"
# For each file that asv loads from the net: the package of npm, and the file in it.
ASSETS = {
    "jquery-3.3.1.min.js": ("jquery@3.3.1", "dist/jquery.min.js"),
    "jquery.flot.min.js": (FLOT, "jquery.flot.js"),
    "jquery.flot.time.min.js": (FLOT, "jquery.flot.time.js"),
    "jquery.flot.selection.min.js": (FLOT, "jquery.flot.selection.js"),
    "jquery.flot.categories.min.js": (FLOT, "jquery.flot.categories.js"),
    "jquery.flot.orderBars.js": ("flot-orderbars@1.0.0", "js/jquery.flot.orderBars.js"),
    "stupidtable.min.js": ("stupid-table-plugin@1.1.3", "stupidtable.min.js"),
    "md5.min.js": ("blueimp-md5@2.19.0", "js/md5.min.js"),
    "bootstrap.min.js": ("bootstrap@3.1.1", "dist/js/bootstrap.min.js"),
    "bootstrap.min.css": ("bootstrap@3.1.1", "dist/css/bootstrap.min.css"),
}
# The address of a file on the net; its hash and its origin are removed with it.
FROM_NET = re.compile(
    r'(src|href)="https://[^"]*/([^"/]+\.(?:js|css))"'
    r'((?: (?:integrity|crossorigin|referrerpolicy)="[^"]*")*)'
)
# asv places everything at fixed positions, for wide screens. On a narrow one, the graph comes first
# and the options below it.
NARROW = """
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
@media (max-width: 700px) {
  #nav { position: static; }
  #nav .navbar-text { margin: 4px 12px; }
  #graph-display { display: flex; flex-direction: column-reverse; }
  .asv-navigation, #summarylist-body, #summarygrid-display, #regressions-display,
  #graph-display > div, #graph > div {
    position: static !important; width: auto !important; height: auto !important;
  }
  #summarylist-body, #regressions-display { overflow-x: auto; }
  #graph { padding: 0 12px 0 24px; }
  #main-graph { height: 420px !important; }
  #overview { height: 100px !important; }
}
</style>
</head>"""


def read_package(package: str, path: str) -> bytes:
    """Return a file of a package of npm."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", "--pack-destination", folder, package]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            file = archive.extractfile(f"package/{path}")
            assert file is not None
            return file.read()


def main() -> None:
    """Publish, and bundle the scripts."""
    shutil.rmtree(BUILT, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "asv", "publish", "--no-pull"], cwd=ROOT, check=True)
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(BUILT, SITE)
    page = SITE / "index.html"
    text = page.read_text(encoding="utf-8")
    names = {name for _, name, _ in FROM_NET.findall(text)}
    for name in names:
        (SITE / name).write_bytes(read_package(*ASSETS[name]))
    text = FROM_NET.sub(r'\1="\2"', text).replace("</head>", NARROW.strip())
    page.write_text(text, encoding="utf-8")
    index = json.loads((SITE / "index.json").read_text(encoding="utf-8"))
    measured = {path.stem for path in (SITE / "graphs/summary").iterdir()}
    index["benchmarks"] = {
        name: value for name, value in index["benchmarks"].items() if name in measured
    }
    (SITE / "index.json").write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")


if __name__ == "__main__":
    main()
