"""One module per language; each lists the profiles it can make in MAKERS."""

from . import cpp, go, java, node, python, rust

ALL = [*go.MAKERS, *cpp.MAKERS, *rust.MAKERS, *python.MAKERS, *node.MAKERS, *java.MAKERS]
