"""`ls [-1adl] [FILE]...` of the virtual files."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print names; of several directories, below their own; `-l` says where links lead."""
    options = {letter for word in call.argv[1:] if word[:1] == "-" for letter in word[1:]}
    if options - set("1adlhF"):
        return Result(2, stderr="ls: the lab answers only: ls [-1adl] [FILE]...\n")
    words = [word for word in call.argv[1:] if word[:1] != "-"]
    files, folders, err = [], [], []
    for path in words:
        if not call.view.exists(path):
            err.append(f"ls: cannot access '{path}': No such file or directory\n")
        elif call.view.is_directory(path) and "d" not in options:
            folders.append(path)
        else:
            files.append(path)
    blocks = ["".join(_line(call, path, path, options) for path in files)] if files else []
    for path in folders:
        names = call.view.names(path)
        lines = "".join(_line(call, f"{path.rstrip('/')}/{name}", name, options) for name in names)
        blocks.append(f"{path}:\n{lines}" if len(words) > 1 else lines)
    return Result(2 if err else 0, "\n".join(blocks), "".join(err))


def _line(call: Call, path: str, shown: str, options: set[str]) -> str:
    if "l" not in options:
        return f"{shown}\n"
    target = call.view.target(path)
    kind = "l" if target != path else "d" if call.view.is_directory(path) else "-"
    rights = {"l": "rwxrwxrwx", "d": "r-xr-xr-x", "-": "r--r--r--"}[kind]
    link = f" -> {target}" if kind == "l" else ""
    return f"{kind}{rights} 1 root root 4096 {shown}{link}\n"
