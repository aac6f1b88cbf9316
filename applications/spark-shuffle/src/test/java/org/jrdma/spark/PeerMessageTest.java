package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jrdma.verbs.model.RemoteMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PeerMessageTest {

    private static final PartitionRange RANGE = new PartitionRange(1, 2, 3, 4);
    private static final RemoteMemory MEMORY = new RemoteMemory(1L << 40, -2, 3);

    static Stream<PeerMessage> messages() {
        return Stream.of(
                new PeerMessage.Locate(7, List.of(RANGE)),
                new PeerMessage.Locate(7, Collections.nCopies(PeerMessage.MAX_BLOCKS, RANGE)),
                new PeerMessage.Release(-1),
                new PeerMessage.Located(7, List.of(Optional.of(MEMORY), Optional.empty())),
                new PeerMessage.Located(
                        7, Collections.nCopies(PeerMessage.MAX_BLOCKS, Optional.of(MEMORY))));
    }

    @ParameterizedTest
    @MethodSource("messages")
    void shouldDecodeWhatWasEncoded(PeerMessage message) throws ProtocolException {
        assertThat(PeerMessage.decode(message.encode())).isEqualTo(message);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void shouldRejectTruncatedMessages(PeerMessage message) {
        var bytes = message.encode();
        bytes.limit(bytes.limit() - 1);

        assertThatThrownBy(() -> PeerMessage.decode(bytes)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldRejectUnknownTypesAndNumbersOfBlocks() {
        assertThatThrownBy(() -> PeerMessage.decode(ByteBuffer.allocate(9)))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("Unknown type");
        for (var count : List.of(-1, PeerMessage.MAX_BLOCKS + 1)) {
            var bytes = ByteBuffer.allocate(100_000).put((byte) 1).putInt(7).putInt(count).rewind();
            assertThatThrownBy(() -> PeerMessage.decode(bytes))
                    .isInstanceOf(ProtocolException.class)
                    .hasMessageContaining("blocks");
        }
    }

    @Test
    void shouldRejectNegativeLengths() {
        var bytes = new PeerMessage.Located(7, List.of(Optional.of(MEMORY))).encode();
        bytes.putLong(bytes.limit() - Long.BYTES, -1);

        assertThatThrownBy(() -> PeerMessage.decode(bytes)).isInstanceOf(ProtocolException.class);
    }
}
