package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of a segment of the first node, to which the second node connects. */
class SegmentTest {

    private static final long BYTES = 64 << 10;

    private Path folder;
    private LibraryCaller owner;
    private LibraryCaller peer;
    private long ownerDescriptor;
    private long peerDescriptor;

    @BeforeEach
    void joinTwoNodes() throws Exception {
        folder = Files.createTempDirectory(Path.of("/dev/shm"), "sisci-test");
        owner = LibraryCaller.in(SoftSisciOptions.in(folder));
        peer = LibraryCaller.in(SoftSisciOptions.in(folder));
        ownerDescriptor = owner.open();
        peerDescriptor = peer.open();
    }

    @AfterEach
    void leaveAndVerifyThatNoFileRemains() throws Exception {
        owner.close();
        peer.close();
        try (var files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
        Files.delete(folder);
    }

    @Test
    void shouldAssignDistinctMultiplesOfFourToTheNodes() {
        assertThat(owner.node()).isEqualTo(4);
        assertThat(peer.node()).isEqualTo(8);
        assertThat(owner.ok("SCIProbeNode", ownerDescriptor, 0, 8, 0)).isEqualTo(1);
        assertThat(owner.ok("SCIProbeNode", ownerDescriptor, 0, 12, 0)).isZero();
    }

    @Test
    void shouldStoreIntoTheMemoryOfTheOwner() {
        var segment = owner.offer(ownerDescriptor, 7, BYTES);
        var own = owner.mapLocal(segment, BYTES);
        var remote = peer.connect(peerDescriptor, owner.node(), 7);
        var map = peer.mapRemote(remote, BYTES);

        map.memory().set(JAVA_LONG, 4096, 42);
        own.memory().set(JAVA_LONG, 8, 43);

        assertThat(own.memory().get(JAVA_LONG, 4096)).isEqualTo(42);
        assertThat(map.memory().get(JAVA_LONG, 8)).isEqualTo(43);
        assertThat(peer.plain("SCIGetRemoteSegmentSize", remote)).isEqualTo(BYTES);
        assertThat(owner.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_CONNECT());
    }

    @Test
    void shouldReportBusyUnlessObjectsAreRemovedInOrder() {
        var segment = owner.offer(ownerDescriptor, 7, BYTES);
        var remote = peer.connect(peerDescriptor, owner.node(), 7);
        var map = peer.mapRemote(remote, BYTES);
        var sequence = peer.sequence(map);

        assertThat(peer.attempt("SCIUnmapSegment", map.handle(), 0)).isEqualTo("BUSY");
        peer.ok("SCIRemoveSequence", sequence, 0);
        assertThat(peer.attempt("SCIDisconnectSegment", remote, 0)).isEqualTo("BUSY");
        peer.ok("SCIUnmapSegment", map.handle(), 0);
        assertThat(owner.attempt("SCIRemoveSegment", segment, 0)).isEqualTo("BUSY");
        assertThat(peer.attempt("SCIClose", peerDescriptor, 0)).isEqualTo("BUSY");
        peer.ok("SCIDisconnectSegment", remote, 0);
        peer.ok("SCIClose", peerDescriptor, 0);
        assertThat(owner.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_CONNECT());
        assertThat(owner.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_DISCONNECT());
        owner.ok("SCISetSegmentUnavailable", segment, 0, 0);
        owner.ok("SCIRemoveSegment", segment, 0);
        owner.ok("SCIClose", ownerDescriptor, 0);
        assertThat(owner.attempt("SCIRemoveSegment", segment, 0)).isEqualTo("ILLEGAL_PARAMETER");
    }

    @Test
    void shouldUseTheFirstFreeIdStartingAtTheRequestedId() {
        owner.create(ownerDescriptor, 1024, BYTES, 0);

        var automatic = owner.create(ownerDescriptor, 1024, BYTES, sisci_h.SCI_FLAG_AUTO_ID());
        var zero = owner.create(ownerDescriptor, 0, BYTES, 0);

        assertThat(owner.plain("SCIGetLocalSegmentId", automatic)).isEqualTo(1025);
        assertThat(owner.plain("SCIGetLocalSegmentId", zero)).isZero();
        assertThat(
                        owner.attempt(
                                "SCICreateSegment",
                                ownerDescriptor,
                                owner.place().address(),
                                0,
                                BYTES,
                                0,
                                0,
                                0))
                .isEqualTo("SEGMENTID_USED");
    }

    @Test
    void shouldRejectConnectionsToPrivateAndUnavailableSegments() {
        owner.create(ownerDescriptor, 1, BYTES, 0);
        var hidden = owner.create(ownerDescriptor, 2, BYTES, sisci_h.SCI_FLAG_PRIVATE());
        owner.ok("SCIPrepareSegment", hidden, 0, 0);

        assertThat(owner.attempt("SCISetSegmentAvailable", hidden, 0, 0))
                .isEqualTo("ILLEGAL_OPERATION");
        for (var id = 1; id <= 3; id++) {
            assertThat(connectError(owner.node(), id)).isEqualTo("NO_SUCH_INTNO");
        }
        assertThat(connectError(12, 1)).isEqualTo("NO_SUCH_NODEID");
        assertThat(connectError(13, 1)).isEqualTo("ILLEGAL_NODEID");
    }

    private String connectError(int node, int id) {
        return peer.attempt(
                "SCIConnectSegment",
                peerDescriptor,
                peer.place().address(),
                node,
                id,
                0,
                0,
                0,
                -1,
                0);
    }

    @Test
    void shouldShareMemoryOfTheProgramAndKeepItsContents() {
        try (var arena = Arena.ofConfined()) {
            var memory = arena.allocate(2 * BYTES, 4096).asSlice(0, BYTES);
            memory.set(JAVA_LONG, 0, 1);
            var segment = owner.create(ownerDescriptor, 7, 0, sisci_h.SCI_FLAG_EMPTY());
            assertThat(owner.attempt("SCIPrepareSegment", segment, 0, 0))
                    .isEqualTo("ILLEGAL_OPERATION");
            owner.ok("SCIRegisterSegmentMemory", memory.address(), BYTES, segment, 0x400);
            owner.ok("SCIPrepareSegment", segment, 0, 0);
            owner.ok("SCISetSegmentAvailable", segment, 0, 0);
            var remote = peer.connect(peerDescriptor, owner.node(), 7);
            var map = peer.mapRemote(remote, BYTES);

            assertThat(map.memory().get(JAVA_LONG, 0)).isEqualTo(1);
            map.memory().set(JAVA_LONG, 8, 2);
            assertThat(memory.get(JAVA_LONG, 8)).isEqualTo(2);
            peer.ok("SCIUnmapSegment", map.handle(), 0);
            peer.ok("SCIDisconnectSegment", remote, 0);
            owner.localEvent(segment);
            owner.localEvent(segment); // Waits until the peer has disconnected.
            owner.ok("SCIRemoveSegment", segment, 0);
            assertThat(memory.get(JAVA_LONG, 8)).isEqualTo(2);
        }
    }

    @Test
    void shouldRejectUnmappedAndUnalignedMemory() {
        var segment = owner.create(ownerDescriptor, 7, 0, sisci_h.SCI_FLAG_EMPTY());

        assertThat(owner.attempt("SCIRegisterSegmentMemory", 4096, BYTES, segment, 0x400))
                .isEqualTo("ILLEGAL_ADDRESS");
        assertThat(
                        owner.attempt(
                                "SCIRegisterSegmentMemory",
                                MemorySegment.NULL.address(),
                                100,
                                segment,
                                0x400))
                .isEqualTo("SIZE_ALIGNMENT");
    }
}
