package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.sockets.Tasks.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that closed objects release their descriptors. Otherwise, a process would run out of
 * descriptors, or a reused descriptor would affect other channels.
 */
@Timeout(60)
class DescriptorsTest {

    private static final int SPARE_ALARMS = 32;

    private final FabricSelectorProvider provider =
            (FabricSelectorProvider) Implementation.TCP.provider();

    @ParameterizedTest
    @EnumSource
    void shouldReleaseTheDescriptorsOfClosedObjects(Kind kind) throws Exception {
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
            pair.client().write(TestBytes.of("a"));
            assertThat(reader.get()).isEqualTo(1);
            var pipe = provider.openPipe();
            pipe.source().close();
            pipe.sink().close();
            provider.openDatagramChannel().bind(null).close();
        }
    }

    @Test
    void shouldKeepFewEventDescriptorsAfterManyThreadsHaveWaited() throws Exception {
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

    @Test
    void shouldWaitIfNoDescriptorIsLeft() throws Exception {
        var child = ChildJvm.of(Exhausted.class, List.of("--enable-native-access=ALL-UNNAMED"));
        child.command().addAll(0, List.of("sh", "-c", "ulimit -n 200 && exec \"$@\"", "sh"));
        var process = child.start();
        try (var output = process.inputReader()) {
            // JFR, which starts in a thread of its own, may warn that it has no descriptor.
            assertThat(output.lines()).contains("2 read");
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * A program that first lets one thread wait for a read. It then opens all remaining descriptors
     * of the process, and lets two threads wait.
     */
    static final class Exhausted {

        public static void main(String... arguments) throws Exception {
            var provider = Implementation.TCP.provider();
            var taken = new ArrayList<FileInputStream>();
            try (var first = ChannelPair.open(provider);
                    var second = ChannelPair.open(provider)) {
                exchange(first);
                // Loaded now, because no descriptor will be left to read the class file.
                Class.forName("org.jrdma.ffi.Errno");
                try {
                    while (true) {
                        taken.add(new FileInputStream("/dev/null"));
                    }
                } catch (FileNotFoundException _) {
                    exchange(first, second);
                }
                for (var each : taken) {
                    each.close();
                }
            }
        }

        /** Reads and writes a byte over each pair, with one waiting reader for each pair. */
        private static void exchange(ChannelPair... pairs) throws Exception {
            var readers = new ArrayList<Tasks.Task<Integer>>();
            for (var pair : pairs) {
                readers.add(
                        Tasks.start(() -> pair.server().read(ByteBuffer.allocate(1)))
                                .awaitWaiting());
            }
            for (var i = 0; i < pairs.length; i++) {
                pairs[i].client().write(TestBytes.of("a"));
                readers.get(i).get();
            }
            System.out.println(pairs.length + " read");
        }
    }

    private static long open() throws IOException {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.count();
        }
    }
}
