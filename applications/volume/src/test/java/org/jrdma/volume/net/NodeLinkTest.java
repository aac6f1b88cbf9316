package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.BulkTransfer.Direction;
import org.jrdma.volume.net.NodeLink.Repeat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class NodeLinkTest {

    private static final Duration RETRY = Duration.ofMillis(200);

    static {
        SoftwareFabrics.select();
    }

    private final TestRequestHandler server = new TestRequestHandler();
    private final Map<NodeTransport, NodeListener> listeners = new HashMap<>();
    private final Map<NodeTransport, String> addresses = new HashMap<>();

    private NodePolicy policy(NodeTransport transport) {
        var loopback = InetAddress.getLoopbackAddress();
        var known = addresses.get(transport);
        var port =
                known == null ? 0 : Integer.parseInt(known.substring(known.lastIndexOf(':') + 1));
        var policy = NodePolicy.of(transport).silence(Duration.ofSeconds(2));
        return switch (transport) {
            case VERBS -> policy.verbsAddress(new InetSocketAddress(port));
            case SISCI -> policy.sisciNumber(port);
            case SOCKETS -> policy.socketAddress(new InetSocketAddress(loopback, port));
        };
    }

    /** Listens over a transport, at the same address as before. */
    private void listen(NodeTransport transport) throws IOException {
        var listener = NodeListener.open(policy(transport), server);
        listeners.put(transport, listener);
        addresses.put(transport, listener.addresses().getFirst());
    }

    private void stop(NodeTransport transport) {
        listeners.remove(transport).close();
    }

    private NodeLink open() throws IOException {
        return NodeLink.open(
                "storage01",
                List.copyOf(addresses.values()),
                NodePolicy.ALL.silence(Duration.ofSeconds(2)),
                RequestHandler.NONE,
                RETRY);
    }

    @AfterEach
    void close() {
        server.gate.countDown();
        listeners.values().forEach(NodeListener::close);
    }

    private static void await(NodeLink link, NodeTransport transport) throws Exception {
        var deadline = TestRequestHandler.deadline();
        while (!link.state().transport().equals(Optional.of(transport))) {
            if (deadline.hasPassed()) {
                throw deadline.missed("The link did not use " + transport + ": " + link.state());
            }
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldSwitchBetweenTransportsWithoutAnErrorOfACall() throws Exception {
        for (var transport : NodeTransport.values()) {
            listen(transport);
        }
        var calls = new AtomicLong();
        try (var link = open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            await(link, NodeTransport.VERBS);
            var stop = new CompletableFuture<Void>();
            var futures = new ArrayList<Future<?>>();
            for (var thread = 0; thread < 4; thread++) {
                var seed = thread;
                futures.add(
                        threads.submit(() -> {
                            while (!stop.isDone()) {
                                roundTrip(link, seed + 10 * calls.incrementAndGet());
                            }
                            return null;
                        }));
            }

            stop(NodeTransport.VERBS);
            await(link, NodeTransport.SISCI);
            assertThat(link.state().unused())
                    .singleElement()
                    .matches(failure -> failure.transport() == NodeTransport.VERBS);
            assertThat(link.state().reason()).contains("has ended");
            stop(NodeTransport.SISCI);
            await(link, NodeTransport.SOCKETS);
            assertThat(link.state().unused()).hasSize(2);
            var before = calls.get();
            while (calls.get() < before + 10) {
                Thread.onSpinWait();
            }
            listen(NodeTransport.VERBS);
            await(link, NodeTransport.VERBS);
            assertThat(link.state().unused()).isEmpty();
            assertThat(link.state().reason()).isEqualTo("verbs is available again");
            assertThat(link.state().pause()).isZero();
            assertThat(link.state().switches()).isGreaterThanOrEqualTo(3);

            stop.complete(null);
            for (var future : futures) {
                future.get(20, TimeUnit.SECONDS); // no call has failed
            }
        }
    }

    private static void roundTrip(NodeLink link, long seed) throws IOException {
        try (var arena = Arena.ofConfined()) {
            var data = arena.allocate(70_000);
            TestRequestHandler.fill(data, seed);
            var sum =
                    call(
                            link,
                            TestRequestHandler.request(TestRequestHandler.SUM),
                            data,
                            Direction.TO_PEER);
            assertThat(sum.getLong()).isEqualTo(TestRequestHandler.sum(70_000, seed));
            var fill =
                    TestRequestHandler.request(
                            TestRequestHandler.FILL, TestRequestHandler.longValue(seed + 1));
            var reply = call(link, fill, data, Direction.FROM_PEER);
            assertThat(reply.remaining()).isZero();
            assertThat(TestRequestHandler.sum(data))
                    .isEqualTo(TestRequestHandler.sum(70_000, seed + 1));
        }
    }

    private static ByteBuffer call(
            NodeLink link, ByteBuffer request, MemorySegment data, Direction direction)
            throws IOException {
        return link.call(
                request, data, direction, Repeat.REPEATABLE, TestRequestHandler.deadline());
    }

    private static CompletableFuture<ByteBuffer> waitingCall(NodeLink link, Repeat repeat) {
        var result = new CompletableFuture<ByteBuffer>();
        Thread.startVirtualThread(() -> {
            try {
                var request =
                        TestRequestHandler.request(
                                TestRequestHandler.WAIT, ByteBuffer.wrap(new byte[] {42}));
                result.complete(link.call(request, repeat, TestRequestHandler.deadline()));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    @Test
    void shouldRepeatOnlyCallsThatAreRepeatable() throws Exception {
        listen(NodeTransport.SISCI);
        listen(NodeTransport.SOCKETS);
        try (var link = open()) {
            await(link, NodeTransport.SISCI);
            var once = waitingCall(link, Repeat.ONCE);
            var repeated = waitingCall(link, Repeat.REPEATABLE);
            while (server.handled.get() < 2) {
                Thread.onSpinWait();
            }
            var stopping =
                    CompletableFuture.runAsync(() -> stop(NodeTransport.SISCI)); // waits for calls

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> once.get(20, TimeUnit.SECONDS))
                    .withCauseInstanceOf(ConnectionLostException.class);
            await(link, NodeTransport.SOCKETS);
            server.gate.countDown();
            assertThat(repeated.get(20, TimeUnit.SECONDS).get()).isEqualTo((byte) 42);
            assertThat(server.handled).hasValue(3);
            stopping.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldReturnToABetterTransportWithoutDisturbingCalls() throws Exception {
        listen(NodeTransport.SISCI);
        listen(NodeTransport.SOCKETS);
        stop(NodeTransport.SISCI);
        try (var link = open()) {
            await(link, NodeTransport.SOCKETS);
            var call = waitingCall(link, Repeat.ONCE);
            server.waiting.await();

            listen(NodeTransport.SISCI);
            await(link, NodeTransport.SISCI);
            roundTrip(link, 1);

            assertThat(call).isNotDone();
            server.gate.countDown();
            assertThat(call.get(20, TimeUnit.SECONDS).get()).isEqualTo((byte) 42);
            var deadline = TestRequestHandler.deadline();
            while (!listeners.get(NodeTransport.SOCKETS).connections().isEmpty()) {
                if (deadline.hasPassed()) {
                    throw deadline.missed("The replaced connection was not closed");
                }
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void shouldFailCallsAtOnceWhileNoTransportWorksAndConnectLater() throws Exception {
        try (var reserved = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            addresses.put(NodeTransport.SOCKETS, "sockets:127.0.0.1:" + reserved.getLocalPort());
        }
        try (var link = open()) {
            for (var call = 0; call < 3; call++) {
                assertThatExceptionOfType(VolumeException.class)
                        .isThrownBy(() ->
                                link.call(
                                        TestRequestHandler.request(TestRequestHandler.ECHO),
                                        Repeat.REPEATABLE,
                                        TestRequestHandler.deadline()))
                        .withMessageContaining(addresses.get(NodeTransport.SOCKETS));
            }
            assertThat(link.state().transport()).isEmpty();
            assertThat(link.state().toString()).contains("storage01 not connected (sockets:");

            listen(NodeTransport.SOCKETS);
            await(link, NodeTransport.SOCKETS);
            roundTrip(link, 1);
        }
    }

    @Test
    void shouldUseTheNextTransportAfterOneThrewARuntimeException() throws Exception {
        listen(NodeTransport.SOCKETS);
        addresses.put(NodeTransport.VERBS, "verbs:127.0.0.1:7471");
        System.setProperty("jrdma.fabric", "invalid"); // verbs throws IllegalArgumentException
        try (var link = open()) {
            roundTrip(link, 1);

            assertThat(link.state().transport()).contains(NodeTransport.SOCKETS);
            assertThat(link.state().unused())
                    .singleElement()
                    .matches(failure -> failure.reason().contains("jrdma.fabric"));
        } finally {
            System.setProperty("jrdma.fabric", "software");
        }
    }

    @Test
    void shouldRejectCallsAfterClose() throws Exception {
        listen(NodeTransport.SOCKETS);
        var link = open();
        roundTrip(link, 1);

        link.close();

        assertThatIllegalStateException().isThrownBy(() -> roundTrip(link, 2));
        assertThat(listeners.get(NodeTransport.SOCKETS).connections()).hasSizeLessThanOrEqualTo(1);
    }
}
