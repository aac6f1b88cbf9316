package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.sisci.abi.ThreeNodes.BYTES;
import static org.jrdma.soft.sisci.abi.ThreeNodes.eventually;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.FaultOptions;
import org.junit.jupiter.api.Test;

/**
 * Tests of faults that are injected into the second node. In most tests, the second node uses a
 * segment of the first node.
 */
class FaultOptionsTest {

    private static final VarHandle WORD = JAVA_LONG.varHandle();

    @Test
    void shouldDelayWeakStoresUntilAFlush() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.weakMemory(true))) {
            var ownMemory = ownMemory(nodes);
            var map = map(nodes, 0);

            map.memory().set(JAVA_LONG, 128, 5);
            Thread.sleep(20);
            assertThat(ownMemory.get(JAVA_LONG, 128)).isZero();
            nodes.second.plain("SCIFlush", 0, 0);

            assertThat(ownMemory.get(JAVA_LONG, 128)).isEqualTo(5);
        }
    }

    private static MemorySegment ownMemory(ThreeNodes nodes) {
        var segment = nodes.first.offer(nodes.firstDescriptor, 7, BYTES);
        return nodes.first.mapLocal(segment, BYTES).memory();
    }

    private static LibraryCaller.Mapped map(ThreeNodes nodes, int flags) {
        var remote = nodes.second.connect(nodes.secondDescriptor, nodes.first.node(), 7);
        return nodes.second.map("SCIMapRemoteSegment", remote, 0, BYTES, flags);
    }

    @Test
    void shouldDeliverWeakStoresAtEachBarrierCheckAndCopy() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.weakMemory(true))) {
            var ownMemory = ownMemory(nodes);
            var map = map(nodes, 0);
            var sequence = nodes.second.sequence(map);

            map.memory().set(JAVA_LONG, 0, 1);
            nodes.second.plain("SCIStoreBarrier", sequence, 0);
            assertThat(ownMemory.get(JAVA_LONG, 0)).isEqualTo(1);
            map.memory().set(JAVA_LONG, 0, 2);
            nodes.second.ok("SCICheckSequence", sequence, 0);
            assertThat(ownMemory.get(JAVA_LONG, 0)).isEqualTo(2);
            var three = nodes.second.place();
            three.set(JAVA_LONG, 0, 3);
            nodes.second.ok("SCIMemCpy", 0, three.address(), map.handle(), 0, 8, 0);
            assertThat(ownMemory.get(JAVA_LONG, 0)).isEqualTo(3);
            map.memory().set(JAVA_LONG, 0, 4);
            var noFlushAndNoBarrier =
                    nodes.second.constant("SCI_FLAG_NO_FLUSH")
                            | nodes.second.constant("SCI_FLAG_NO_STORE_BARRIER");
            nodes.second.ok("SCICheckSequence", sequence, noFlushAndNoBarrier);
            assertThat(ownMemory.get(JAVA_LONG, 0)).isEqualTo(3);
        }
    }

    @Test
    void shouldShowStoresOfTheOwnerInAWeakMap() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.weakMemory(true))) {
            var ownMemory = ownMemory(nodes);
            var map = map(nodes, 0).memory();

            ownMemory.set(JAVA_LONG, 64, 6);

            eventually(() -> (long) WORD.getVolatile(map, 64L) == 6);
        }
    }

    @Test
    void shouldDeliverUncachedStoresImmediately() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.weakMemory(true))) {
            var ownMemory = ownMemory(nodes);
            var map = map(nodes, sisci_h.SCI_FLAG_IO_MAP_IOSPACE());

            map.memory().set(JAVA_LONG, 0, 5);

            assertThat(ownMemory.get(JAVA_LONG, 0)).isEqualTo(5);
        }
    }

    @Test
    void shouldReorderWeakLinesWithoutTearingAWord() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.weakMemory(true))) {
            var ownMemory = ownMemory(nodes);
            var map = map(nodes, 0).memory();

            assertThat(countReordered(nodes, ownMemory, 1024, map, map.asSlice(1024))).isPositive();
        }
    }

    @Test
    void shouldReorderWeakPages() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.weakMemory(true))) {
            var ownMemory = ownMemory(nodes);
            var map = map(nodes, 0).memory();

            assertThat(countReordered(nodes, ownMemory, 4096, map, map.asSlice(4096))).isPositive();
        }
    }

    @Test
    void shouldReorderWeakMaps() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.weakMemory(true))) {
            var ownMemory = ownMemory(nodes);
            var first = map(nodes, 0).memory();
            var second = map(nodes, 0).memory();

            assertThat(countReordered(nodes, ownMemory, 4096, first, second.asSlice(4096)))
                    .isPositive();
        }
    }

    /** Returns the number of times that a flag arrived before an earlier store. */
    private static int countReordered(
            ThreeNodes nodes,
            MemorySegment ownMemory,
            long flagOffset,
            MemorySegment payload,
            MemorySegment flag)
            throws InterruptedException {
        var reordered = 0;
        // The timeout is long, because the threads may share a processor.
        var deadline = System.nanoTime() + 20_000_000_000L;
        for (var round = 1L;
                round <= 200 || (reordered == 0 && System.nanoTime() < deadline);
                round++) {
            var value = round << 32 | round;
            payload.set(JAVA_LONG, 0, value);
            flag.set(JAVA_LONG, 0, value);
            var flusher = Thread.ofPlatform().start(() -> nodes.second.plain("SCIFlush", 0, 0));
            while ((long) WORD.getVolatile(ownMemory, flagOffset) != value) {
                Thread.onSpinWait();
            }
            var earlier = (long) WORD.getVolatile(ownMemory, 0L);
            reordered += earlier == value ? 0 : 1;
            assertThat((int) earlier).isEqualTo((int) (earlier >>> 32));
            flusher.join();
        }
        return reordered;
    }

    @Test
    void shouldRefuseTheConfiguredNumberOfConnectRequests() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.refusals(2))) {
            nodes.second.offer(nodes.secondDescriptor, 9, BYTES);

            for (var i = 0; i < 2; i++) {
                assertThat(
                                nodes.first.attempt(
                                        "SCIConnectSegment",
                                        nodes.firstDescriptor,
                                        nodes.first.place().address(),
                                        nodes.second.node(),
                                        9,
                                        0,
                                        0,
                                        0,
                                        -1,
                                        0))
                        .isEqualTo("CONNECTION_REFUSED");
            }
            nodes.first.connect(nodes.firstDescriptor, nodes.second.node(), 9);
        }
    }

    @Test
    void shouldRejectAMapBeyondTheWindowUntilAnotherIsUnmapped() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.mapBytes(BYTES))) {
            ownMemory(nodes);
            var map = map(nodes, 0);
            var remote = nodes.second.connect(nodes.secondDescriptor, nodes.first.node(), 7);

            assertThat(
                            nodes.second.attempt(
                                    "SCIMapRemoteSegment",
                                    remote,
                                    nodes.second.place().address(),
                                    0,
                                    4096,
                                    0,
                                    0))
                    .isEqualTo("HW_NOSPC");
            nodes.second.ok("SCIUnmapSegment", map.handle(), 0);
            nodes.second.mapRemote(remote, BYTES);
        }
    }

    @Test
    void shouldDelayTransfers() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE.delay(Duration.ofMillis(200)))) {
            ownMemory(nodes);
            var local = nodes.second.offer(nodes.secondDescriptor, 8, BYTES);
            var remote = nodes.second.connect(nodes.secondDescriptor, nodes.first.node(), 7);
            var queue = nodes.second.place();
            nodes.second.ok("SCICreateDMAQueue", nodes.secondDescriptor, queue.address(), 0, 1, 0);

            nodes.second.ok(
                    "SCIStartDmaTransfer",
                    LibraryCaller.handle(queue),
                    local,
                    remote,
                    0,
                    BYTES,
                    0,
                    0,
                    0,
                    0);

            assertThat(
                            nodes.second.attempt(
                                    "SCIWaitForDMAQueue", LibraryCaller.handle(queue), 20, 0))
                    .isEqualTo("TIMEOUT");
            assertThat(nodes.second.ok("SCIWaitForDMAQueue", LibraryCaller.handle(queue), 5_000, 0))
                    .isEqualTo(sisci_h.SCI_DMAQUEUE_DONE());
        }
    }

    @Test
    void shouldRejectASegmentThatExceedsTheFileSystem() throws Exception {
        try (var nodes = new ThreeNodes(FaultOptions.NONE)) {
            var tooManyBytes = 2 * Files.getFileStore(Path.of("/dev/shm")).getTotalSpace();

            assertThat(
                            nodes.first.attempt(
                                    "SCICreateSegment",
                                    nodes.firstDescriptor,
                                    nodes.first.place().address(),
                                    1,
                                    tooManyBytes,
                                    0,
                                    0,
                                    0))
                    .isEqualTo("NOSPC");
            nodes.first.create(nodes.firstDescriptor, 1, BYTES, 0);
        }
    }
}
