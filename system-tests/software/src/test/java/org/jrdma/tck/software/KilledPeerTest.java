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
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ChannelClosedException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.cm.TerminationCause;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.RemoteMemory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how the peers of a process notice that the process was killed. */
@Timeout(120)
class KilledPeerTest {

    private static final int RETRIES = 3;

    /** The acknowledge timeout with the exponent 14: 67 ms. */
    private static final Duration ACK_TIMEOUT = Duration.ofNanos(4_096L << 14);

    /** The additional time that the tests allow because the machine may be busy. */
    private static final Duration SLACK = Duration.ofSeconds(1);

    /** A connection to another process. */
    private record Connection(ChildJvm child, AsyncQueuePair queuePair, RemoteMemory memory) {

        static Connection to(ChildJvm child, AsyncQueuePair queuePair) throws IOException {
            var endpointAndMemory = child.line().split(" ", -1);
            child.writeLine(queuePair.endpoint().toString());
            child.line("connected");
            queuePair.connect(
                    Endpoint.parse(endpointAndMemory[0]),
                    DirectConnectOptions.DEFAULT.acknowledgeTimeout(ACK_TIMEOUT).retries(RETRIES));
            return new Connection(child, queuePair, RemoteMemory.parse(endpointAndMemory[1]));
        }

        Completion write(MemorySlice source) throws IOException {
            return queuePair.write(source, memory).awaitCompletion(Duration.ofSeconds(60));
        }
    }

    /**
     * The maximum time until a write to a killed peer fails. A device may wait up to four times as
     * long as configured for each attempt. The number of attempts is the number of retries plus
     * one.
     */
    private static final Duration MAX_TIME =
            ACK_TIMEOUT.multipliedBy(4 * (RETRIES + 1)).plus(SLACK);

    /** A write that has failed, with the times of its start and end in nanoseconds. */
    private record FailedWrite(Completion completion, long begin, long end) {

        Duration duration() {
            return Duration.ofNanos(end - begin);
        }
    }

    private static FailedWrite writeUntilItFails(Connection connection, MemorySlice source)
            throws IOException {
        while (true) {
            var begin = System.nanoTime();
            var completion = connection.write(source);
            if (!completion.isSuccess()) {
                return new FailedWrite(completion, begin, System.nanoTime());
            }
        }
    }

    @Test
    void shouldFailWritesToAKilledPeerInTimeAndKeepOtherConnections() throws Exception {
        try (var killedPeer = ChildJvm.start(List.of(), WriteTarget.class);
                var survivor = ChildJvm.start(List.of(), WriteTarget.class);
                var device = Verbs.from(SoftRoce.onLoopback(1)).openFirst();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE);
                var completions = device.newCompletionDispatcher(64);
                var toKilledPeer = domain.newReliableQueuePair(completions);
                var toSurvivor = domain.newReliableQueuePair(completions);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var source = memory.region(64).slice();
            var killedConnection = Connection.to(killedPeer, toKilledPeer);
            var survivingConnection = Connection.to(survivor, toSurvivor);
            assertThat(killedConnection.write(source).isSuccess()).isTrue();
            assertThat(survivingConnection.write(source).isSuccess()).isTrue();

            var failing = threads.submit(() -> writeUntilItFails(killedConnection, source));
            // The pause ensures that the peer is killed while writes are running.
            Thread.sleep(100);
            assertThat(failing).isNotDone();
            var killTime = System.nanoTime();
            killedPeer.kill();
            var successfulWrites = 0;
            while (!failing.isDone()) {
                var begin = System.nanoTime();
                assertThat(survivingConnection.write(source).status())
                        .isEqualTo(CompletionStatus.SUCCESS);
                var duration = Duration.ofNanos(System.nanoTime() - begin);
                assertThat(duration).as("a write to another process").isLessThan(SLACK);
                successfulWrites++;
            }

            var ended = failing.get();
            assertThat(ended.completion().status()).isEqualTo(CompletionStatus.RETRIES_EXCEEDED);
            assertThat(ended.duration()).isBetween(ACK_TIMEOUT.multipliedBy(RETRIES + 1), MAX_TIME);
            assertThat(Duration.ofNanos(ended.end() - killTime)).isLessThan(MAX_TIME);
            assertThat(toKilledPeer.query().state()).isEqualTo(QueuePairState.ERROR);
            assertThat(successfulWrites).isGreaterThan(50);
            assertThat(survivingConnection.write(source).isSuccess()).isTrue();
            assertThat(toSurvivor.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
            System.out.printf(
                    "RETRIES_EXCEEDED %d ms after kill -9; %d writes to another process"
                            + " meanwhile%n",
                    (ended.end() - killTime) / 1_000_000, successfulWrites);
        }
    }

    @Test
    void shouldEndAChannelWithinTheTimeoutOfItsOptions() throws Exception {
        var options = RdmaChannelOptions.DEFAULT.acknowledgeTimeout(ACK_TIMEOUT).retries(2);

        assertEndsAfterSend(
                options, ACK_TIMEOUT.multipliedBy(3), ACK_TIMEOUT.multipliedBy(12).plus(SLACK));
    }

    @Test
    @Tag("slow")
    void shouldEndAChannelWithinTheDefaultTimeout() throws Exception {
        var minTime = Duration.ofNanos(8 * (4_096L << 17));

        assertEndsAfterSend(
                RdmaChannelOptions.DEFAULT, minTime, minTime.multipliedBy(4).plus(SLACK));
    }

    @Test
    void shouldEndAChannelThatOnlyReceivesByItsKeepAlive() throws Exception {
        var interval = Duration.ofMillis(300);
        var options =
                RdmaChannelOptions.DEFAULT
                        .keepAlive(interval)
                        .acknowledgeTimeout(ACK_TIMEOUT)
                        .retries(2);
        assertEnds(
                options,
                _ -> {},
                ACK_TIMEOUT.multipliedBy(3),
                interval.plus(ACK_TIMEOUT.multipliedBy(12)).plus(SLACK));
    }

    private static void assertEndsAfterSend(
            RdmaChannelOptions options, Duration minTime, Duration maxTime) throws Exception {
        assertEnds(
                options,
                channel -> assertThat(channel.trySend(MemorySegment.ofArray(new byte[8]))).isTrue(),
                minTime,
                maxTime);
    }

    /** The last use of a channel by a test, after the peer was killed. */
    private interface LastUse {
        void of(RdmaChannel channel) throws IOException;
    }

    /** Asserts that a channel ends within a time after its peer was killed and its last use. */
    private static void assertEnds(
            RdmaChannelOptions options, LastUse lastUse, Duration minTime, Duration maxTime)
            throws Exception {
        var library = SoftRoce.onLoopback(1);
        var connections = ConnectionManager.from(library);
        try (var killedPeer = ChildJvm.start(List.of(), ChannelPeer.class);
                var device = Verbs.from(library).openFirst();
                var domain = device.newProtectionDomain()) {
            var hostAndPort = killedPeer.line().split(" ", -1);
            var peer = new InetSocketAddress(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
            var timeout = Duration.ofSeconds(20);
            try (var channel = connections.connectChannel(peer, domain, options, timeout)) {
                killedPeer.line("accepted");
                killedPeer.kill();

                var duration = timeToEnd(channel, lastUse);

                assertThat(duration).isBetween(minTime, maxTime);
                System.out.printf(
                        "A channel fails %d ms after its last use%n", duration.toMillis());
            }
        }
    }

    private static Duration timeToEnd(RdmaChannel channel, LastUse lastUse) throws IOException {
        var begin = System.nanoTime();
        lastUse.of(channel);
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                channel.await((_, _) -> {}, Duration.ofSeconds(60));
                            }
                        })
                .isInstanceOf(ChannelClosedException.class)
                .hasMessageContaining("RETRIES_EXCEEDED");
        assertThat(channel.termination().map(TerminationCause::cause))
                .hasValue(TerminationCause.Cause.LOST);
        return Duration.ofNanos(System.nanoTime() - begin);
    }
}
