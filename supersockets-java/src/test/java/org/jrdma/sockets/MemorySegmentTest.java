package org.jrdma.sockets;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the methods that {@link FabricSocketChannel} adds to those of a socket channel. */
@Timeout(30)
class MemorySegmentTest {

    @Test
    void shouldReadAndWriteNativeMemory() throws Exception {
        var bytes = TestBytes.many(2_000_000);
        try (var pair = ChannelPair.open(Implementation.TCP.provider());
                var arena = Arena.ofShared()) {
            var client = (FabricSocketChannel) pair.client();
            var server = (FabricSocketChannel) pair.server();
            var source = arena.allocate(bytes.length);
            MemorySegment.copy(bytes, 0, source, JAVA_BYTE, 0, bytes.length);
            var writer = Tasks.start(() -> client.write(source));
            var target = arena.allocate(bytes.length);
            for (var read = 0L; read < bytes.length; ) {
                read += server.read(target.asSlice(read));
            }

            assertThat(writer.get()).isEqualTo(bytes.length);
            assertThat(target.toArray(JAVA_BYTE)).isEqualTo(bytes);
            client.close();
            assertThat(server.read(target)).isEqualTo(-1);
            assertThat(client.transport()).isSameAs(Transports.tcp());
        }
    }

    @Test
    void shouldRejectClosedMemory() throws Exception {
        try (var pair = ChannelPair.open(Implementation.TCP.provider())) {
            var client = (FabricSocketChannel) pair.client();
            MemorySegment closed;
            try (var arena = Arena.ofConfined()) {
                closed = arena.allocate(8);
            }

            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> client.write(closed));

            client.write(Arena.ofAuto().allocateFrom("a"));
            assertThat(TestBytes.read(pair.server(), 1)).isEqualTo("a");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "SISCI"})
    void shouldRejectMemoryOnTheHeap(Implementation implementation) throws Exception {
        try (var pair = ChannelPair.open(implementation.provider())) {
            var client = (FabricSocketChannel) pair.client();
            var heap = MemorySegment.ofArray(new byte[1]);

            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> client.write(heap));
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> client.read(heap));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "SISCI"})
    void shouldNotReadIntoReadOnlyOrClosedMemory(Implementation implementation) throws Exception {
        try (var pair = ChannelPair.open(implementation.provider())) {
            var arena = Arena.ofConfined();
            var server = (FabricSocketChannel) pair.server();
            var target = arena.allocate(8);
            pair.client().write(TestBytes.of("a"));

            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> server.read(target.asReadOnly()));
            arena.close();
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> server.read(target));

            assertThat(TestBytes.read(server, 1)).isEqualTo("a");
        }
    }
}
