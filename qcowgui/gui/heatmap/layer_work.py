"""The work that makes a layer for a colour mode, beside the window. Refers to nothing of Qt's."""

from __future__ import annotations

from dataclasses import dataclass, field

from qcowgui.check.cells import Cells
from qcowgui.check.checker import CheckReport
from qcowgui.check.clustermap import states_of
from qcowgui.check.guestmap import guest_states
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import UnsupportedError
from qcowgui.gui.heatmap import content, measures
from qcowgui.gui.heatmap.layers import ColourMode, MapLayer, Order, state_layer
from qcowgui.gui.heatmap.scales import keys_of
from qcowgui.gui.opening import active_mapping
from qcowgui.image.chain import open_image
from qcowgui.image.inspect import ImageReport
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.references import DENY, Gate
from qcowgui.image.source import ByteSource


@dataclass(frozen=True, slots=True)
class LayerWork:
    """Makes the layer of clusters [first, last).

    Attributes:
        source: The image; stays open.
        image: What an open says of it.
        check: What a check found; needed in host order.
        order: Which clusters.
        mode: What they are coloured by.
        first: The first cluster.
        last: End (exclusive).
        gate: Which files may be opened to look at the layers of the chain.
        done: Counts clusters in the modes that read content.
    """

    source: ByteSource
    image: ImageReport
    check: CheckReport | None
    order: Order
    mode: ColourMode
    first: int
    last: int
    gate: Gate = DENY
    done: Counter = field(default_factory=Counter)

    def __call__(self, token: CancelToken) -> MapLayer:
        """The layer.

        Raises:
            ImageError: When the image does not have what the mode shows.
            SourceError: When the operating system refuses a read.
            Cancelled: When the token was set.
        """
        geometry = self.image.header.geometry
        if geometry is None:
            raise UnsupportedError("the header allows no cluster size")
        guest = self.order is Order.GUEST
        cells = self._guest_cells(token) if guest else self._host_cells(token)
        end_bytes = self.image.virtual_bytes if guest else self.source.size_bytes
        size = geometry.cluster_bytes
        if self.mode is ColourMode.STATE:
            return state_layer(
                self.order, cells, cluster_bytes=size, end_bytes=end_bytes, first=self.first
            )
        return MapLayer(
            self.order, self.mode, cells, keys_of(self.mode), size, end_bytes, self.first
        )

    def _guest_cells(self, token: CancelToken) -> Cells:
        first, last = self.first, self.last
        if self.mode is ColourMode.CHAIN:
            with open_image(self.source.name, gate=self.gate, salvage=True) as image:
                size = self._mapping().geometry.cluster_bytes
                return measures.chain_cells(image, size, first, last, token)
        mapping = self._mapping()
        match self.mode:
            case ColourMode.FRAGMENTATION:
                return measures.fragmentation_guest_cells(mapping, first, last, token)
            case ColourMode.COMPRESSED_SIZE:
                return measures.compressed_guest_cells(mapping, first, last, token)
            case _:
                has_data_file = self.image.header.has_data_file
                return guest_states(
                    mapping,
                    first,
                    last,
                    data_bytes=None if has_data_file else self.source.size_bytes,
                    backing_bytes=mapping.virtual_bytes if self.image.backing_name_raw else 0,
                    token=token,
                )

    def _host_cells(self, token: CancelToken) -> Cells:
        first, last = self.first, self.last
        check = self.check
        if check is None:
            raise UnsupportedError("the image has not been checked")
        match self.mode:
            case ColourMode.COMPRESSED_SIZE:
                return measures.compressed_cells(self.source, self.image, first, last, token)
            case ColourMode.SHARING:
                return measures.sharing_cells(self.source, self.image, first, last, token)
            case ColourMode.FRAGMENTATION:
                return measures.fragmentation_host_cells(self._mapping(), first, last, token)
            case ColourMode.REFCOUNT_COMPUTED:
                return measures.computed_cells(check.ownership, first, last, token)
            case ColourMode.REFCOUNT_STORED | ColourMode.REFCOUNT_DIFFERENCE:
                return self._refcount_cells(check, token)
        stored = check.stored if check.stored is not None and check.stored.usable else None
        states = states_of(
            check.ownership,
            stored,
            file_bytes=self.source.size_bytes,
            first=first,
            last=last,
            token=token,
        )
        return states if self.mode is ColourMode.STATE else self._content_cells(states, token)

    def _refcount_cells(self, check: CheckReport, token: CancelToken) -> Cells:
        stored = check.stored
        if stored is None:
            raise UnsupportedError("the image has no refcount table that can be read")
        if self.mode is ColourMode.REFCOUNT_STORED:
            return measures.stored_cells(stored, self.first, self.last, token)
        return measures.difference_cells(stored, check.ownership, self.first, self.last, token)

    def _content_cells(self, states: Cells, token: CancelToken) -> Cells:
        judges: dict[ColourMode, content.Judge] = {
            ColourMode.ENTROPY: lambda samples, _: content.entropy_values(samples),
            ColourMode.ZEROS: lambda samples, _: content.zero_values(samples),
            ColourMode.CONTENT: content.content_judge(self.image, self.source.size_bytes),
        }
        geometry = self.image.header.geometry
        return content.sampled_cells(
            self.source,
            states,
            1 if geometry is None else geometry.cluster_bytes,
            judges[self.mode],
            first=self.first,
            skip_free=self.mode is not ColourMode.CONTENT,
            token=token,
            done=self.done,
        )

    def _mapping(self) -> GuestMapping:
        return active_mapping(self.source, self.image)
