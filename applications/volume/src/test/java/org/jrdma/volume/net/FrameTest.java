package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.util.Random;
import org.jrdma.volume.net.BulkData.Direction;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.junit.jupiter.api.Test;

/** Tests the encoding of frame headers, and the rejection of malformed ones. */
final class FrameTest {

    private static final FrameHeader HEADER =
            new FrameHeader(Kind.REQUEST, Direction.TO_PEER, 3, 7, 4096, 100, 0x1234_5678_9abcL, 9);

    private static final FrameHeader READ =
            new FrameHeader(Kind.REQUEST, Direction.FROM_PEER, 3, 7, 4096, 100, 1, 9);

    private static ByteBuffer encoded(FrameHeader header) {
        var bytes = ByteBuffer.allocate(FrameHeader.BYTES);
        header.encode(bytes);
        return bytes.flip();
    }

    @Test
    void shouldDecodeWhatItEncodes() throws Exception {
        for (var header :
                new FrameHeader[] {
                    HEADER,
                    HEADER.reply(Kind.REPLY, 5),
                    FrameHeader.of(Kind.SENT, 7, 0),
                    FrameHeader.of(Kind.MISSING, 7, 8),
                    FrameHeader.of(Kind.ARRIVED, 7, 0),
                    READ.expecting(0xFFFF),
                    READ.expecting(5).reply(Kind.REPLY, 3),
                    FrameHeader.of(Kind.PING, 0),
                    new FrameHeader(Kind.REPLY, Direction.FROM_PEER, 0, -1, 0, 1, 0, 0)
                }) {
            assertThat(FrameHeader.decode(encoded(header))).isEqualTo(header);
        }
    }

    @Test
    void shouldRejectInconsistentFields() {
        for (var header :
                new FrameHeader[] {
                    new FrameHeader(Kind.REQUEST, null, 0, 1, 1, 0, 0, 0),
                    new FrameHeader(Kind.REQUEST, null, 0, 1, 0, 1, 0, 0),
                    new FrameHeader(Kind.REQUEST, Direction.TO_PEER, 0, 1, -1, 1, 0, 0),
                    new FrameHeader(Kind.REQUEST, Direction.TO_PEER, 0, 1, 0, 0, 0, 0),
                    new FrameHeader(Kind.REQUEST, Direction.TO_PEER, 0, 1, 0, -1, 0, 0),
                    new FrameHeader(Kind.REPLY, Direction.TO_PEER, 0, 1, 0, 1, 0, 0),
                    new FrameHeader(Kind.PING, Direction.FROM_PEER, 0, 1, 0, 1, 0, 0),
                    HEADER.expecting(1),
                    FrameHeader.of(Kind.SENT, 7, 0).expecting(1),
                    new FrameHeader(Kind.REQUEST, null, -1, 1, 0, 0, 0, 0),
                    new FrameHeader(
                            Kind.REQUEST, null, NodeConnection.MAX_MESSAGE_BYTES + 1, 1, 0, 0, 0, 0)
                }) {
            assertThatExceptionOfType(ProtocolException.class)
                    .isThrownBy(() -> FrameHeader.decode(encoded(header)));
        }
    }

    @Test
    void shouldRejectChangedBytesOrDecodeThemConsistently() {
        var random = new Random(2);
        for (var repeat = 0; repeat < 20_000; repeat++) {
            var bytes = encoded(HEADER);
            for (var change = random.nextInt(4); change >= 0; change--) {
                bytes.put(random.nextInt(FrameHeader.BYTES), (byte) random.nextInt());
            }
            try {
                var header = FrameHeader.decode(bytes.duplicate());
                assertThat(encoded(header)).isEqualTo(bytes);
            } catch (ProtocolException _) {
                // rejected
            }
        }
    }

    @Test
    void shouldRejectAMessageOfTheWrongLength() {
        for (var bytes : new int[] {0, FrameHeader.BYTES - 1, FrameHeader.BYTES, 44}) {
            var message = ByteBuffer.allocate(44);
            HEADER.encode(message);
            message.position(0).limit(bytes);
            assertThatExceptionOfType(ProtocolException.class)
                    .isThrownBy(() -> Frame.decode(message));
        }
    }
}
