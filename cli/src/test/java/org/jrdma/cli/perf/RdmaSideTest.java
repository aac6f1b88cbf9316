package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.Executors;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.Verbs;
import org.junit.jupiter.api.Test;

class RdmaSideTest {

    private static final int MESSAGES = 8;

    /** While it sends, too. */
    @Test
    void shouldCountEachReceivedMessageOnce() throws Exception {
        try (var sides = BothSides.connected();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var sending =
                    threads.submit(() -> {
                        try (var sender = side(sides.there())) {
                            var send = sender.queuePair.prepareSend(sender.source.slice());
                            post(sender, send, MESSAGES);
                            sides.there().swap("sent");
                            return sides.there().swap("received");
                        }
                    });
            try (var receiver = side(sides.here())) {
                sides.here().swap("sent");
                var write =
                        receiver.queuePair.prepareWrite(
                                receiver.source.slice(), receiver.peerMemory);
                post(receiver, write, 2 * RdmaSide.DEPTH); // so that it waits for room

                assertThat(receiver.takeReceived()).isEqualTo(MESSAGES);
                assertThat(receiver.takeReceived()).isZero();
                sides.here().swap("received");
            }
            assertThat(sending).succeedsWithin(ControlChannel.PATIENCE);
        }
    }

    private static RdmaSide side(ControlChannel peer) throws IOException {
        var side = new RdmaSide(Verbs.software().openFirst(), peer, 64);
        var receive = side.queuePair.prepareReceive(side.target.slice());
        receive.id(RdmaSide.RECEIVE);
        for (var message = 0; message < MESSAGES; message++) {
            assertThat(receive.tryPost()).isTrue();
        }
        RdmaSide.becomeReady(peer);
        return side;
    }

    private static void post(RdmaSide side, PreparedRequest<?> request, int count)
            throws IOException {
        request.id(RdmaSide.REQUEST);
        for (var posted = 0; posted < count; posted++) {
            side.post(request);
        }
        side.awaitRequests();
    }
}
