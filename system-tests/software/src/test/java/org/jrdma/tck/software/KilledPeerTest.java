package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.ConnectOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ChannelClosedException;
import org.jrdma.verbs.cm.ChannelTermination;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.RemoteMemory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the peers of a process that is killed. */
@Timeout(120)
class KilledPeerTest {

    private static final int RETRIES = 3;

    /** The local ACK timeout of the specification. */
    private static final Duration ANSWER = Duration.ofNanos(4_096L << 14);

    /** Additional time for a busy machine. */
    private static final Duration SLACK = Duration.ofSeconds(1);

    /** A connection to another process. */
    private record Connection(ChildJvm child, AsyncQueuePair queuePair, RemoteMemory memory) {

        static Connection to(ChildJvm child, AsyncQueuePair queuePair) throws IOException {
            var where = child.line().split(" ", -1);
            child.tell(queuePair.endpoint().toString());
            child.line("connected");
            queuePair.connect(
                    Endpoint.parse(where[0]),
                    new ConnectOptions().acknowledgeTimeout(ANSWER).retries(RETRIES));
            return new Connection(child, queuePair, RemoteMemory.parse(where[1]));
        }

        Completion write(MemorySlice source) throws IOException {
            return queuePair.write(source, memory).awaitCompletion(Duration.ofSeconds(60));
        }
    }

    /**
     * The specification permits each attempt to wait four times as long as configured. The first
     * attempt is not a retry.
     */
    private static final Duration MOST = ANSWER.multipliedBy(4 * (RETRIES + 1)).plus(SLACK);

    /** The result of a write that started at {@code begin}. */
    private record Ended(Completion completion, long begin, long end) {

        Duration took() {
            return Duration.ofNanos(end - begin);
        }
    }

    private static Ended writeUntilItFails(Connection connection, MemorySlice source)
            throws IOException {
        while (true) {
            var begin = System.nanoTime();
            var completion = connection.write(source);
            if (!completion.isSuccess()) {
                return new Ended(completion, begin, System.nanoTime());
            }
        }
    }

    @Test
    void shouldNotifyTheSurvivorInTimeAndKeepOtherConnections() throws Exception {
        try (var doomed = ChildJvm.start(List.of(), Responder.class);
                var other = ChildJvm.start(List.of(), Responder.class);
                var device = Verbs.from(SoftRoce.onLoopback(1)).openFirst();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE);
                var completions = device.newCompletionDispatcher(64);
                var toDoomed = domain.newReliableQueuePair(completions);
                var toOther = domain.newReliableQueuePair(completions);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var source = memory.region(64).slice();
            var cut = Connection.to(doomed, toDoomed);
            var kept = Connection.to(other, toOther);
            assertThat(cut.write(source).isSuccess()).isTrue();
            assertThat(kept.write(source).isSuccess()).isTrue();

            var failing = threads.submit(() -> writeUntilItFails(cut, source));
            Thread.sleep(100); // the peer is killed during writes
            assertThat(failing).isNotDone();
            var killed = System.nanoTime();
            doomed.kill();
            var undisturbed = 0;
            while (!failing.isDone()) {
                var begin = System.nanoTime();
                assertThat(kept.write(source).status()).isEqualTo(CompletionStatus.SUCCESS);
                var took = Duration.ofNanos(System.nanoTime() - begin);
                assertThat(took).as("a write to another process").isLessThan(SLACK);
                undisturbed++;
            }

            var ended = failing.get();
            assertThat(ended.completion().status()).isEqualTo(CompletionStatus.RETRIES_EXCEEDED);
            assertThat(ended.took()).isBetween(ANSWER.multipliedBy(RETRIES + 1), MOST);
            assertThat(Duration.ofNanos(ended.end() - killed)).isLessThan(MOST);
            assertThat(toDoomed.query().state()).isEqualTo(QueuePairState.ERROR);
            assertThat(undisturbed).isGreaterThan(50);
            assertThat(kept.write(source).isSuccess()).isTrue();
            assertThat(toOther.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
            System.out.printf(
                    "RETRIES_EXCEEDED %d ms after kill -9; %d writes to another process meanwhile%n",
                    (ended.end() - killed) / 1_000_000, undisturbed);
        }
    }

    @Test
    void shouldEndAChannelThatSendsInTheTimeOfItsOptions() throws Exception {
        var options = new RdmaChannelOptions().acknowledgeTimeout(ANSWER).retries(2);

        assertEndsOnceItSends(options, ANSWER.multipliedBy(3), ANSWER.multipliedBy(12).plus(SLACK));
    }

    @Test
    @Tag("slow")
    void shouldEndAChannelThatSendsInTheDefaultTime() throws Exception {
        var usual = Duration.ofNanos(8 * (4_096L << 17));

        assertEndsOnceItSends(new RdmaChannelOptions(), usual, usual.multipliedBy(4).plus(SLACK));
    }

    /** A channel does not notice that its peer was killed until it sends. */
    private static void assertEndsOnceItSends(
            RdmaChannelOptions options, Duration least, Duration most) throws Exception {
        var library = SoftRoce.onLoopback(1);
        var connections = ConnectionManager.from(library);
        try (var doomed = ChildJvm.start(List.of(), ChannelPeer.class);
                var device = Verbs.from(library).openFirst();
                var domain = device.newProtectionDomain()) {
            var where = doomed.line().split(" ", -1);
            var peer = new InetSocketAddress(where[0], Integer.parseInt(where[1]));
            var timeout = Duration.ofSeconds(20);
            try (var channel = RdmaChannel.connect(connections, peer, domain, options, timeout)) {
                doomed.line("accepted");
                doomed.kill();

                var took = endOf(channel);

                assertThat(took).isBetween(least, most);
                System.out.printf("A channel fails %d ms after it sends%n", took.toMillis());
            }
        }
    }

    /** Returns the time from a send to the end of the channel. */
    private static Duration endOf(RdmaChannel channel) throws IOException {
        var begin = System.nanoTime();
        assertThat(channel.trySend(MemorySegment.ofArray(new byte[8]))).isTrue();
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                channel.await((_, _) -> {}, Duration.ofSeconds(60));
                            }
                        })
                .isInstanceOf(ChannelClosedException.class)
                .hasMessageContaining("RETRIES_EXCEEDED");
        assertThat(channel.termination().map(ChannelTermination::cause))
                .hasValue(ChannelTermination.Cause.LOST);
        return Duration.ofNanos(System.nanoTime() - begin);
    }
}
