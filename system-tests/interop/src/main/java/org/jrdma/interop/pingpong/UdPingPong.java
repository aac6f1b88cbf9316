package org.jrdma.interop.pingpong;

import static org.jrdma.verbs.QueuePairOptions.datagrams;

import java.io.IOException;
import java.util.Map;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.model.GlobalRouteHeader;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * Sends a datagram back and forth. Either side can be {@code ibv_ud_pingpong} of rdma-core. If a
 * datagram is lost, the program fails, because the datagram is not retransmitted.
 */
@Command(
        name = "ud-pingpong",
        description = "Measures a datagram back and forth, as ibv_ud_pingpong")
public final class UdPingPong extends AbstractPingPongLoopProgram {

    /** The queue key of both sides. A receiver drops datagrams with another key. */
    private static final int QUEUE_KEY = 0x11111111;

    UdPingPong() {
        size = 1024;
    }

    static void main(String... arguments) {
        new UdPingPong().execute(arguments);
    }

    @Override
    protected CommandLine commandLine() {
        return without(super.commandLine(), "--odp", "--mtu");
    }

    @Override
    boolean isReliable() {
        return false;
    }

    @Override
    void play(Device device) throws IOException {
        try (var domain = device.newProtectionDomain();
                var memory = domain.newArena(access());
                var completions = device.newCompletionQueue(completionQueue(1));
                var cursor = completions.newCursor(2);
                var queuePair = domain.newQueuePair(applyTo(datagrams(completions)))) {

            if (size > queuePair.maxMessageBytes()) {
                throw new IOException(
                        "A datagram on this port has at most %d bytes, not %d."
                                .formatted(queuePair.maxMessageBytes(), size));
            }
            // The adapter places a header with the sender's address before each message.
            var buffer = memory.region(GlobalRouteHeader.BYTES + size);
            var message = buffer.slice(GlobalRouteHeader.BYTES, size);
            var receive = queuePair.prepareReceive(buffer.slice());
            var loop = new PingPongLoop(this, cursor, receive, message.segment());

            var peer =
                    EndpointExchange.exchange(
                            this,
                            queuePair.endpoint(),
                            _ -> {
                                queuePair.activate(QUEUE_KEY);
                                loop.postReceives();
                            });
            var address =
                    domain.newAddressHandle(
                            queuePair.addressOf(peer).withServiceLevel(serviceLevel));
            var destination = new Destination(address, peer.queuePairNumber(), QUEUE_KEY);
            var send = queuePair.prepareSend(message, destination);
            send.inline(size <= queuePair.inlineBytes());
            loop.run(Map.of(queuePair.number(), send));
        }
    }
}
