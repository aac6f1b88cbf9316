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

/** Tests when a port tries to create a ring. The tests choose the time. */
class OutgoingRingsTest {

    private static final long MILLIS = 1_000_000;
    private static final long SECONDS = 1_000 * MILLIS;
    private static final long UDP_BYTES = 77;

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

    /** Creates rings for a user that is not the user of the peers, so that each attempt fails. */
    private static OutgoingRings ofAnotherUser() {
        var user = new LocalUser(LocalUser.ofThisProcess().id() + 1);
        return new OutgoingRings(OWN, user, () -> {});
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

    private static boolean hasRing(OutgoingRings rings, boolean isDatagram, long now) {
        return rings.to(PEER.high(), PEER.low(), isDatagram, now) != null;
    }

    @Test
    void shouldLimitTheAttemptsForManyAddresses() throws Exception {
        var addresses = 80;
        for (var i = 0; i < addresses; i++) {
            open(new RoceGid(PREFIX, 100 + i));
        }
        var refused = ofAnotherUser();
        var packets = 0;
        var attempts = 0;
        for (var now = 0L; now < 900 * MILLIS; now += 10_000) {
            refused.to(PREFIX, 100 + packets % addresses, true, now);
            packets++;
            if (now == 300 * MILLIS) {
                attempts = attempts();
                assertThat(attempts).isBetween(25, 31); // one in 10 ms
            }
        }
        assertThat(attempts + attempts()).isEqualTo(addresses);
    }

    @Test
    void shouldDoubleTheTimeBetweenAttempts() throws Exception {
        open(PEER);
        var refused = ofAnotherUser();
        for (var now = 0L; now < 180 * SECONDS; now += 5 * MILLIS) {
            assertThat(hasRing(refused, true, now)).isFalse();
        }
        assertThat(attempts()).isEqualTo(8); // after 0, 1, 3, 7, 15, 31, 63 and 127 s
    }

    @Test
    void shouldTryAgainLaterForEachRemovedRing() throws Exception {
        try (var port = SharedMemoryRings.open(OWN, () -> {})) {
            var outgoing = port.outgoing();
            var now = 0L;
            for (var seconds : new int[] {1, 2, 4}) {
                var peer = RingPeer.at(PEER);
                assertThat(hasRing(outgoing, true, now)).isTrue();
                peer.close();
                port.poll(now);
                try (var _ = RingPeer.at(PEER)) {
                    assertThat(hasRing(outgoing, true, now + seconds * SECONDS - 1)).isFalse();
                }
                now += seconds * SECONDS;
            }
        }
    }

    @Test
    void shouldCreateARingForADatagramAndForAConnectionOnly() throws Exception {
        assertThat(hasRing(rings, true, 0)).isFalse(); // The attempt fails.
        open(PEER);
        assertThat(hasRing(rings, true, SECONDS - 1)).isFalse();
        assertThat(hasRing(rings, false, SECONDS)).isFalse();
        assertThat(attempts()).isZero();

        assertThat(hasRing(rings, true, SECONDS)).isTrue();
        assertThat(hasRing(rings, false, SECONDS)).isTrue();
    }

    @Test
    void shouldCreateARingForAConnectionAlthoughAnAttemptHasFailed() throws Exception {
        assertThat(rings.prepare(PEER, UDP_BYTES, 0)).isEqualTo(UDP_BYTES);
        open(PEER);
        assertThat(rings.prepare(PEER, UDP_BYTES, 0)).isNotEqualTo(UDP_BYTES);
        assertThat(hasRing(rings, false, 0)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"224.0.0.0", "ff15::", "fe80::"})
    void shouldNeverShareMemoryForMulticastAndLinkLocalAddresses(String first) throws Exception {
        var base = RoceGid.of(InetAddress.ofLiteral(first));
        var suffix = ThreadLocalRandom.current().nextInt(1 << 24);
        var address = new RoceGid(base.high(), base.low() + suffix);
        open(address);
        assertThat(rings.prepare(address, UDP_BYTES, 0)).isEqualTo(UDP_BYTES);
        assertThat(rings.to(address.high(), address.low(), true, SECONDS)).isNull();
        assertThat(attempts()).isZero();
    }
}
