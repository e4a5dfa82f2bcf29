"""The extension modules and their compiler flags; everything else is in pyproject.toml.

Switches, all read from the environment ("" and "0" are off):

ONEHOT_FAST_NO_OPENMP=1         build without OpenMP
ONEHOT_FAST_REQUIRE_OPENMP=1    fail instead of building without it (for wheels)
ONEHOT_FAST_DEBUG=1             bounds-checked Cython, -O1 -g
ONEHOT_FAST_SANITIZE=a,b        -fsanitize=a,b (gcc, clang)

For the page of a published package, which the release workflow sets:

ONEHOT_FAST_REPOSITORY=https://host/owner/name  project URLs, and absolute links in the README
ONEHOT_FAST_CONTACT=name@host                   the maintainers' e-mail address

CPPFLAGS and LDFLAGS say where a compiler finds OpenMP.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = Path("onehot_fast")
# The C file of an extension that has one, in the folder of its .pyx, by the name of the .pyx.
C_FILES = {"simd": "microkernels.c", "dictionary": "hashtable.c"}
# The switches of the last build. Extensions depend on this file, so a change rebuilds them.
FLAGS_RECORD = Path("build/flags.txt")
OPENMP_PROBE = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
NO_OPENMP = """\
! onehot_fast: the compiler has no OpenMP: building SINGLE-THREADED kernels.
! Linux: use gcc, or install libomp-dev. macOS: brew install libomp, then
!   CPPFLAGS="-I$(brew --prefix libomp)/include" LDFLAGS="-L$(brew --prefix libomp)/lib"
! ONEHOT_FAST_NO_OPENMP=1 selects this build and silences this note."""


def switch(name):
    """Return whether the environment sets the switch ``name``."""
    return os.environ.get(name, "0") not in ("", "0")


def package_page(repository, contact):
    """Return the metadata of the package's page: the README, and URLs if the repository is known.

    Links of the README lead to the tag of the version, images to their bytes.
    """
    readme = Path("README.md").read_text(encoding="utf-8")
    shown = {
        "long_description": readme,
        "long_description_content_type": "text/markdown",
        "maintainer": "the onehot_fast developers",
        "project_urls": {},
    }
    if contact:
        shown["maintainer_email"] = contact
    if not repository:
        return shown
    version = re.search(r'version__ = "(.+)"', Path("onehot_fast/_version.py").read_text())[1]
    repository = repository.rstrip("/")

    def absolute(link):
        kind = "raw" if link[1].endswith((".png", ".svg")) else "blob"
        return f"]({repository}/{kind}/v{version}/{link[1]})"

    relative = r"\]\((?!https?:|mailto:|#)([^)\s]+)\)"
    shown["long_description"] = re.sub(relative, absolute, readme)
    shown["project_urls"] = {
        "Documentation": f"{repository}/blob/v{version}/docs/index.md",
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
    }
    return shown


def dependencies(sources):
    """Return our headers and .pxd files that sources include, directly or not."""
    found, todo = set(), list(sources)
    while todo:
        source = todo.pop()
        text = source.read_text()
        # Headers have their path below the package, or the name of a neighbour.
        names = re.findall(r'"([\w./]+\.(?:h|inc))"', text)
        headers = [folder / name for name in names for folder in (source.parent, PACKAGE)]
        modules = re.findall(r"^\s*from (onehot_fast[\w.]*) cimport", text, re.MULTILINE)
        cimported = [Path(*name.split(".")).with_suffix(".pxd") for name in modules]
        own = [source.with_suffix(".pxd")] if source.suffix == ".pyx" else []
        new = {path for path in [*headers, *cimported, *own] if path.exists()} - found
        found |= new
        todo += new
    return found


def extension(pyx):
    """Return the extension of one ``.pyx``, with its C file."""
    carried = [pyx.with_name(C_FILES[pyx.stem])] if pyx.stem in C_FILES else []
    return Extension(
        ".".join(pyx.with_suffix("").parts),
        [str(pyx), *map(str, carried)],
        include_dirs=[str(PACKAGE), numpy.get_include()],
        depends=[str(FLAGS_RECORD), *sorted(map(str, dependencies([pyx, *carried])))],
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"),
            # The oldest NumPy of `dependencies`: newer headers may have a newer default.
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
        ],
    )


class BuildExt(build_ext):
    """``build_ext`` that checks the compiler for OpenMP first."""

    def finalize_options(self):
        """Compile one extension per processor concurrently, unless an option says otherwise."""
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count()

    def run(self):
        """Build the extensions; if they are built in the checkout, only those that changed."""
        if self.inplace:
            self.keep_modules()
        super().run()

    def keep_modules(self):
        """Copy the modules of the checkout to `build_lib`, if they are newer.

        setuptools compares the sources with the modules in `build_lib`. That is a new folder in
        each editable install, so that every module would be compiled, and again by the next build.
        """
        for ext in self.extensions:
            name = self.get_ext_filename(self.get_ext_fullname(ext.name))
            kept, built = Path(name), Path(self.build_lib, name)
            if kept.exists() and not (
                built.exists() and built.stat().st_mtime >= kept.stat().st_mtime
            ):
                built.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(kept, built)

    def build_extensions(self):
        """Build all extensions with the same flags."""
        compile_args, link_args = self.base_flags()
        openmp_compile, openmp_link = self.openmp_flags()
        self.remember(compile_args + openmp_compile + link_args + openmp_link)
        for ext in self.extensions:
            ext.extra_compile_args = compile_args + openmp_compile
            ext.extra_link_args = link_args + openmp_link
            # All other directives are in the .pyx files, which override these.
            ext.cython_directives = {"boundscheck": switch("ONEHOT_FAST_DEBUG")}
        super().build_extensions()

    def base_flags(self):
        """Return the (compile, link) flags of the plain, debug or sanitized build."""
        debug = switch("ONEHOT_FAST_DEBUG")
        if self.compiler.compiler_type == "msvc":
            return ["/Od" if debug else "/O2"], []
        # These override the levels of Python's own build.
        common = ["-fno-strict-aliasing", "-Wall", "-Wextra"]
        compile_args = [*common, *(["-O1", "-g"] if debug else ["-O3", "-g0"])]
        compile_args += os.environ.get("ONEHOT_FAST_CFLAGS", "").split()
        sanitizers = os.environ.get("ONEHOT_FAST_SANITIZE")
        if not sanitizers:
            return compile_args, []
        sanitize = f"-fsanitize={sanitizers}"
        return [*compile_args, sanitize, "-g", "-fno-omit-frame-pointer"], [sanitize]

    def openmp_flags(self):
        """Return the (compile, link) flags of OpenMP, none if it is off or absent."""
        if switch("ONEHOT_FAST_NO_OPENMP"):
            return [], []
        candidates = [(["-fopenmp"], ["-fopenmp"]), (["-Xpreprocessor", "-fopenmp"], ["-lomp"])]
        if self.compiler.compiler_type == "msvc":
            candidates = [(["/openmp"], [])]
        for flags in candidates:
            if self.links(OPENMP_PROBE, *flags):
                return flags
        if switch("ONEHOT_FAST_REQUIRE_OPENMP"):
            sys.exit("onehot_fast: this build requires OpenMP, and the compiler has none")
        print("!" * 78, NO_OPENMP, "!" * 78, sep="\n", file=sys.stderr)
        return [], []

    def links(self, source, compile_args, link_args):
        """Return whether ``source`` compiles and links with these flags."""
        with tempfile.TemporaryDirectory() as folder:
            probe = Path(folder, "probe.c")
            probe.write_text(source)
            try:
                built = self.compiler.compile([str(probe)], folder, extra_postargs=compile_args)
                self.compiler.link_executable(built, "probe", folder, extra_postargs=link_args)
            except Exception:  # each compiler class raises its own
                return False
        return True

    def remember(self, flags):
        """Record the flags, and compile everything again if they changed."""
        text = "\n".join(flags)
        if not FLAGS_RECORD.exists() or FLAGS_RECORD.read_text() != text:
            FLAGS_RECORD.parent.mkdir(exist_ok=True)
            FLAGS_RECORD.write_text(text)
            self.force = True


setup(
    ext_modules=[extension(pyx) for pyx in sorted(PACKAGE.rglob("*.pyx"))],
    cmdclass={"build_ext": BuildExt},
    **package_page(os.environ.get("ONEHOT_FAST_REPOSITORY"), os.environ.get("ONEHOT_FAST_CONTACT")),
)
