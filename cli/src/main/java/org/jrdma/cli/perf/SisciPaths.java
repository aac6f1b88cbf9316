package org.jrdma.cli.perf;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.DmaQueue;
import org.jrdma.sisci.DmaTransferRequest;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.DmaState;

/** The SISCI paths: stores into another node's memory, and DMA. */
final class SisciPaths {

    private static final int LARGEST = 64 << 20;
    private static final int WORD = Long.BYTES;

    /** The first segment ID to try. */
    private static final int FIRST_SEGMENT = 0x4a00;

    /**
     * The system property with the path of the folder that the nodes of the software fabric share.
     */
    private static final String FABRIC = "jrdma.sisci.fabric";

    private static final Duration TIMEOUT = ControlChannel.TIMEOUT;

    private final Paths.Fabric fabric;

    SisciPaths(Paths.Fabric fabric) {
        this.fabric = fabric;
    }

    List<Path> all() {
        var provider = provider();
        return List.of(
                new Path(
                        "pio",
                        "SISCI processor stores" + fabric.suffix(),
                        provider,
                        WORD,
                        LARGEST,
                        true,
                        (peer, largest, _) -> StoreLink.open(sisci(), peer, largest)),
                new Path(
                        "dma",
                        "SISCI DMA, one transfer at a time" + fabric.suffix(),
                        provider,
                        WORD,
                        LARGEST,
                        false,
                        (peer, largest, _) -> DmaLink.open(sisci(), peer, largest)));
    }

    Paths.Fabric fabric() {
        return fabric;
    }

    PathDeviceAndAvailability provider() {
        return new PathDeviceAndAvailability(
                Optional.of(fabric), Optional.empty(), unavailableReason(), localOnlyReason());
    }

    Sisci sisci() throws FabricException {
        return fabric == Paths.Fabric.SYSTEM ? Sisci.system() : Sisci.software();
    }

    private Optional<String> localOnlyReason() {
        return fabric == Paths.Fabric.SYSTEM || System.getProperty(FABRIC) != null
                ? Optional.empty()
                : Optional.of(
                        "the software fabric of SISCI is limited to one machine; to connect containers, share a folder and name it with -D%s"
                                .formatted(FABRIC));
    }

    private Optional<String> unavailableReason() {
        try {
            sisci().open().close();
            return Optional.empty();
        } catch (FabricException e) {
            return Optional.of(e.getMessage());
        }
    }

    /** A local segment and the connected segment of the peer. */
    private record Segments(
            Deque<AutoCloseable> owned, Node node, LocalMap own, RemoteSegment remote) {

        /** Creates a segment and connects to the peer's segment. */
        static Segments exchange(Sisci sisci, ControlChannel peer, long bytes) throws IOException {
            var owned = new ArrayDeque<AutoCloseable>();
            try {
                var node = sisci.open();
                owned.push(node);
                var segment = node.newSegment(SegmentOptions.withFreeId(FIRST_SEGMENT, bytes));
                var own = segment.map();
                segment.offer();
                var peerIds = peer.exchange(node.id() + " " + segment.id()).split(" ", 2);
                var remote =
                        node.connect(
                                Integer.parseInt(peerIds[0]),
                                Integer.parseInt(peerIds[1]),
                                TIMEOUT);
                peer.exchange("connected");
                return new Segments(owned, node, own, remote);
            } catch (IOException | RuntimeException e) {
                Resources.closeAll(owned);
                throw e;
            }
        }
    }

    /**
     * A link over processor stores. Each side stores into the peer's segment, and polls its own
     * segment until the last word of the message changes.
     */
    private static final class StoreLink implements LinkEnd {

        private final Segments segments;
        private final RemoteMap remoteMap;
        private final MemorySegment payload;
        private final long flagOffset;
        private long round;

        private StoreLink(Segments segments, RemoteMap remoteMap, MemorySegment payload) {
            this.segments = segments;
            this.remoteMap = remoteMap;
            this.payload = payload;
            this.flagOffset = payload.byteSize();
        }

        static LinkEnd open(Sisci sisci, ControlChannel peer, int largest) throws IOException {
            var flagOffset = Math.ceilDiv(largest, 64) * 64L; // The flag has a separate cache line.
            var segments = Segments.exchange(sisci, peer, flagOffset + 64);
            try {
                var payload = Arena.ofAuto().allocate(flagOffset, 64);
                return new StoreLink(segments, segments.remote().map(), payload);
            } catch (IOException | RuntimeException e) {
                Resources.closeAll(segments.owned());
                throw e;
            }
        }

        @Override
        public void exchange(int bytes) throws IOException {
            round++;
            signal(bytes);
            awaitSignal();
        }

        @Override
        public void answer(int bytes, int count) throws IOException {
            for (var exchange = 0; exchange < count; exchange++) {
                round++;
                awaitSignal();
                signal(bytes);
            }
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                store(bytes);
            }
            exchange(WORD); // The peer answers when all data has arrived.
        }

        @Override
        public void absorb(int bytes, int count) throws IOException {
            answer(WORD, 1);
        }

        private void signal(int bytes) throws IOException {
            store(bytes - WORD);
            remoteMap.putLongRelease(flagOffset, round);
            remoteMap.flush(); // Otherwise the store may stay in a write-combining buffer.
        }

        private void store(int bytes) throws IOException {
            if (bytes > 0) {
                remoteMap.copyFrom(payload.asSlice(0, bytes), 0);
            }
        }

        private void awaitSignal() throws IOException {
            SpinWait.until(() -> segments.own().getLongAcquire(flagOffset) == round);
        }

        @Override
        public void close() throws IOException {
            Resources.closeAll(segments.owned());
        }
    }

    /** A link over DMA transfers from a local segment to the peer's segment. */
    private record DmaLink(Segments segments, LocalSegment source, DmaQueue queue)
            implements LinkEnd {

        static LinkEnd open(Sisci sisci, ControlChannel peer, int largest) throws IOException {
            var segments = Segments.exchange(sisci, peer, largest);
            try {
                var node = segments.node();
                var source =
                        node.newSegment(
                                SegmentOptions.withFreeId(FIRST_SEGMENT, largest).asPrivate());
                source.prepare();
                return new DmaLink(segments, source, node.newDmaQueue(1));
            } catch (IOException | RuntimeException e) {
                Resources.closeAll(segments.owned());
                throw e;
            }
        }

        @Override
        public void exchange(int bytes) throws IOException {
            queue.post(DmaTransferRequest.push(source, 0, segments.remote(), 0, bytes));
            SpinWait.until(() -> queue.state() != DmaState.POSTED);
            if (queue.state() != DmaState.DONE) {
                throw new IOException("The DMA transfer ended in the state " + queue.state());
            }
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                exchange(bytes);
            }
        }

        @Override
        public void close() throws IOException {
            Resources.closeAll(segments.owned());
        }
    }
}
