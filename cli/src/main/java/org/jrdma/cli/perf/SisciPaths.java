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
import org.jrdma.sisci.DmaTransfer;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.Sisci;

/** What SISCI does: the processor's own stores into another node's memory, and DMA. */
final class SisciPaths {

    private static final int LARGEST = 64 << 20;
    private static final int WORD = Long.BYTES;

    /** Where free segments are looked for; any number does. */
    private static final int FIRST_SEGMENT = 0x4a00;

    /** The property that names the folder which the nodes of the software fabric share. */
    private static final String FABRIC = "jrdma.sisci.fabric";

    private static final Duration PATIENCE = ControlChannel.PATIENCE;

    private final Paths.Fabric fabric;

    SisciPaths(Paths.Fabric fabric) {
        this.fabric = fabric;
    }

    List<Path> all() {
        var provider = provider();
        return List.of(
                new Path(
                        "pio",
                        "SISCI stores of the processor" + fabric.suffix(),
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

    Provider provider() {
        return new Provider(Optional.of(fabric), Optional.empty(), whyNot(), whyItEndsHere());
    }

    Sisci sisci() throws FabricException {
        return fabric == Paths.Fabric.SYSTEM ? Sisci.system() : Sisci.software();
    }

    private Optional<String> whyItEndsHere() {
        return fabric == Paths.Fabric.SYSTEM || System.getProperty(FABRIC) != null
                ? Optional.empty()
                : Optional.of(
                        "the software fabric of SISCI is the memory of one machine; containers share a folder of it by -D%s"
                                .formatted(FABRIC));
    }

    private Optional<String> whyNot() {
        try {
            sisci().open().close();
            return Optional.empty();
        } catch (FabricException e) {
            return Optional.of(e.getMessage());
        }
    }

    /** A segment of each side, which the other is connected to. */
    private record Segments(
            Deque<AutoCloseable> owned, Node node, LocalMap own, RemoteSegment remote) {

        /** The peer sees {@code bytes} of this side. */
        static Segments swap(Sisci sisci, ControlChannel peer, long bytes) throws IOException {
            var owned = new ArrayDeque<AutoCloseable>();
            try {
                var node = sisci.open();
                owned.push(node);
                var segment = node.newSegment(SegmentOptions.withFreeId(FIRST_SEGMENT, bytes));
                var own = segment.map();
                segment.offer();
                var theirs = peer.swap(node.id() + " " + segment.id()).split(" ", 2);
                var remote =
                        node.connect(
                                Integer.parseInt(theirs[0]), Integer.parseInt(theirs[1]), PATIENCE);
                peer.swap("connected");
                return new Segments(owned, node, own, remote);
            } catch (IOException | RuntimeException e) {
                Closing.all(owned);
                throw e;
            }
        }
    }

    /**
     * Each side stores into the other's memory, and looks at its own until the last word changes.
     */
    private static final class StoreLink implements Link {

        private final Segments segments;
        private final RemoteMap theirs;
        private final MemorySegment payload;
        private final long ballAt;
        private long round;

        private StoreLink(Segments segments, RemoteMap theirs, MemorySegment payload) {
            this.segments = segments;
            this.theirs = theirs;
            this.payload = payload;
            this.ballAt = payload.byteSize();
        }

        static Link open(Sisci sisci, ControlChannel peer, int largest) throws IOException {
            var ballAt = Math.ceilDiv(largest, 64) * 64L; // in a cache line of its own
            var segments = Segments.swap(sisci, peer, ballAt + 64);
            try {
                var payload = Arena.ofAuto().allocate(ballAt, 64);
                return new StoreLink(segments, segments.remote().map(), payload);
            } catch (IOException | RuntimeException e) {
                Closing.all(segments.owned());
                throw e;
            }
        }

        @Override
        public void exchange(int bytes) throws IOException {
            round++;
            throwBall(bytes);
            awaitBall();
        }

        @Override
        public void answer(int bytes, int count) throws IOException {
            for (var exchange = 0; exchange < count; exchange++) {
                round++;
                awaitBall();
                throwBall(bytes);
            }
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                store(bytes);
            }
            exchange(WORD); // which the other side answers when all is there
        }

        @Override
        public void absorb(int bytes, int count) throws IOException {
            answer(WORD, 1);
        }

        private void throwBall(int bytes) throws IOException {
            store(bytes - WORD);
            theirs.putLongRelease(ballAt, round);
            theirs.flush(); // or it may stay in this processor for a while
        }

        private void store(int bytes) throws IOException {
            if (bytes > 0) {
                theirs.copyFrom(payload.asSlice(0, bytes), 0);
            }
        }

        private void awaitBall() throws IOException {
            Spin.until(() -> segments.own().getLongAcquire(ballAt) == round);
        }

        @Override
        public void close() throws IOException {
            Closing.all(segments.owned());
        }
    }

    /** An engine pushes a segment of this side into one of the other. */
    private record DmaLink(Segments segments, LocalSegment source, DmaQueue queue) implements Link {

        static Link open(Sisci sisci, ControlChannel peer, int largest) throws IOException {
            var segments = Segments.swap(sisci, peer, largest);
            try {
                var node = segments.node();
                var source =
                        node.newSegment(
                                SegmentOptions.withFreeId(FIRST_SEGMENT, largest)
                                        .forThisSideOnly());
                source.prepare();
                return new DmaLink(segments, source, node.newDmaQueue(1));
            } catch (IOException | RuntimeException e) {
                Closing.all(segments.owned());
                throw e;
            }
        }

        @Override
        public void exchange(int bytes) throws IOException {
            queue.transfer(DmaTransfer.push(source, 0, segments.remote(), 0, bytes), PATIENCE);
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                exchange(bytes);
            }
        }

        @Override
        public void close() throws IOException {
            Closing.all(segments.owned());
        }
    }
}
