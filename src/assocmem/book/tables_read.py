"""Which stored tables a piece of code reads."""

import ast

from assocmem.sweeps.fingerprints import syntax_tree


def folders_read(*texts: str) -> set[str]:
    """Folders of ``data`` whose tables are read by ``read_table("FOLDER", ...)``, however it is called.

    Parameters
    ----------
    *texts : str
        Code.

    Returns
    -------
    set of str
    """
    found = set()
    for text in texts:
        for node in ast.walk(syntax_tree(text)):
            if not isinstance(node, ast.Call) or "read_table" not in ast.unparse(node.func):
                continue
            named = [*node.args[:1], *(key.value for key in node.keywords if key.arg == "section")]
            found |= {first.value for first in named if isinstance(first, ast.Constant)}
    return found
