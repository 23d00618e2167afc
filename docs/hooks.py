"""Add the pages of the reference to the site, as mkdocs calls it while it builds."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

# mkdocs loads this file by its path: from wherever it is started, the repository must be found.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.reference import PAGES


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put a page for each entry of the table in the place of the file that stands for it.

    The files are what links lead to where nothing is built. An error in a page ends the build.
    """
    for name, page in PAGES.items():
        place = f"reference/{name}.md"
        stub = files.get_file_from_path(place)
        if stub is not None:
            files.remove(stub)
        files.append(File.generated(config, place, content=page()))
    return files
