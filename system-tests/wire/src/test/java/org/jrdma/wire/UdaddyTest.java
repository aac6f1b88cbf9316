package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.processes.Program;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DispatchedDatagramQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairChange;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.QueuePairState;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionEvent.AddressResolved;
import org.jrdma.verbs.cm.ConnectionEvent.DatagramEstablished;
import org.jrdma.verbs.cm.ConnectionEvent.DatagramRequest;
import org.jrdma.verbs.cm.ConnectionEvent.RouteResolved;
import org.jrdma.verbs.cm.ConnectionEvent.Unreachable;
import org.jrdma.verbs.cm.ConnectionParameters;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.Identifier;
import org.jrdma.verbs.cm.PortSpace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where datagrams go, asked of rdma-core's udaddy on rxe1, and by it. */
class UdaddyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PORT = 7174;

    /** That of the port space, which the kernel gives all. */
    private static final int QUEUE_KEY = 0x0123_4567;

    private EventChannel channel;
    private Device device;
    private ProtectionDomain domain;
    private CompletionDispatcher completions;

    @BeforeEach
    void openChannel() throws IOException {
        channel = Side.connections().newEventChannel();
    }

    private void open(Family family) throws IOException {
        device = Side.openSoftware(family);
        domain = device.newProtectionDomain();
        completions = device.newCompletionDispatcher(16);
    }

    @AfterEach
    void close() {
        channel.close();
        device.close();
    }

    private <E extends ConnectionEvent> E await(Class<E> type) throws IOException {
        var event = channel.next(PATIENCE);
        assertThat(event).isInstanceOf(type);
        return type.cast(event);
    }

    private DispatchedDatagramQueuePair queuePair(Identifier identifier) throws IOException {
        var queuePair =
                domain.newQueuePair(QueuePairOptions.datagrams(completions).sends(1).receives(1));
        queuePair.modify(identifier.queuePairChange(QueuePairState.INIT));
        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_SEND).sendSequence(0));
        return queuePair;
    }

    @ParameterizedTest
    @EnumSource(Family.class)
    void shouldFindTheCProgram(Family family) throws Exception {
        open(family);
        try (var serving = udaddy("-b", family.kernel())) {
            serving.awaitOutput("starting server");
            var established = ask(new InetSocketAddress(family.kernel(), PORT));

            assertThat(established.parameters().queueKey()).isEqualTo(QUEUE_KEY);
            assertThat(established.parameters().queuePairNumber()).isPositive();
            assertThat(serving.await()).as(serving.output()).isZero();
        }
    }

    /** Until the program has come to listen. */
    private DatagramEstablished ask(InetSocketAddress service) throws Exception {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            var identifier = channel.newIdentifier(PortSpace.UDP);
            identifier.resolveAddress(service, PATIENCE);
            await(AddressResolved.class);
            identifier.resolveRoute(PATIENCE);
            await(RouteResolved.class);
            identifier.connect(ConnectionParameters.of(queuePair(identifier), 0));
            var answer = channel.next(PATIENCE);
            if (answer instanceof DatagramEstablished established) {
                return established;
            }
            assertThat(answer).isInstanceOf(Unreachable.class);
            assertThat(System.nanoTime()).as(answer.toString()).isLessThan(deadline);
            identifier.close();
            Thread.sleep(200);
        }
    }

    @ParameterizedTest
    @EnumSource(Family.class)
    void shouldBeFoundByTheCProgram(Family family) throws Exception {
        open(family);
        var service = channel.newIdentifier(PortSpace.UDP);
        service.bind(new InetSocketAddress(InetAddress.ofLiteral(family.software()), PORT));
        service.listen(1);
        try (var calling = udaddy("-s", family.software())) {
            var request = await(DatagramRequest.class).identifier();
            assertThat(request.peerAddress().orElseThrow().getAddress())
                    .isEqualTo(InetAddress.ofLiteral(family.kernel()));
            request.accept(ConnectionParameters.of(queuePair(request), 0));

            assertThat(calling.await()).as(calling.output()).isZero();
        }
    }

    /** Without messages: those of the ping-pong show that they arrive. */
    private static Program udaddy(String... options) throws IOException {
        var command = new ArrayList<>(Wire.atKernel("stdbuf", "-oL", "udaddy", "-C", "0"));
        command.addAll(List.of(options));
        return Program.start(command);
    }
}
