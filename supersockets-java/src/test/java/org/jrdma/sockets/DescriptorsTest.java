package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.sockets.Tasks.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is closed is gone, for a descriptor that is used after its close is another's. */
@Timeout(60)
class DescriptorsTest {

    private static final int SPARE_ALARMS = 32;

    private final FabricSelectorProvider provider =
            (FabricSelectorProvider) Implementation.TCP.provider();

    @ParameterizedTest
    @EnumSource
    void shouldGiveBackTheDescriptorsOfAllThatIsClosed(Kind kind) throws Exception {
        use(kind);
        var before = open();

        for (var i = 0; i < 50; i++) {
            use(kind);
        }

        assertThat(open()).isLessThanOrEqualTo(before + 2);
    }

    private void use(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(provider);
                var selector = provider.openSelector()) {
            var reader = Tasks.start(kind, () -> pair.server().read(ByteBuffer.allocate(1)));
            pair.client().configureBlocking(false);
            pair.client().register(selector, SelectionKey.OP_WRITE);
            assertThat(selector.select()).isEqualTo(1);
            pair.client().write(Bytes.of("a"));
            assertThat(reader.get()).isEqualTo(1);
            var pipe = provider.openPipe();
            pipe.source().close();
            pipe.sink().close();
            provider.openDatagramChannel().bind(null).close();
        }
    }

    @Test
    void shouldKeepFewAlarmsAfterManyThreadsHaveWaited() throws Exception {
        use(Kind.PLATFORM);
        var before = open();
        try (var listener = ChannelPair.listener(provider)) {
            var pairs = new ChannelPair[100];
            var readers = new Tasks.Task<?>[100];
            for (var i = 0; i < pairs.length; i++) {
                var client = provider.openSocketChannel();
                client.connect(listener.getLocalAddress());
                pairs[i] = new ChannelPair(client, listener.accept());
                readers[i] = Tasks.start(() -> client.read(ByteBuffer.allocate(1)));
            }
            readers[99].awaitWaiting();
            for (var pair : pairs) {
                pair.close();
            }
            for (var reader : readers) {
                assertThat(reader.failure()).isNotNull();
            }
        }

        assertThat(open()).isLessThanOrEqualTo(before + SPARE_ALARMS);
    }

    private static long open() throws IOException {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.count();
        }
    }
}
