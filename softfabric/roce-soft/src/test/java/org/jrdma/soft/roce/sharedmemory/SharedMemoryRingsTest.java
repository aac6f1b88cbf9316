package org.jrdma.soft.roce.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how a port accepts rings and handles signals. The tests choose the time. */
class SharedMemoryRingsTest {

    private static final LocalUser USER = LocalUser.ofThisProcess();

    private final RoceGid own = address();
    private RingPeer peer;

    private static RoceGid address() {
        return new RoceGid(0x2001_0db8L << 32, ThreadLocalRandom.current().nextLong());
    }

    @BeforeEach
    void open() throws FabricException {
        peer = RingPeer.at(address());
    }

    @AfterEach
    void close() {
        peer.close();
    }

    @Test
    void shouldAcceptFewConnectionsAtATime() throws Exception {
        try (var rings = SharedMemoryRings.open(own, () -> {})) {
            for (var i = 0; i < 2 * IncomingRings.MAX_ACCEPTED + 1; i++) {
                peer.connection(own);
            }
            rings.poll(0);
            assertThat(rings.descriptors()).hasSize(1 + IncomingRings.MAX_ACCEPTED);
            rings.poll(0);
            assertThat(rings.descriptors()).hasSize(1 + 2 * IncomingRings.MAX_ACCEPTED);
            rings.poll(0);
            assertThat(rings.descriptors()).hasSize(2 + 2 * IncomingRings.MAX_ACCEPTED);
        }
    }

    /** A listening socket that stays readable would end each wait of the port at once. */
    @Test
    void shouldStopListeningForASecondIfItCannotAcceptAConnection() throws Exception {
        var readable = RaisableDescriptor.open(); // accept() always fails for this descriptor.
        readable.raise();
        var listener = new RingListener(own, OpenFile.of(readable.number()));
        try (var rings = new SharedMemoryRings(own, listener, USER, () -> {})) {
            rings.poll(1);
            assertThat(rings.descriptors()).containsExactly(-1);
            assertThat(rings.nextDeadline()).isEqualTo(1_000_000_001);
            rings.poll(1_000_000_000);
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> peer.connection(own))
                    .withMessageContaining("ECONNREFUSED");

            rings.poll(1_000_000_001);
            assertThat(rings.nextDeadline()).isEqualTo(Long.MAX_VALUE);
            peer.connection(own);
            rings.poll(1_000_000_001);
            assertThat(rings.descriptors()).hasSize(2).doesNotContain(-1);
        }
    }

    /** Otherwise, the thread of the port could not sleep again until the next regular check. */
    @Test
    void shouldReceiveTheSignalThatHasEndedASleep() throws Exception {
        try (var rings = SharedMemoryRings.open(own, () -> {})) {
            var ring = peer.connect(own);
            rings.poll(0);
            assertThat(rings.prepareToWait()).isTrue();
            var packet = new PacketBuffer();
            packet.length(64);
            ring.writer().append(packet);
            ring.writer().publish();
            assertThat(hasEvent(rings.descriptors())).isTrue();

            rings.endWait();
            rings.check(1);
            assertThat(hasEvent(rings.descriptors())).isFalse();
        }
    }

    private static boolean hasEvent(int[] descriptors) {
        var set = new SeqPacketSocket.Set(descriptors.length, Arena.ofAuto());
        for (var descriptor : descriptors) {
            set.add(descriptor, SeqPacketSocket.READABLE);
        }
        set.poll();
        for (var i = 0; i < descriptors.length; i++) {
            if (set.isReady(i, SeqPacketSocket.READABLE)) {
                return true;
            }
        }
        return false;
    }

    /** Different users of another user namespace can have this user id. */
    @Test
    void shouldNotShareMemoryAsAnUnknownUser() {
        assertThat(SharedMemoryRings.open(own, new LocalUser(65_534), () -> {})).isNull();
    }

    @Test
    void shouldNotShareMemoryAtALinkLocalAddress() {
        assertThat(SharedMemoryRings.open(new RoceGid(0xfe80L << 48, 1), () -> {})).isNull();
    }
}
