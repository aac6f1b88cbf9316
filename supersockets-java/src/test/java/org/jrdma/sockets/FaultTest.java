package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jrdma.sockets.StreamTransfer.Pace;
import org.jrdma.sockets.Tasks.Kind;
import org.jrdma.sockets.Tasks.Task;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Injects 520 faults for each implementation into streams with known content. After each fault, the
 * reader must receive either all bytes and the end of the stream, or a prefix of the bytes and an
 * exception. The system property {@code jrdma.sockets.seed} repeats the random choices of an
 * earlier run, but not the scheduling of its threads.
 */
@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(180)
class FaultTest {

    private static final long SEED = Long.getLong("jrdma.sockets.seed", System.nanoTime());

    private static final boolean QUICK = Boolean.getBoolean("jrdma.test.quick");
    private static final int HALF_CLOSES = QUICK ? 30 : 120;
    private static final int RESETS = QUICK ? 30 : 120;
    private static final int SLOW_READERS = QUICK ? 25 : 100;
    private static final int LOST_READERS = QUICK ? 20 : 80;
    private static final int KILLS = QUICK ? 2 : 4;
    private static final int STREAMS_OF_A_KILL = 25;

    private static final int MAX_BYTES = 512 * 1024;

    @Parameter private Implementation implementation;
    @TempDir private Path folder;

    private SelectorProvider provider;

    @BeforeAll
    static void printSeed() {
        System.out.println("-Djrdma.sockets.seed=" + SEED);
    }

    @BeforeEach
    void initProvider() {
        provider = implementation.provider();
    }

    @FunctionalInterface
    private interface Fault {
        void inject(ChannelPair pair, StreamContent content, int bytes, Random random)
                throws Exception;
    }

    /**
     * Injects a fault {@code count} times, each time into a new pair of channels. Each channel is
     * randomly blocking or non-blocking.
     */
    private void repeat(int count, Fault fault) throws Exception {
        for (var i = 0; i < count; i++) {
            var random = new Random(SEED + i);
            try (var pair = ChannelPair.open(implementation)) {
                pair.client().configureBlocking(random.nextBoolean());
                pair.server().configureBlocking(random.nextBoolean());
                fault.inject(
                        pair,
                        new StreamContent(random.nextLong()),
                        random.nextInt(MAX_BYTES),
                        random);
            } catch (Throwable e) {
                throw new AssertionError("fault %d of seed %d".formatted(i, SEED), e);
            }
        }
    }

    private static Kind anyKind(Random random) {
        return random.nextBoolean() ? Kind.PLATFORM : Kind.VIRTUAL;
    }

    /** The last operation on a channel, after all writes. */
    @FunctionalInterface
    private interface Ending {
        void end(SocketChannel channel) throws Exception;
    }

    private static Task<StreamTransfer> startWriting(
            SocketChannel channel,
            StreamContent content,
            long bytes,
            Random random,
            Ending ending) {
        var own = new Random(random.nextLong());
        return Tasks.start(
                anyKind(random),
                () -> {
                    var written = StreamTransfer.write(channel, content, bytes, own);
                    ending.end(channel);
                    return written;
                });
    }

    private static Task<StreamTransfer> startWriting(
            SocketChannel channel, StreamContent content, long bytes, Random random) {
        return startWriting(channel, content, bytes, random, _ -> {});
    }

    private static StreamTransfer readToTheEnd(
            SocketChannel channel, StreamContent content, Pace pace, Random random) {
        return StreamTransfer.read(channel, content, Long.MAX_VALUE, pace, random);
    }

    @Test
    void shouldEndOneDirectionWithAllItsBytesAndKeepTheOther() throws Exception {
        repeat(
                HALF_CLOSES,
                (pair, content, bytes, random) -> {
                    var writer =
                            startWriting(
                                    pair.client(),
                                    content,
                                    bytes,
                                    random,
                                    SocketChannel::shutdownOutput);

                    var read = readToTheEnd(pair.server(), content, Pace.QUICK, random);
                    assertThat(read).isEqualTo(new StreamTransfer(bytes, null));
                    assertThat(writer.get()).isEqualTo(read);

                    var reply = new StreamContent(content.seed() + 1);
                    var replyWriter = startWriting(pair.server(), reply, bytes, random);
                    var receivedReply =
                            StreamTransfer.read(pair.client(), reply, bytes, Pace.QUICK, random);
                    assertThat(replyWriter.get()).isEqualTo(receivedReply);
                    pair.server().close();
                    var end = readToTheEnd(pair.client(), reply, Pace.QUICK, random);
                    assertThat(end).isEqualTo(new StreamTransfer(0, null));
                });
    }

    @Test
    void shouldEndWithAPrefixAndAnExceptionAfterAReset() throws Exception {
        repeat(
                RESETS,
                (pair, content, bytes, random) -> {
                    var writer =
                            startWriting(pair.client(), content, bytes, random, FaultTest::reset);
                    var pace = random.nextBoolean() ? Pace.QUICK : Pace.SLOW;

                    var read = readToTheEnd(pair.server(), content, pace, random);

                    read.assertAllOrAPrefixOf(writer.get());
                    var late = startWriting(pair.server(), content, MAX_BYTES * 64L, random).get();
                    assertThat(late.failure()).as("a write to a closed reader").isNotNull();
                });
    }

    private static void reset(SocketChannel channel) throws Exception {
        if (channel.supportedOptions().contains(StandardSocketOptions.SO_LINGER)) {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        channel.close();
    }

    @Test
    void shouldKeepAllBytesForASlowReader() throws Exception {
        repeat(
                SLOW_READERS,
                (pair, content, bytes, random) -> {
                    // The buffers are small, because with the large segments of the loopback
                    // interface TCP would wait for its timers.
                    pair.server().setOption(StandardSocketOptions.SO_RCVBUF, 128 * 1024);
                    pair.client().setOption(StandardSocketOptions.SO_SNDBUF, 128 * 1024);
                    var writer =
                            startWriting(
                                    pair.client(), content, bytes, random, SocketChannel::close);

                    var read = readToTheEnd(pair.server(), content, Pace.SLOW, random);

                    assertThat(read).isEqualTo(new StreamTransfer(bytes, null));
                    assertThat(writer.get()).isEqualTo(read);
                });
    }

    @Test
    void shouldFailWritesAfterTheReaderHasClosed() throws Exception {
        repeat(
                LOST_READERS,
                (pair, content, bytes, random) -> {
                    var writer = startWriting(pair.client(), content, Long.MAX_VALUE, random);

                    var read =
                            StreamTransfer.read(pair.server(), content, bytes, Pace.QUICK, random);
                    pair.server().close();

                    var written = writer.get();
                    assertThat(read).isEqualTo(new StreamTransfer(bytes, null));
                    assertThat(written.bytes()).isGreaterThanOrEqualTo(bytes);
                    assertThat(written.failure()).isNotNull();
                });
    }

    @Test
    void shouldEndTheStreamsOfAKilledWriter() throws Exception {
        for (var kill = 0; kill < KILLS / 2; kill++) {
            var seed = SEED + kill;
            var file = folder.resolve("written" + kill);
            var readers = new ArrayList<Task<StreamTransfer>>();
            try (var streams = startProcess("writes", seed, file)) {
                for (var i = 0; i < STREAMS_OF_A_KILL; i++) {
                    var channel = streams.channels.get(i);
                    var content = new StreamContent(seed + i);
                    var random = new Random(seed + i);
                    var pace = random.nextBoolean() ? Pace.QUICK : Pace.SLOW;
                    readers.add(
                            Tasks.start(
                                    anyKind(random),
                                    () -> readToTheEnd(channel, content, pace, random)));
                }
                Thread.sleep(new Random(seed).nextInt(100, 500));
                streams.process.destroyForcibly().waitFor();

                var ends = new ArrayList<StreamTransfer>();
                for (var reader : readers) {
                    ends.add(reader.get());
                }
                var written = FaultProcess.read(file, STREAMS_OF_A_KILL);
                for (var i = 0; i < STREAMS_OF_A_KILL; i++) {
                    var end = ends.get(i);
                    assertThat(end.bytes())
                            .as("stream %d of seed %d: %s, %s", i, seed, end, written.get(i))
                            .isBetween(
                                    end.failure() == null ? written.get(i).taken() : 0,
                                    written.get(i).begun());
                }
                assertThat(ends).anyMatch(end -> end.bytes() > 0);
            }
        }
    }

    @Tag("slow")
    @Test
    void shouldFailTheWritesToAKilledReader() throws Exception {
        for (var kill = 0; kill < KILLS / 2; kill++) {
            var seed = SEED + kill;
            var writers = new ArrayList<Task<StreamTransfer>>();
            try (var streams = startProcess("reads", seed, folder.resolve("unused"))) {
                for (var i = 0; i < STREAMS_OF_A_KILL; i++) {
                    writers.add(
                            startWriting(
                                    streams.channels.get(i),
                                    new StreamContent(seed + i),
                                    Long.MAX_VALUE,
                                    new Random(seed + i)));
                }
                Thread.sleep(new Random(seed).nextInt(100, 500));
                streams.process.destroyForcibly().waitFor();

                for (var writer : writers) {
                    assertThat(writer.get().failure()).isNotNull();
                }
            }
        }
    }

    /** The streams from a {@link FaultProcess}, indexed by their numbers in that process. */
    private record Streams(Process process, List<SocketChannel> channels) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            process.destroyForcibly();
            for (var channel : channels) {
                channel.close();
            }
        }
    }

    /** Starts a {@link FaultProcess}, and returns it after all of its streams are connected. */
    private Streams startProcess(String command, long seed, Path file) throws Exception {
        try (var listener = ChannelPair.listener(provider)) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            var process =
                    ChildJvm.of(
                                    FaultProcess.class,
                                    List.of(
                                            "--enable-native-access=ALL-UNNAMED",
                                            InProcessSoftwareSisciNode.optionForChild(),
                                            ChannelPair.optionForChild()),
                                    implementation.name(),
                                    Integer.toString(port),
                                    Integer.toString(STREAMS_OF_A_KILL),
                                    Long.toString(seed),
                                    command,
                                    file.toString())
                            .redirectOutput(folder.resolve("output").toFile())
                            .start();
            var channels = new SocketChannel[STREAMS_OF_A_KILL];
            for (var left = STREAMS_OF_A_KILL; left > 0; ) {
                var channel = listener.accept();
                var number = ByteBuffer.allocate(1);
                if (channel.read(number) < 0) {
                    channel.close(); // The process fell back to TCP, and will connect again.
                    continue;
                }
                implementation.assertTransport(channel);
                channels[number.get(0)] = Objects.requireNonNull(channel);
                left--;
            }
            return new Streams(process, List.of(channels));
        }
    }
}
