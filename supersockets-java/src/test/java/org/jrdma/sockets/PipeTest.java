package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.List;
import org.jrdma.sockets.Tasks.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(30)
class PipeTest {

    @Parameter private Implementation implementation;

    private Pipe pipe;

    @BeforeEach
    void open() throws IOException {
        pipe = implementation.provider().openPipe();
    }

    @AfterEach
    void close() throws IOException {
        pipe.source().close();
        pipe.sink().close();
    }

    @Test
    void shouldTransferAllBytesAndThenTheEnd() throws Exception {
        assertThat(pipe.sink().write(new ByteBuffer[] {TestBytes.of("ab"), TestBytes.of("c")}))
                .isEqualTo(3);
        pipe.sink().close();

        assertThat(TestBytes.read(pipe.source(), 10)).isEqualTo("abc");
        assertThat(pipe.source().read(ByteBuffer.allocateDirect(1))).isEqualTo(-1);
        assertThatThrownBy(() -> pipe.sink().write(TestBytes.of("a")))
                .isExactlyInstanceOf(ClosedChannelException.class);
    }

    @Test
    void shouldRefuseReadOnlyBuffersBeforeItReads() throws Exception {
        pipe.sink().write(TestBytes.of("abc"));

        for (var buffer : List.of(ByteBuffer.allocate(1), ByteBuffer.allocateDirect(1))) {
            assertThatThrownBy(() -> pipe.source().read(buffer.asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("Read-only buffer");
            assertThatThrownBy(() ->
                            pipe.source()
                                    .read(
                                            new ByteBuffer[] {
                                                ByteBuffer.allocate(1), buffer.asReadOnlyBuffer()
                                            }))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("Read-only buffer");
        }

        assertThat(TestBytes.read(pipe.source(), 3)).isEqualTo("abc");
    }

    @Test
    void shouldFailToWriteWithoutAReader() throws Exception {
        pipe.source().close();

        assertThatThrownBy(() -> pipe.sink().write(TestBytes.of("a")))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("Broken pipe");
    }

    @Test
    void shouldNotWaitInNonBlockingMode() throws Exception {
        pipe.source().configureBlocking(false);
        pipe.sink().configureBlocking(false);

        assertThat(pipe.source().read(ByteBuffer.allocate(1))).isZero();
        assertThat(pipe.sink().write(ByteBuffer.allocate(10_000_000)))
                .isPositive()
                .isLessThan(10_000_000);
        assertThat(pipe.sink().write(ByteBuffer.allocate(10_000_000))).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAReadWhenTheChannelIsClosed(Kind kind) throws Exception {
        var reader = Tasks.start(kind, () -> pipe.source().read(ByteBuffer.allocate(1)));
        reader.awaitWaiting();

        pipe.source().close();

        assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseTheSourceWhenAReadIsInterrupted(Kind kind) throws Exception {
        var reader = Tasks.start(kind, () -> pipe.source().read(ByteBuffer.allocate(1)));
        reader.awaitWaiting();

        reader.thread().interrupt();

        assertThat(reader.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
        assertThat(pipe.source().isOpen()).isFalse();
        assertThat(pipe.sink().isOpen()).isTrue();
    }

    @Test
    void shouldBeSelectableAtBothEnds() throws Exception {
        pipe.source().configureBlocking(false);
        pipe.sink().configureBlocking(false);
        try (var selector = implementation.provider().openSelector()) {
            var source = pipe.source().register(selector, SelectionKey.OP_READ);
            var sink = pipe.sink().register(selector, SelectionKey.OP_WRITE);
            selector.select();
            assertThat(selector.selectedKeys()).containsExactly(sink);

            pipe.sink().write(TestBytes.of("a"));
            selector.select();

            assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(source, sink);
            assertThat(source.isReadable()).isTrue();
            assertThat(sink.isWritable()).isTrue();
        }
    }
}
