package org.jrdma.soft.roce.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.RoceGid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests when a port creates a ring. */
class OutgoingRingsTest {

    /** A prefix that no other test process uses. */
    private static final long PREFIX =
            0x2001_0db8L << 32 | Integer.toUnsignedLong(ThreadLocalRandom.current().nextInt());

    private static final RoceGid OWN = new RoceGid(PREFIX, 1);
    private static final RoceGid PEER = new RoceGid(PREFIX, 2);

    private final List<RingPeer> peers = new ArrayList<>();
    private final OutgoingRings rings = new OutgoingRings(OWN, LocalUser.ofThisProcess(), () -> {});

    @AfterEach
    void close() {
        rings.close();
        peers.forEach(RingPeer::close);
    }

    private RingPeer open(RoceGid address) throws FabricException {
        var peer = RingPeer.at(address);
        peers.add(peer);
        return peer;
    }

    private int attempts() {
        var attempts = 0;
        for (var peer : peers) {
            while (peer.tryAcceptConnection() != null) {
                attempts++;
            }
        }
        return attempts;
    }

    @Test
    void shouldFindARingOnlyAfterItWasPrepared() throws Exception {
        open(PEER);
        assertThat(rings.find(PEER.high(), PEER.low())).isNull();
        assertThat(attempts()).isZero();

        assertThat(rings.prepare(PEER)).isTrue();
        assertThat(rings.find(PEER.high(), PEER.low())).isNotNull();
        assertThat(rings.prepare(PEER)).isTrue();
        assertThat(attempts()).isOne();
    }

    @Test
    void shouldUseUdpForAPeerOfAnotherUser() throws Exception {
        open(PEER);
        var another = new LocalUser(LocalUser.ofThisProcess().id() + 1);
        assertThat(new OutgoingRings(OWN, another, () -> {}).prepare(PEER)).isFalse();
    }

    @Test
    void shouldPrepareARingAlthoughAnEarlierAttemptHasFailed() throws Exception {
        assertThat(rings.prepare(PEER)).isFalse();
        open(PEER);
        assertThat(rings.prepare(PEER)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"224.0.0.0", "ff15::", "fe80::"})
    void shouldNeverShareMemoryForMulticastAndLinkLocalAddresses(String first) throws Exception {
        var base = RoceGid.of(InetAddress.ofLiteral(first));
        var suffix = ThreadLocalRandom.current().nextInt(1 << 24);
        var address = new RoceGid(base.high(), base.low() + suffix);
        open(address);
        assertThat(rings.prepare(address)).isFalse();
        assertThat(attempts()).isZero();
    }
}
