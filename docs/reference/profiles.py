"""The builtin profiles, whole: each number has its source beside it."""

from __future__ import annotations

from functools import cache
from importlib import resources

from docs.reference.markdown import code
from docs.reference.markdown import page as a_page
from pytest_fabric.config import Profile, load

FOLDER = resources.files("pytest_fabric.config") / "profiles"


def names() -> list[str]:
    """Return the names of the builtin profiles."""
    return sorted(one.name[:-5] for one in FOLDER.iterdir() if one.name.endswith(".yaml"))


@cache
def builtin() -> dict[str, Profile]:
    """Return the builtin profiles as a cluster that extends them has them."""
    import tempfile
    from pathlib import Path

    entries = "\n".join(f"  {name}: {{extends: builtin/{name}}}" for name in names())
    nodes = "\n".join(f"  {name}: {{profile: {name}}}" for name in names())
    text = f"rails:\n  rail0: {{device: mlx5_0}}\nnodes:\n{nodes}\nprofiles:\n{entries}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.yaml"
        path.write_text(text)
        return dict(load(path).profiles)


def page() -> str:
    """Return the page."""
    blocks = []
    for name in names():
        text = (FOLDER / f"{name}.yaml").read_text()
        blocks += [f"## {name}", f"{code(f'extends: builtin/{name}')}", f"```yaml\n{text}```"]
    return a_page(
        "Builtin profiles",
        "A profile of yours extends one of these and changes what your fabric does differently. "
        "`pytest-fabric explain TARGET` shows what holds, and where it was said.",
        *blocks,
    )
