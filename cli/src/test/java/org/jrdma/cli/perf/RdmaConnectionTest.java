package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.Executors;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.Verbs;
import org.junit.jupiter.api.Test;

class RdmaConnectionTest {

    private static final int MESSAGES = 8;

    @Test
    void shouldCountEachReceivedMessageOnceWhileSending() throws Exception {
        try (var sides = ControlChannelPair.connected();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var sending =
                    threads.submit(() -> {
                        try (var sender = side(sides.there())) {
                            var send = sender.queuePair.prepareSend(sender.source.slice());
                            post(sender, send, MESSAGES);
                            sides.there().exchange("sent");
                            return sides.there().exchange("received");
                        }
                    });
            try (var receiver = side(sides.here())) {
                sides.here().exchange("sent");
                var write =
                        receiver.queuePair.prepareWrite(
                                receiver.source.slice(), receiver.peerMemory);
                post(receiver, write, 2 * RdmaConnection.DEPTH); // fills the send queue

                assertThat(receiver.pollReceived()).isEqualTo(MESSAGES);
                assertThat(receiver.pollReceived()).isZero();
                sides.here().exchange("received");
            }
            assertThat(sending).succeedsWithin(ControlChannel.TIMEOUT);
        }
    }

    private static RdmaConnection side(ControlChannel peer) throws IOException {
        var side = new RdmaConnection(Verbs.software().openFirst(), peer, 64);
        var receive = side.queuePair.prepareReceive(side.target.slice());
        receive.id(RdmaConnection.RECEIVE);
        for (var message = 0; message < MESSAGES; message++) {
            assertThat(receive.tryPost()).isTrue();
        }
        RdmaConnection.awaitReady(peer);
        return side;
    }

    private static void post(RdmaConnection side, PreparedRequest<?> request, int count)
            throws IOException {
        request.id(RdmaConnection.REQUEST);
        for (var posted = 0; posted < count; posted++) {
            side.post(request);
        }
        side.awaitRequests();
    }
}
