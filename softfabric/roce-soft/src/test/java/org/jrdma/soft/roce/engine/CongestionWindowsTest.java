package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that the window of a path follows the capacity of the path. */
class CongestionWindowsTest {

    private static final RoceGid REMOTE = RoceGid.ipv4(0x7f000002);
    private static final long UDP_BYTES = 300 << 10;
    private static final long RING_BYTES = 2 << 20;
    private static final int STEP = 4 << 10;

    private final Sender sender = new Sender();
    private final CongestionWindows windows = new CongestionWindows(sender, UDP_BYTES);

    private static final class Sender implements NetworkPacketSender {

        private boolean usesRing;

        @Override
        public @Nullable PacketBuffer claim() {
            return null;
        }

        @Override
        public void send(PacketBuffer packet) {
            throw new AssertionError("There is no queue pair that could send.");
        }

        @Override
        public long pathBytes(RoceGid remote, long usual) {
            return usesRing ? RING_BYTES : usual;
        }
    }

    /** Returns the window after it has grown as far as it can. */
    private static long grown(PathCongestionWindow path) {
        var share = new PathCongestionWindow.Share();
        for (var i = 0; i < 1_000; i++) {
            path.sent(share, 256 << 10);
            path.acknowledged(share, 1, 1);
        }
        return window(path);
    }

    /** A queue pair must request an acknowledgement after a quarter of the window. */
    private static long window(PathCongestionWindow path) {
        var quarter = 0;
        while (!path.mustRequestAcknowledgement(0, quarter)) {
            quarter += STEP / 4;
        }
        return 4L * quarter;
    }

    @Test
    void shouldReduceTheWindowIfThePathLosesItsRing() {
        sender.usesRing = true;
        var path = windows.enter(REMOTE, 0);
        assertThat(grown(path)).isEqualTo(RING_BYTES);

        sender.usesRing = false;
        windows.updateCapacities();
        assertThat(window(path)).isEqualTo(UDP_BYTES);
        assertThat(grown(path)).isEqualTo(UDP_BYTES);
    }

    @Test
    void shouldEnlargeTheWindowIfALaterQueuePairFindsARing() {
        var path = windows.enter(REMOTE, 0);
        assertThat(grown(path)).isEqualTo(UDP_BYTES);

        sender.usesRing = true;
        assertThat(windows.enter(REMOTE, 0)).isSameAs(path);
        assertThat(grown(path)).isEqualTo(RING_BYTES);
    }
}
