"""The tree of an image's structures, down to every L2 table and refcount block that it names."""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.models.tree_badges import Badge, Badges
from qcowgui.gui.models.tree_nodes import Node, Pointers, PointersWork, find_node, image_nodes
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.session_states import SessionState
from qcowgui.gui.translation import count_text

_Index = QModelIndex | QPersistentModelIndex

NOTE_ROLE: Final = Qt.ItemDataRole.UserRole
"""A node's note: str."""
BADGE_ROLE: Final = Qt.ItemDataRole.UserRole + 1
"""A node's `Badge`, or None."""
LINE_ROLE: Final = Qt.ItemDataRole.UserRole + 2
"""All that is painted of a node, a `TreeLine`: each question costs as much as painting a word."""
_NO_INDEX: Final = QModelIndex()


class TreeLine(NamedTuple):
    """A node as it is painted."""

    title: str
    note: str
    badge: Badge | None


class StructureTreeModel(QAbstractItemModel):
    """The structures of a session's image; tables are read beside the window when looked into.

    Signals:
        rebuilt: There is a new tree.
        tables_read: The entries of a table were read: below its node there may be more now.
    """

    rebuilt = Signal()
    tables_read = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._top: list[Node] = []
        # Qt keeps a number for each index, which must lead to the same node as long as it lives.
        self._numbers: dict[int, Node] = {}
        self._badges = Badges()
        self._known_badges: dict[int, Badge | None] = {}
        self._in_making: Node | None = None
        self._token = CancelToken()
        self._reading: set[int] = set()
        self._failed: dict[int, str] = {}
        session.changed.connect(self._session_changed)
        session.check_changed.connect(self._findings_changed)
        session.mapping_changed.connect(self._findings_changed)
        self._session_changed()

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self._token.cancel()
        self._token = CancelToken()
        self._reading.clear()

    def selection_at(self, index: _Index) -> Selection | None:
        """What an item stands for; None for a group."""
        node = self._node(index)
        return None if node is None else node.selection

    def find(self, selection: Selection) -> QModelIndex:
        """The item of the table or structure that `selection` is in, or the nearest one above.

        An invalid index when there is none. A table whose entries would have to be read for it is
        read: `tables_read` tells when to ask again.
        """
        node = find_node(self._top, selection, self._make_children)
        if node is None:
            return QModelIndex()
        if node.selection != selection.table:
            self._read(node)
        return self._index_of(node)

    # ---------------------------------------------------------------- for the view

    def index(self, row: int, column: int, parent: _Index = _NO_INDEX) -> QModelIndex:
        """The index of a child."""
        node = self._node(parent)
        siblings = self._top if node is None else node.children or []
        if column or not 0 <= row < len(siblings):
            return QModelIndex()
        return self.createIndex(row, 0, self._number(siblings[row]))

    def parent(self, child: _Index = _NO_INDEX) -> QModelIndex:  # type: ignore[override]
        """The index of the item above."""
        node = self._node(child)
        if node is None or node.parent is None:
            return QModelIndex()
        return self._index_of(node.parent)

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """The children that are there."""
        node = self._node(parent)
        return len(self._top if node is None else node.children or ())

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        """One column."""
        return 1

    def hasChildren(self, parent: _Index = _NO_INDEX) -> bool:
        """Whether there is anything below, or may be once it was read."""
        node = self._node(parent)
        if node is None:
            return bool(self._top)
        return node.child_count != 0

    def canFetchMore(self, parent: _Index) -> bool:
        """Whether children were not made yet."""
        node = self._node(parent)
        if node is None or id(node) in self._reading or id(node) in self._failed:
            return False
        if node is self._in_making:
            return False
        return node.child_count != 0 and node.children is None

    def fetchMore(self, parent: _Index) -> None:
        """Make the children, or read the table that names them."""
        node = self._node(parent)
        if node is not None:
            self._read(node)
            self._make_children(node)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What an item shows, and all that a view asks about it."""
        node = self._node(index)
        if node is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return node.title
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                return self._description(node)
        if role == LINE_ROLE:
            return TreeLine(node.title, self._note(node), self._badge(node))
        if role == NOTE_ROLE:
            return self._note(node)
        if role == BADGE_ROLE:
            return self._badge(node)
        return None

    # ---------------------------------------------------------------- nodes

    def _node(self, index: _Index) -> Node | None:
        return self._numbers.get(index.internalId()) if index.isValid() else None

    def _number(self, node: Node) -> int:
        number = id(node)
        self._numbers[number] = node
        return number

    def _index_of(self, node: Node) -> QModelIndex:
        return self.createIndex(node.row, 0, self._number(node))

    def _make_children(self, node: Node) -> None:
        count = node.child_count
        # Whoever hears that rows are to come may ask for them again.
        if not count or node.children is not None or node is self._in_making:
            return
        self._in_making = node
        self.beginInsertRows(self._index_of(node), 0, count - 1)
        node.make_children()
        self._in_making = None
        self.endInsertRows()

    def _badge(self, node: Node) -> Badge | None:
        if id(node) not in self._known_badges:
            self._known_badges[id(node)] = self._badges.of(node)
        return self._known_badges[id(node)]

    def _note(self, node: Node) -> str:
        if id(node) in self._reading:
            return self.tr("reading…")
        return self.tr("unreadable") if id(node) in self._failed else node.note

    def _description(self, node: Node) -> str:
        parts = [node.title, self._note(node), self._failed.get(id(node), "")]
        badge = self._badge(node)
        if badge is not None:
            more = "" if badge.exact else self.tr(" or more")
            if badge.count:
                parts.append(f"{count_text(badge.count, 'finding')}{more}")
            else:
                parts.append(self.tr("has findings"))
        return ", ".join(filter(None, parts))

    # ---------------------------------------------------------------- the session

    def _session_changed(self) -> None:
        session = self._session
        if session.state is SessionState.LOADING and session.inspected is not None:
            return  # it is read again: what is known stays until there is something newer
        self.abandon()
        self.beginResetModel()
        self._numbers.clear()
        self._failed.clear()
        inspected = session.inspected
        self._top = image_nodes(inspected.report, inspected.structures) if inspected else []
        self._collect_badges()
        self.endResetModel()
        self.rebuilt.emit()

    def _findings_changed(self) -> None:
        self._collect_badges()
        if self._top:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._top) - 1, 0))
        for node in list(self._numbers.values()):
            if node.children:
                first, last = node.children[0], node.children[-1]
                self.dataChanged.emit(self._index_of(first), self._index_of(last))

    def _collect_badges(self) -> None:
        session = self._session
        self._known_badges.clear()
        if session.inspected is None:
            self._badges = Badges()
            return
        geometry = session.inspected.report.header.geometry
        if session.check is not None:
            self._badges = Badges.of_groups(session.check.groups, geometry)
        else:
            self._badges = Badges.of_findings(session.findings, geometry)

    def _read(self, node: Node) -> None:
        """Read the entries that name what is below a node, unless they were read."""
        session, table = self._session, node.selection
        if not node.pointers or node.source is not None or id(node) in self._reading:
            return
        if session.source is None or session.inspected is None or table is None:
            return
        token = self._token

        def finished(outcome: Outcome, pointers: Pointers | None) -> None:
            if token is self._token:
                self._take(node, outcome, pointers)

        work = PointersWork(session.source, session.inspected.report, table)
        session.runner.submit(work, finished, token=token)
        self._reading.add(id(node))
        self._node_changed(node)

    def _take(self, node: Node, outcome: Outcome, pointers: Pointers | None) -> None:
        self._reading.discard(id(node))
        if pointers is not None:
            Node.over(node, pointers)
            self._make_children(node)
        elif isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self._failed[id(node)] = outcome.error.message
        self._node_changed(node)
        self.tables_read.emit()

    def _node_changed(self, node: Node) -> None:
        index = self._index_of(node)
        self.dataChanged.emit(index, index)
