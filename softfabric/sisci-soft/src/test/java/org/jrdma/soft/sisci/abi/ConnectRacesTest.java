package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.sisci.abi.ThreeNodes.BYTES;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of races between the owner of a segment and processes that connect or attach to the
 * segment.
 */
class ConnectRacesTest {

    private static final int ID = 7;
    private static final int ROUNDS = 100;
    private static final int OFFER_NANOS = 50_000; // About the duration of a connect.

    private ThreeNodes nodes;

    @BeforeEach
    void join() throws Exception {
        nodes = new ThreeNodes(FaultOptions.NONE);
    }

    @AfterEach
    void leave() throws Exception {
        nodes.close();
    }

    /** Runs an action repeatedly on another thread while {@code running} is true. */
    private static CompletableFuture<Void> repeatOnThread(AtomicBoolean running, Runnable action) {
        return CompletableFuture.runAsync(
                () -> {
                    while (running.get()) {
                        action.run();
                    }
                },
                task -> Thread.ofPlatform().daemon().start(task));
    }

    @Test
    void shouldNotMapThePreviousSegmentIfItWasRecreatedDuringTheConnect() throws Exception {
        var running = new AtomicBoolean(true);
        var isNextLarge = new AtomicBoolean();
        var owner =
                repeatOnThread(
                        running, () -> offerBriefly(isNextLarge.getAndSet(!isNextLarge.get())));

        for (var stamp = 1L; stamp <= ROUNDS; stamp++) {
            var remote = connect();
            var bytes = nodes.second.plain("SCIGetRemoteSegmentSize", remote);
            var map = nodes.second.mapRemote(remote, bytes);
            map.memory().set(JAVA_LONG, bytes - 8, stamp); // The access must not raise SIGBUS.
            assertThat(memoryOfOwner(bytes).get(JAVA_LONG, bytes - 8)).isEqualTo(stamp);
            nodes.second.ok("SCIUnmapSegment", map.handle(), 0);
            nodes.second.ok("SCIDisconnectSegment", remote, 0);
        }

        running.set(false);
        owner.join();
    }

    private volatile MemorySegment offered = MemorySegment.NULL;

    /** Offers a segment for a short time, and removes it after the peer has disconnected. */
    private void offerBriefly(boolean isLarge) {
        var bytes = isLarge ? BYTES : 4096;
        var segment = nodes.first.create(nodes.firstDescriptor, ID, bytes, 0);
        var map = nodes.first.mapLocal(segment, bytes);
        offered = map.memory();
        nodes.first.ok("SCIPrepareSegment", segment, 0, 0);
        nodes.first.ok("SCISetSegmentAvailable", segment, 0, 0);
        LockSupport.parkNanos(OFFER_NANOS);
        while (!nodes.first.attempt("SCISetSegmentUnavailable", segment, 0, 0).equals("OK")) {
            Thread.onSpinWait();
        }
        while (nodes.first.call("SCIWaitForLocalSegmentEvent", segment, 0, 0, 0, 0)
                == sisci_h.SCI_CB_CONNECT()) {
            nodes.first.localEvent(segment); // Waits until the peer has disconnected.
        }
        nodes.first.ok("SCIUnmapSegment", map.handle(), 0);
        while (!nodes.first.attempt("SCIRemoveSegment", segment, 0).equals("OK")) {
            Thread.onSpinWait();
        }
    }

    private MemorySegment memoryOfOwner(long bytes) {
        var memory = offered;
        assertThat(memory.byteSize()).isEqualTo(bytes);
        return memory;
    }

    private long connect() {
        var place = nodes.second.place();
        retryUntilSuccess(
                nodes.second,
                "SCIConnectSegment",
                nodes.secondDescriptor,
                place.address(),
                nodes.first.node(),
                ID,
                0,
                0,
                0,
                -1,
                0);
        return LibraryCaller.handle(place);
    }

    /**
     * Calls a function until it succeeds. Retries without a pause, because the owner offers the
     * segment only briefly.
     */
    private static void retryUntilSuccess(
            LibraryCaller process, String function, Object... arguments) {
        var end = System.nanoTime() + 30_000_000_000L;
        while (!process.attempt(function, arguments).equals("OK")) {
            assertThat(System.nanoTime()).as("%s not within 30 s", function).isLessThan(end);
        }
    }

    @Test
    void shouldReportARemovalRightAfterTheConnect() throws Exception {
        var segment = nodes.first.offer(nodes.firstDescriptor, ID, BYTES);
        var force = nodes.first.constant("SCI_FLAG_FORCE_DISCONNECT");
        var running = new AtomicBoolean(true);
        var owner =
                repeatOnThread(
                        running,
                        () -> {
                            nodes.first.attempt("SCISetSegmentUnavailable", segment, 0, force);
                            nodes.first.attempt("SCISetSegmentAvailable", segment, 0, 0);
                        });

        for (var round = 0; round < ROUNDS; round++) {
            var remote = connect();

            assertThat(nodes.second.remoteEvent(remote)).isEqualTo(sisci_h.SCI_CB_DISCONNECT());
            assertThat(
                            nodes.second.attempt(
                                    "SCIMapRemoteSegment",
                                    remote,
                                    nodes.second.place().address(),
                                    0,
                                    BYTES,
                                    0,
                                    0))
                    .isEqualTo("SEGMENT_NOT_CONNECTED");
            nodes.second.ok("SCIDisconnectSegment", remote, 0);
        }

        running.set(false);
        owner.join();
    }

    @Test
    void shouldReportARemovalRightAfterTheAttach() throws Exception {
        var running = new AtomicBoolean(true);
        var owner = repeatOnThread(running, this::shareBriefly);
        try (var attacher =
                LibraryCaller.in(SoftSisciOptions.in(nodes.folder).node(nodes.first.node()))) {
            var descriptor = attacher.open();
            var bytes = attacher.place();

            for (var round = 0; round < ROUNDS; round++) {
                var place = attacher.place();
                retryUntilSuccess(
                        attacher,
                        "SCIAttachLocalSegment",
                        descriptor,
                        place.address(),
                        ID,
                        bytes.address(),
                        0,
                        0,
                        0);
                var map = attacher.mapLocal(LibraryCaller.handle(place), BYTES);

                assertThat(attacher.localEvent(LibraryCaller.handle(place)))
                        .isEqualTo(sisci_h.SCI_CB_LOST());
                assertThat(map.memory().get(JAVA_LONG, 0)).isEqualTo(-1);
                attacher.ok("SCIUnmapSegment", map.handle(), 0);
                attacher.ok("SCIRemoveSegment", LibraryCaller.handle(place), 0);
            }
        }

        running.set(false);
        owner.join();
    }

    private void shareBriefly() {
        var segment = nodes.first.create(nodes.firstDescriptor, ID, BYTES, 0);
        nodes.first.ok("SCIShareSegment", segment, 0);
        LockSupport.parkNanos(OFFER_NANOS);
        nodes.first.ok("SCIRemoveSegment", segment, sisci_h.SCI_FLAG_FORCE_REMOVE());
    }
}
