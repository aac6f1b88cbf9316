package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.ChannelClosedException;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.cm.TerminationCause;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code RdmaChannel}, which exchanges messages over a connection. */
class RdmaChannelTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(20);

    /** The limit for the allocations of 200 rounds: less than one byte for each round. */
    private static final long ALLOCATED_BELOW = 200;

    private static final RdmaChannel.Handler NOTHING =
            (_, length) -> {
                throw new AssertionError("unexpected message of %d bytes".formatted(length));
            };

    private final Fabric fabric = Fabric.underTest();
    private ConnectionManager connections;
    private Device device;
    private ProtectionDomain domain;
    private Listener listener;

    @BeforeEach
    void open() throws IOException {
        connections = fabric.connections();
        device = fabric.open();
        domain = device.newProtectionDomain();
        listener = connections.listen(new InetSocketAddress(Fabric.address(device), 0));
    }

    @AfterEach
    void close() {
        if (listener != null) {
            listener.close();
        }
        if (device != null) {
            device.close();
        }
    }

    /** The code that one side of a test runs. */
    private interface Script {
        void run(RdmaChannel channel) throws Exception;
    }

    /**
     * Starts a peer on a new thread. The peer accepts one connection and runs {@code script} with
     * its channel.
     */
    private CompletableFuture<?> peer(RdmaChannelOptions options, Script script) {
        return BackgroundCalls.call(
                Thread.ofPlatform().daemon(),
                () -> {
                    try (var channel =
                            listener.next(TIMEOUT).acceptChannel(domain, options, TIMEOUT)) {
                        script.run(channel);
                        return script;
                    }
                });
    }

    private RdmaChannel connect(RdmaChannelOptions options) throws IOException {
        return connections.connectChannel(listener.localAddress(), domain, options, TIMEOUT);
    }

    private static void get(CompletableFuture<?> peer) throws Exception {
        peer.get(60, TimeUnit.SECONDS);
    }

    private static void send(
            RdmaChannel channel, MemorySegment message, RdmaChannel.Handler handler)
            throws IOException {
        while (!channel.trySend(message)) {
            channel.await(handler, TIMEOUT);
        }
    }

    /** Receives a number of messages. */
    private static List<byte[]> take(RdmaChannel channel, int count) throws IOException {
        var messages = new ArrayList<byte[]>();
        while (messages.size() < count) {
            channel.await(
                    (buffer, length) ->
                            messages.add(buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)),
                    TIMEOUT);
        }
        return messages;
    }

    /** Sends each received message back until the peer closes the channel. */
    private static void echo(RdmaChannel channel) throws IOException {
        try {
            while (true) {
                channel.await(
                        (buffer, length) -> {
                            if (!channel.trySend(buffer.asSlice(0, length))) {
                                throw new AssertionError("no free slot for the reply");
                            }
                        },
                        TIMEOUT);
            }
        } catch (ChannelClosedException e) {
            assertThat(e).hasMessageContaining("has disconnected");
            assertThat(e.termination().cause()).isEqualTo(TerminationCause.Cause.CLOSED_BY_PEER);
        }
    }

    private static byte[] message(int number, int length) {
        var bytes = new byte[length];
        for (var index = 0; index < length; index++) {
            bytes[index] = (byte) (number + index);
        }
        return bytes;
    }

    @Test
    void shouldSendPrivateDataToThePeersProgram() throws Exception {
        var hello = new byte[44];
        Arrays.fill(hello, (byte) 1);
        var welcome = new byte[184];
        Arrays.fill(welcome, (byte) 2);
        var peer =
                BackgroundCalls.call(
                        Thread.ofPlatform().daemon(),
                        () -> {
                            var request = listener.next(TIMEOUT);
                            var received = request.channelPrivateData().orElseThrow().bytes();
                            try (var channel =
                                    request.acceptChannel(
                                            domain,
                                            RdmaChannelOptions.DEFAULT.privateData(welcome),
                                            TIMEOUT)) {
                                assertThat(channel.privateData().bytes()).isEqualTo(received);
                                echo(channel);
                                return received;
                            }
                        });
        try (var channel = connect(RdmaChannelOptions.DEFAULT.privateData(hello))) {
            assertThat(channel.privateData().bytes()).isEqualTo(welcome);
        }
        assertThat(peer.get(60, TimeUnit.SECONDS)).isEqualTo(hello);
    }

    @Test
    void shouldReportTheMaximumSizeOfPrivateData() throws Exception {
        var isIwarp = fabric.profile() == Profile.SIW;
        var request = isIwarp ? 236 : 44;
        assertThatThrownBy(() -> connect(withPrivateData(request + 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has %d bytes; the maximum is %d", request + 1, request);
        var answer = isIwarp ? 236 : 184;
        var peer = peer(withPrivateData(answer + 1), _ -> {});

        assertThatThrownBy(() -> connect(RdmaChannelOptions.DEFAULT))
                .isInstanceOf(CmException.class);

        assertThatThrownBy(() -> get(peer))
                .cause()
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has %d bytes; the maximum is %d", answer + 1, answer);
    }

    private static RdmaChannelOptions withPrivateData(int bytes) {
        return RdmaChannelOptions.DEFAULT.privateData(new byte[bytes]);
    }

    /**
     * The caller of {@code await} gets the exception of the handler, even if the channel is closed.
     */
    @Test
    void shouldThrowTheExceptionOfAHandlerThatHasClosedTheChannel() throws Exception {
        var peer =
                peer(
                        RdmaChannelOptions.DEFAULT,
                        channel -> {
                            take(channel, 1);
                            send(channel, MemorySegment.ofArray(new byte[1]), NOTHING);
                            channel.connection().awaitDisconnected(TIMEOUT);
                        });
        var channel = connect(RdmaChannelOptions.DEFAULT);
        send(channel, MemorySegment.ofArray(new byte[1]), NOTHING);

        assertThatThrownBy(
                        () -> {
                            while (true) {
                                channel.await(
                                        (_, _) -> {
                                            channel.close();
                                            throw new IllegalStateException("of the handler");
                                        },
                                        TIMEOUT);
                            }
                        })
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("of the handler");
        get(peer);
    }

    /**
     * The message that the handler has rejected is handled, and the other messages are not lost.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shouldContinueWithTheNextMessageAfterAHandlerHasThrown(int window) throws Exception {
        var options = RdmaChannelOptions.DEFAULT.window(window);
        var peer =
                peer(
                        options,
                        channel -> {
                            for (var number = 0; number < 20; number++) {
                                send(channel, MemorySegment.ofArray(message(number, 1)), NOTHING);
                            }
                            take(channel, 1);
                        });
        try (var channel = connect(options)) {
            var handled = new ArrayList<Integer>();
            var rejected = new ArrayList<Integer>();
            RdmaChannel.Handler rejectOddNumbers =
                    (buffer, _) -> {
                        int number = buffer.get(ValueLayout.JAVA_BYTE, 0);
                        if (number % 2 == 1) {
                            throw new IOException("" + number);
                        }
                        handled.add(number);
                    };
            while (handled.size() + rejected.size() < 20) {
                awaitOrAdd(rejected, channel, rejectOddNumbers);
            }

            assertThat(handled).containsExactly(0, 2, 4, 6, 8, 10, 12, 14, 16, 18);
            assertThat(rejected).containsExactly(1, 3, 5, 7, 9, 11, 13, 15, 17, 19);
            assertThat(channel.termination()).isEmpty();
            send(channel, MemorySegment.ofArray(new byte[1]), NOTHING);
            get(peer);
        }
    }

    private static void awaitOrAdd(
            List<Integer> rejected, RdmaChannel channel, RdmaChannel.Handler handler) {
        try {
            channel.await(handler, TIMEOUT);
        } catch (IOException e) {
            rejected.add(Integer.valueOf(e.getMessage()));
        }
    }

    @Test
    void shouldContinueAfterAHandlerHasThrownForAnOperation() throws Exception {
        try (var arena = domain.newArena(Pair.ALL)) {
            var region = arena.region(64);
            var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
            try (var channel = connect(RdmaChannelOptions.DEFAULT)) {
                // On iWARP, the connecting side may start operations at once.
                assertThat(channel.tryReadRemote(region.slice(0, 8), region.remote(), 1)).isTrue();
                assertThat(channel.tryReadRemote(region.slice(0, 8), region.remote(), 2)).isTrue();
                var completedIds = new ArrayList<Long>();
                var handler =
                        new RdmaChannel.Handler() {
                            @Override
                            public void message(MemorySegment buffer, long length) {
                                throw new AssertionError("unexpected message");
                            }

                            @Override
                            public void done(long id) throws IOException {
                                completedIds.add(id);
                                if (id == 1) {
                                    throw new IOException("of the handler");
                                }
                            }
                        };

                assertThatThrownBy(
                                () -> {
                                    while (true) {
                                        channel.await(handler, TIMEOUT);
                                    }
                                })
                        .isInstanceOf(IOException.class)
                        .hasMessage("of the handler");
                while (completedIds.size() < 2) {
                    channel.await(handler, TIMEOUT);
                }
                assertThat(completedIds).containsExactly(1L, 2L);
                assertThat(channel.termination()).isEmpty();
            }
            get(peer);
        }
    }

    @Test
    void shouldApplyTheTimeoutAndTheRetriesToItsQueuePair() throws Exception {
        if (fabric.profile() == Profile.SIW) {
            throw new Fabric.Listed("on iWARP the timeouts of TCP apply");
        }
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        try (var channel =
                connect(
                        RdmaChannelOptions.DEFAULT
                                .acknowledgeTimeout(Duration.ofMillis(67))
                                .retries(2))) {
            var attributes = channel.connection().queuePair().query();
            assertThat(attributes.acknowledgeTimeout()).isEqualTo(Duration.ofNanos(67_108_864));
            assertThat(attributes.retries()).isEqualTo(2);
        }
        get(peer);
    }

    /**
     * The close must wake up the waiting thread, because after the close the queue pair reports
     * neither messages nor the end of the connection.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndAWaitWhenTheDomainOrTheDeviceIsClosed(boolean closeDomain) throws Exception {
        var otherDevice = fabric.open();
        var otherDomain = otherDevice.newProtectionDomain();
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        var failure = new CompletableFuture<Throwable>();
        var connected = new CompletableFuture<RdmaChannel>();
        var thread =
                Thread.ofPlatform()
                        .daemon()
                        .start(() -> {
                            try (var channel =
                                    connections.connectChannel(
                                            listener.localAddress(),
                                            otherDomain,
                                            RdmaChannelOptions.DEFAULT,
                                            TIMEOUT)) {
                                connected.complete(channel);
                                try {
                                    channel.await(NOTHING, TIMEOUT);
                                } catch (IllegalStateException e) {
                                    assertThatThrownBy(channel::tryClaim)
                                            .isInstanceOf(IllegalStateException.class)
                                            .hasMessage(e.getMessage());
                                    assertThat(channel.termination().map(TerminationCause::cause))
                                            .hasValue(TerminationCause.Cause.CLOSED_HERE);
                                    throw e;
                                }
                                failure.complete(new AssertionError("the wait timed out"));
                            } catch (Throwable e) {
                                connected.completeExceptionally(e);
                                failure.complete(e);
                            }
                        });
        var channel = connected.get(20, TimeUnit.SECONDS);
        Thread.sleep(20);
        (closeDomain ? otherDomain : otherDevice).close();

        assertThat(failure.get(10, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "%s is closed because %s was closed"
                                .formatted(channel, closeDomain ? otherDomain : otherDevice));
        get(peer); // The peer must be notified that the connection has ended.
        thread.join();
        otherDevice.close();
    }

    @Test
    void shouldEchoMessagesOfAnyLength() throws Exception {
        var options = RdmaChannelOptions.DEFAULT.messageBytes(10_000).window(8);
        var peer = peer(options, RdmaChannelTest::echo);
        try (var channel = connect(options)) {
            assertThat(channel.maxMessageBytes()).isEqualTo(10_000);
            for (var length : new int[] {0, 1, 7, 8, 63, 64, 65, 72, 73, 1000, 4096, 10_000}) {
                for (var number = 0; number < 4; number++) {
                    send(channel, MemorySegment.ofArray(message(number, length)), NOTHING);
                }
                var replies = take(channel, 4);
                for (var number = 0; number < 4; number++) {
                    assertThat(replies.get(number)).isEqualTo(message(number, length));
                }
            }
        }
        get(peer);
    }

    @Test
    void shouldUseTheSmallerMessageLengthOfTheTwoSides() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT.messageBytes(100), RdmaChannelTest::echo);
        try (var channel = connect(RdmaChannelOptions.DEFAULT.messageBytes(5000))) {
            assertThat(channel.maxMessageBytes()).isEqualTo(100);
            var tooLong = MemorySegment.ofArray(new byte[101]);

            assertThatThrownBy(() -> channel.trySend(tooLong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("101 bytes; the maximum of this channel is 100");
        }
        get(peer);
    }

    @Test
    void shouldReportThatThePeerHasNoFreeSlotUntilItHandlesMessages() throws Exception {
        var options = RdmaChannelOptions.DEFAULT.window(4);
        var full = new CountDownLatch(1);
        var peer =
                peer(
                        options,
                        channel -> {
                            full.await();
                            take(channel, 5);
                        });
        try (var channel = connect(options)) {
            var message = MemorySegment.ofArray(new byte[10]);
            for (var number = 0; number < 4; number++) {
                assertThat(channel.trySend(message)).isTrue();
            }
            for (var round = 0; round < 5; round++) {
                channel.await(NOTHING, SHORT);
                assertThat(channel.freeMessages()).isZero();
                assertThat(channel.trySend(message)).isFalse();
                assertThat(channel.tryClaim()).isNull();
            }
            full.countDown();

            send(channel, message, NOTHING);
            get(peer);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 64})
    void shouldMakeProgressWithMessagesInOnlyOneDirection(int window) throws Exception {
        var options = RdmaChannelOptions.DEFAULT.window(window).messageBytes(64);
        var count = 2000;
        var peer =
                peer(
                        options,
                        channel -> {
                            var next = new int[1];
                            while (next[0] < count) {
                                channel.await(
                                        (buffer, length) ->
                                                assertThat(buffer.get(ValueLayout.JAVA_INT, 0))
                                                        .isEqualTo(next[0]++),
                                        TIMEOUT);
                            }
                        });
        try (var channel = connect(options)) {
            for (var number = 0; number < count; number++) {
                var buffer = channel.tryClaim();
                while (buffer == null) {
                    channel.await(NOTHING, TIMEOUT);
                    buffer = channel.tryClaim();
                }
                buffer.set(ValueLayout.JAVA_INT, 0, number);
                channel.send(Integer.BYTES);
            }
            get(peer);
        }
    }

    /**
     * With a small window, this side must also send credits to the peer while a message is claimed.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldSendAClaimedMessageAfterItHasReceivedOthers(int window) throws Exception {
        var options = RdmaChannelOptions.DEFAULT.window(window).messageBytes(64);
        var rounds = 100;
        var peer =
                peer(
                        options,
                        channel -> {
                            for (var round = 0; round < rounds; round++) {
                                for (var number = 0; number < window; number++) {
                                    send(channel, MemorySegment.ofArray(new byte[1]), NOTHING);
                                }
                                assertThat(take(channel, 1).getFirst())
                                        .isEqualTo(message(round, 64));
                            }
                        });
        var taken = new int[1];
        RdmaChannel.Handler count = (_, _) -> taken[0]++;
        try (var channel = connect(options)) {
            for (var round = 0; round < rounds; round++) {
                var claimed = channel.tryClaim();
                while (claimed == null) {
                    channel.await(count, TIMEOUT);
                    claimed = channel.tryClaim();
                }
                MemorySegment.copy(message(round, 64), 0, claimed, ValueLayout.JAVA_BYTE, 0, 64);
                while (taken[0] < window * (round + 1)) {
                    channel.await(count, TIMEOUT);
                }
                assertThatThrownBy(() -> channel.trySend(MemorySegment.ofArray(new byte[2])))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("Call send() first");
                assertThat(channel.tryClaim()).isEqualTo(claimed);
                channel.send(64);
            }
            get(peer);
        }
    }

    /**
     * The invalid messages are, in this order: shorter than a header; of an unknown kind; without
     * data but longer than a header; with more credits than messages were sent; with a negative
     * number of credits.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "00000000",
                "0000000000000007",
                "000000000000000000",
                "0000000200000001ff",
                "ffffffff00000000"
            })
    void shouldEndTheChannelIfThePeerSendsAnInvalidMessage(String sent) throws Exception {
        var bytes = HexFormat.of().parseHex(sent);
        try (var completions = device.newCompletionDispatcher(64);
                var memory = domain.newArena(Access.LOCAL_WRITE)) {
            var message = memory.region(bytes.length);
            var firstWords = memory.region(64);
            var firstReceive = new AtomicReference<Transfer>();
            message.segment().copyFrom(MemorySegment.ofArray(bytes));
            var parameters = HexFormat.of().parseHex("6a726301" + "00001000" + "00000040");
            var connectionOptions =
                    ConnectionOptions.of(QueuePairOptions.reliable(completions).receives(4))
                            .privateData(parameters)
                            .prepared(queuePair ->
                                    firstReceive.set(queuePair.receive(firstWords.slice())));
            var peer =
                    startCall(() -> {
                        var connection = listener.accept(domain, connectionOptions, TIMEOUT);
                        if (fabric.profile() == Profile.SIW) {
                            // On iWARP the connecting side must send first.
                            firstReceive.get().await(TIMEOUT);
                        }
                        connection.queuePair().send(message.slice());
                        return connection;
                    });
            try (var channel = connect(RdmaChannelOptions.DEFAULT)) {
                assertThatThrownBy(() -> channel.await(NOTHING, TIMEOUT))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("invalid channel message");
                assertThat(channel.termination().map(TerminationCause::cause))
                        .hasValue(TerminationCause.Cause.PROTOCOL_ERROR);
                assertThatThrownBy(() -> channel.await(NOTHING, TIMEOUT))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("has ended");
                assertThatThrownBy(channel::tryClaim).isInstanceOf(VerbsException.class);
            }
            peer.get(60, TimeUnit.SECONDS).close();
        }
    }

    private static <T> CompletableFuture<T> startCall(Callable<T> call) {
        return BackgroundCalls.call(Thread.ofVirtual(), call);
    }

    @Test
    void shouldWriteAndReadMemoryOfThePeer() throws Exception {
        var options = RdmaChannelOptions.DEFAULT.operations(2);
        try (var peerArena = domain.newArena(Pair.ALL);
                var ownArena = domain.newArena(Access.LOCAL_WRITE)) {
            var peerRegion = peerArena.region(8192);
            var peer =
                    peer(
                            options,
                            channel -> {
                                send(
                                        channel,
                                        MemorySegment.ofArray(peerRegion.remote().toBytes()),
                                        NOTHING);
                                take(channel, 1);
                                assertThat(
                                                peerRegion
                                                        .segment()
                                                        .asSlice(100, 4000)
                                                        .toArray(ValueLayout.JAVA_BYTE))
                                        .containsOnly(7);
                                assertThat(peerRegion.segment().get(ValueLayout.JAVA_BYTE, 99))
                                        .isZero();
                            });
            try (var channel = connect(options)) {
                var remote = RemoteMemory.from(ByteBuffer.wrap(take(channel, 1).getFirst()));
                var ownRegion = ownArena.region(8192);
                ownRegion.segment().asSlice(0, 4000).fill((byte) 7);

                var completedIds = new ArrayList<Long>();
                var handler =
                        new RdmaChannel.Handler() {
                            @Override
                            public void message(MemorySegment buffer, long length) {
                                throw new AssertionError("unexpected message");
                            }

                            @Override
                            public void done(long id) {
                                completedIds.add(id);
                            }
                        };
                var target = remote.slice(100, 4000);
                assertThat(channel.tryWriteRemote(ownRegion.slice(0, 4000), target, 41)).isTrue();
                assertThat(channel.tryReadRemote(ownRegion.slice(4000, 4000), target, 42)).isTrue();
                assertThat(channel.tryReadRemote(ownRegion.slice(4000, 4000), target, 43))
                        .isFalse();
                while (completedIds.size() < 2) {
                    channel.await(handler, TIMEOUT);
                }

                assertThat(completedIds).containsExactly(41L, 42L);
                assertThat(ownRegion.segment().asSlice(4000, 4000).toArray(ValueLayout.JAVA_BYTE))
                        .containsOnly(7);
                assertThatThrownBy(() -> channel.tryWriteRemote(ownRegion.slice(), target, 1))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                send(channel, MemorySegment.ofArray(new byte[1]), NOTHING);
                get(peer);
            }
        }
    }

    @Test
    void shouldListTheOperationsThatAFailureHasLeftUnfinished() throws Exception {
        var options = RdmaChannelOptions.DEFAULT.operations(3);
        var peer = peer(options, channel -> channel.connection().awaitDisconnected(TIMEOUT));
        try (var arena = domain.newArena(Pair.ALL)) {
            var local = arena.region(64);
            var remote = arena.region(64).remote();
            var deregistered = arena.region(64);
            var invalid = deregistered.remote();
            deregistered.close();
            var channel = connect(options);
            var completedIds = new ArrayList<Long>();
            var handler =
                    new RdmaChannel.Handler() {
                        @Override
                        public void message(MemorySegment buffer, long length) {
                            throw new AssertionError("unexpected message");
                        }

                        @Override
                        public void done(long id) {
                            completedIds.add(id);
                        }
                    };
            for (var id = 0; id < 4; id++) {
                assertThat(channel.tryWriteRemote(local.slice(0, 8), remote, id)).isTrue();
                assertThat(channel.unfinishedOperations()).containsExactly(id);
                while (completedIds.size() <= id) {
                    channel.await(handler, TIMEOUT);
                }
                assertThat(channel.unfinishedOperations()).isEmpty();
            }

            assertThat(channel.tryReadRemote(local.slice(), invalid, 70)).isTrue();
            channel.tryWriteRemote(local.slice(), remote, 71);
            assertThatThrownBy(
                            () -> {
                                while (true) {
                                    channel.await(handler, TIMEOUT);
                                }
                            })
                    .isInstanceOf(ChannelClosedException.class);

            assertThat(completedIds).containsExactly(0L, 1L, 2L, 3L);
            assertThat(channel.unfinishedOperations()).containsExactly(70, 71);
            channel.close();
            assertThat(channel.unfinishedOperations()).containsExactly(70, 71);
        }
        get(peer);
    }

    @Test
    void shouldAllocateNoJavaObjectsAfterWarmUp() throws Exception {
        fabric.needs(Feature.ALLOCATING_NOTHING);
        var options = RdmaChannelOptions.DEFAULT.window(8).messageBytes(256);
        var peer = peer(options, RdmaChannelTest::replyWithoutAllocating);
        try (var channel = connect(options)) {
            var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            var replies = new int[1];
            RdmaChannel.Handler count = (_, _) -> replies[0]++;
            var least = Long.MAX_VALUE;
            for (var round = 0; round < 20 && least > ALLOCATED_BELOW; round++) {
                var before = threads.getCurrentThreadAllocatedBytes();
                for (var number = 0; number < 200; number++) {
                    var buffer = channel.tryClaim();
                    buffer.set(ValueLayout.JAVA_INT, 0, number);
                    channel.send(64);
                    while (replies[0] <= number) {
                        pollOrPause(channel, count);
                    }
                }
                replies[0] = 0;
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }

            assertThat(least).isLessThan(ALLOCATED_BELOW);
        }
        get(peer);
    }

    private static void replyWithoutAllocating(RdmaChannel channel) throws IOException {
        RdmaChannel.Handler answer =
                (_, _) -> {
                    channel.tryClaim();
                    channel.send(64);
                };
        try {
            while (true) {
                pollOrPause(channel, answer);
            }
        } catch (VerbsException e) {
            assertThat(e).hasMessageContaining("has disconnected");
        }
    }

    /** Polls, and parks if there was no message, because both sides may share one processor. */
    private static void pollOrPause(RdmaChannel channel, RdmaChannel.Handler handler)
            throws IOException {
        if (channel.poll(handler) == 0) {
            LockSupport.parkNanos(1);
        }
    }

    @Test
    void shouldDeliverEarlierMessagesBeforeItReportsTheEndOfThePeer() throws Exception {
        var options = RdmaChannelOptions.DEFAULT;
        var peer =
                peer(
                        options,
                        channel -> {
                            for (var number = 0; number < 3; number++) {
                                send(channel, MemorySegment.ofArray(new byte[10]), NOTHING);
                            }
                            // The poll returns the message that confirms all three.
                            take(channel, 1);
                        });
        try (var channel = connect(options)) {
            assertThat(take(channel, 3)).hasSize(3);
            send(channel, MemorySegment.ofArray(new byte[1]), NOTHING);
            get(peer);

            assertThatThrownBy(
                            () -> {
                                while (true) {
                                    channel.await(NOTHING, TIMEOUT);
                                }
                            })
                    .isInstanceOf(ChannelClosedException.class)
                    .hasMessageContaining("the peer has disconnected");
            assertThat(channel.termination().map(TerminationCause::cause))
                    .hasValue(TerminationCause.Cause.CLOSED_BY_PEER);
            assertThatThrownBy(() -> channel.trySend(MemorySegment.NULL))
                    .isInstanceOf(VerbsException.class);
            assertThatThrownBy(() -> channel.await(NOTHING, Duration.ofHours(1)))
                    .isInstanceOf(VerbsException.class);
        }
    }

    /** In this test, a single poll returns the last message and all flushed receives. */
    @Test
    void shouldReportTheDisconnectAtOnceAfterTheLastMessage() throws Exception {
        if (fabric.profile() == Profile.SIW) {
            throw new Fabric.Listed("on iWARP the accepting side cannot send first");
        }
        var options = RdmaChannelOptions.DEFAULT.window(4);
        var peer =
                peer(
                        options,
                        channel -> {
                            send(channel, MemorySegment.ofArray(new byte[10]), NOTHING);
                            take(channel, 1);
                        });
        try (var channel = connect(options)) {
            send(channel, MemorySegment.ofArray(new byte[1]), NOTHING);
            get(peer);
            channel.connection().awaitDisconnected(TIMEOUT);

            assertThat(take(channel, 1)).hasSize(1);
            assertThatThrownBy(() -> channel.await(NOTHING, Duration.ofHours(1)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("has disconnected");
        }
    }

    /** The rejection ends the connection attempt of the peer before the timeout of the attempt. */
    @Test
    void shouldRejectAPeerIfThereIsNoMemoryForItsRings() throws Exception {
        var most = RdmaChannelOptions.DEFAULT.window(65_536).messageBytes(1 << 30);
        var peer = peer(most, _ -> {});

        assertThatThrownBy(() -> connect(RdmaChannelOptions.DEFAULT))
                .isInstanceOf(CmException.class);
        assertThatThrownBy(() -> get(peer))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(VerbsException.class);
    }

    @Test
    void shouldRejectAPeerThatDoesNotUseRdmaChannel() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT, _ -> {});
        try (var completions = device.newCompletionDispatcher(64)) {
            var connectionOptions = ConnectionOptions.of(QueuePairOptions.reliable(completions));

            assertThatThrownBy(() ->
                            connections.connect(
                                    listener.localAddress(), domain, connectionOptions, TIMEOUT))
                    .isInstanceOf(CmException.class);
            assertThatThrownBy(() -> get(peer))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("has no channel parameters");
        }
    }

    @Test
    void shouldRejectAnAcceptorThatDoesNotUseRdmaChannel() throws Exception {
        try (var completions = device.newCompletionDispatcher(64)) {
            var connectionOptions = ConnectionOptions.of(QueuePairOptions.reliable(completions));
            var accepting = startCall(() -> listener.accept(domain, connectionOptions, TIMEOUT));

            assertThatThrownBy(() -> connect(RdmaChannelOptions.DEFAULT))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("the peer sent no channel parameters");
            get(accepting);
        }
    }

    @Test
    void shouldSendTheNextMessageAfterACopyHasFailed() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        try (var channel = connect(RdmaChannelOptions.DEFAULT)) {
            var arena = Arena.ofConfined();
            var freed = arena.allocate(8);
            arena.close();
            assertThatThrownBy(() -> channel.trySend(freed))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");

            send(channel, MemorySegment.ofArray(message(7, 64)), NOTHING);

            assertThat(take(channel, 1).getFirst()).isEqualTo(message(7, 64));
        }
        get(peer);
    }

    @Test
    void shouldRejectOtherThreadsPollingHandlersAndUnclaimedMessages() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        try (var channel = connect(RdmaChannelOptions.DEFAULT)) {
            var message = MemorySegment.ofArray(new byte[8]);
            assertThatThrownBy(() -> channel.send(1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("claimed");
            channel.tryClaim().set(ValueLayout.JAVA_BYTE, 0, (byte) 42);
            for (var callOfAnotherThread :
                    List.of(
                            startCall(() -> channel.trySend(message)),
                            startCall(channel::tryClaim),
                            startCall(channel::freeMessages),
                            startCall(channel::unfinishedOperations),
                            startCall(() -> channel.poll(NOTHING)))) {
                assertThatThrownBy(() -> callOfAnotherThread.get(20, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(WrongThreadException.class);
            }
            channel.send(1);
            assertThat(take(channel, 1).getFirst()).containsExactly(42);
            send(channel, message, NOTHING);

            assertThatThrownBy(() -> channel.await((_, _) -> channel.poll(NOTHING), TIMEOUT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("handler");
        }
        get(peer);
    }

    /** A wake-up before, at the start of and during a wait must not be lost. */
    @Test
    void shouldEndAWaitEarlyWhenAnotherThreadWakesItUp() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        try (var channel = connect(RdmaChannelOptions.DEFAULT)) {
            for (var round = 0; round < 40; round++) {
                var pause = round % 4;
                var waking =
                        startCall(() -> {
                            Thread.sleep(pause);
                            channel.wake();
                            return true;
                        });
                assertThat(channel.await(NOTHING, TIMEOUT)).isEqualTo(RdmaChannel.WaitResult.WOKEN);
                waking.get(20, TimeUnit.SECONDS);
            }
            channel.wake();
            channel.wake();

            assertThat(channel.await(NOTHING, TIMEOUT)).isEqualTo(RdmaChannel.WaitResult.WOKEN);
            assertThat(channel.await(NOTHING, SHORT)).isEqualTo(RdmaChannel.WaitResult.TIMED_OUT);
        }
        get(peer);
    }

    @Test
    void shouldReportAWakeUpOnceEvenIfItHandlesMessages() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        try (var channel = connect(RdmaChannelOptions.DEFAULT)) {
            var replies = new int[1];
            RdmaChannel.Handler count = (_, _) -> replies[0]++;
            for (var round = 1; round <= 20; round++) {
                var results = EnumSet.noneOf(RdmaChannel.WaitResult.class);
                send(channel, MemorySegment.ofArray(new byte[1]), count);
                channel.wake();
                while (replies[0] < round || !results.contains(RdmaChannel.WaitResult.WOKEN)) {
                    results.add(channel.await(count, TIMEOUT));
                }
                assertThat(results).doesNotContain(RdmaChannel.WaitResult.TIMED_OUT);
            }
        }
        get(peer);
    }

    @Test
    void shouldIgnoreAWakeUpAfterTheChannelHasEnded() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        var channel = connect(RdmaChannelOptions.DEFAULT);
        channel.close();

        channel.wake();

        assertThatThrownBy(() -> channel.await(NOTHING, TIMEOUT))
                .isInstanceOf(ChannelClosedException.class);
        get(peer);
    }

    @Test
    void shouldEndAWaitWhenAnotherThreadClosesIt() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        var channel = connect(RdmaChannelOptions.DEFAULT);
        Thread.ofVirtual()
                .start(() -> {
                    try {
                        Thread.sleep(100);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    channel.close();
                });

        assertThat(channel.termination()).isEmpty();
        assertThatThrownBy(() -> channel.await(NOTHING, TIMEOUT))
                .isInstanceOfSatisfying(
                        ChannelClosedException.class,
                        e ->
                                assertThat(e.termination().cause())
                                        .isEqualTo(TerminationCause.Cause.CLOSED_HERE));
        assertThatThrownBy(channel::tryClaim).isInstanceOf(ChannelClosedException.class);
        assertThat(channel.termination().map(TerminationCause::cause))
                .hasValue(TerminationCause.Cause.CLOSED_HERE);
        get(peer);
    }

    /** The peer must respond although its program handles no messages in the meantime. */
    @Test
    void shouldKeepAnIdleChannelAliveAndTransferMessagesAfterwards() throws Exception {
        var options =
                RdmaChannelOptions.DEFAULT.keepAlive(Duration.ofMillis(5)).operations(1).window(4);
        var idle = new CountDownLatch(1);
        var peer =
                peer(
                        options,
                        channel -> {
                            idle.await();
                            echo(channel);
                        });
        try (var channel = connect(options)) {
            for (var round = 0; round < 5; round++) {
                assertThat(channel.await(NOTHING, SHORT))
                        .isEqualTo(RdmaChannel.WaitResult.TIMED_OUT);
            }
            for (var round = 0; round < 50; round++) {
                assertThat(channel.poll(NOTHING)).isZero();
                Thread.sleep(1);
            }
            idle.countDown();
            for (var number = 0; number < 10; number++) {
                send(channel, MemorySegment.ofArray(message(number, 64)), NOTHING);
                assertThat(take(channel, 1).getFirst()).isEqualTo(message(number, 64));
                Thread.sleep(number);
            }
        }
        get(peer);
    }

    @Test
    void shouldDetectByTheKeepAliveThatThePeerDoesNotRespond() throws Exception {
        if (fabric.profile() == Profile.SIW) {
            throw new Fabric.Listed("on iWARP the end of the TCP connection is reported at once");
        }
        var detected = new CountDownLatch(1);
        var peer =
                peer(
                        RdmaChannelOptions.DEFAULT,
                        channel -> {
                            channel.connection()
                                    .queuePair()
                                    .modify(QueuePairChange.to(QueuePairState.ERROR));
                            assertThat(detected.await(60, TimeUnit.SECONDS)).isTrue();
                        });
        var options =
                RdmaChannelOptions.DEFAULT
                        .keepAlive(Duration.ofMillis(50))
                        .acknowledgeTimeout(Duration.ofMillis(67))
                        .retries(1);
        try (var channel = connect(options)) {
            assertThatThrownBy(() -> channel.await(NOTHING, TIMEOUT))
                    .isInstanceOf(ChannelClosedException.class)
                    .hasMessageContaining("RETRIES_EXCEEDED");
            assertThat(channel.termination().map(TerminationCause::cause))
                    .hasValue(TerminationCause.Cause.LOST);
            assertThat(channel.unfinishedOperations()).isEmpty();
        } finally {
            detected.countDown();
        }
        get(peer);
    }

    @Test
    void shouldEndWithCauseClosedHereWhenThisSideDisconnects() throws Exception {
        var peer = peer(RdmaChannelOptions.DEFAULT, RdmaChannelTest::echo);
        try (var channel = connect(RdmaChannelOptions.DEFAULT)) {
            channel.connection().disconnect(TIMEOUT);

            assertThatThrownBy(() -> channel.await(NOTHING, TIMEOUT))
                    .isInstanceOf(ChannelClosedException.class);
            assertThat(channel.termination().map(TerminationCause::cause))
                    .hasValue(TerminationCause.Cause.CLOSED_HERE);
        }
        get(peer);
    }

    /**
     * The result of {@code await} shows the program whether it returned because of a message,
     * because messages can be sent again, or because of a timeout.
     */
    @Test
    void shouldDistinguishRoomToSendFromMessagesAndTimeouts() throws Exception {
        var options = RdmaChannelOptions.DEFAULT.window(4);
        var handled = new CountDownLatch(1);
        var answer = new CountDownLatch(1);
        var peer =
                peer(
                        options,
                        channel -> {
                            take(channel, 4);
                            handled.countDown();
                            answer.await();
                            send(channel, MemorySegment.ofArray(new byte[1]), NOTHING);
                            take(channel, 1);
                        });
        try (var channel = connect(options)) {
            var message = MemorySegment.ofArray(new byte[10]);
            for (var number = 0; number < 4; number++) {
                while (!channel.trySend(message)) { // On iWARP, the first message is only a header.
                    channel.await(NOTHING, TIMEOUT);
                }
            }
            assertThat(handled.await(20, TimeUnit.SECONDS)).isTrue();

            var results = EnumSet.noneOf(RdmaChannel.WaitResult.class);
            while (channel.freeMessages() < 4) {
                results.add(channel.await(NOTHING, TIMEOUT));
            }
            assertThat(results).containsExactly(RdmaChannel.WaitResult.CAN_SEND);
            assertThat(channel.await(NOTHING, SHORT)).isEqualTo(RdmaChannel.WaitResult.TIMED_OUT);
            answer.countDown();
            assertThat(channel.await((_, _) -> {}, TIMEOUT))
                    .isEqualTo(RdmaChannel.WaitResult.HANDLED);
            send(channel, message, NOTHING);
            get(peer);
        }
    }
}
