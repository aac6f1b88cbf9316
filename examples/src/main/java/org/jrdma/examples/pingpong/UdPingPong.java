package org.jrdma.examples.pingpong;

import static org.jrdma.verbs.QueuePairOptions.datagrams;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.util.Map;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.model.GlobalRouteHeader;

/**
 * Sends a datagram to and fro between two processes, as {@code ibv_ud_pingpong} of rdma-core does;
 * either side can be the C program. A datagram that is lost ends the game: nothing repeats it, and
 * neither side is told.
 */
public final class UdPingPong {

    /** What a datagram must carry to be received: both sides know it. */
    private static final int QUEUE_KEY = 0x11111111;

    static void main(String... arguments) {
        try {
            var options = PingPongOptions.parse(PingPongOptions.Program.UD, arguments);
            if (options.help) {
                IO.println(options.usage());
            } else {
                play(options);
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void play(PingPongOptions options) throws IOException {
        try (var device = options.openDevice();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE);
                var completions = device.newCompletionQueue(options.completionQueue());
                var cursor = completions.newCursor(2);
                var queuePair = domain.newQueuePair(options.applyTo(datagrams(completions)))) {

            if (options.size > queuePair.maxMessageBytes()) {
                throw new IOException(
                        "A datagram has %d bytes at most on this port, not %d."
                                .formatted(queuePair.maxMessageBytes(), options.size));
            }
            // A message is received behind a header that says where it came from.
            var buffer = memory.region(GlobalRouteHeader.BYTES + options.size);
            var message = buffer.slice(GlobalRouteHeader.BYTES, options.size);
            var receive = queuePair.prepareReceive(buffer.slice());
            var game = new Game(options, cursor, receive, message.segment());

            var peer =
                    Rendezvous.meet(
                            options,
                            queuePair.endpoint(),
                            _ -> {
                                queuePair.activate(QUEUE_KEY);
                                game.postReceives();
                            });
            var way = queuePair.addressOf(peer).withServiceLevel(options.serviceLevel);
            var address = domain.newAddressHandle(way);
            var destination = new Destination(address, peer.queuePairNumber(), QUEUE_KEY);
            var send = queuePair.prepareSend(message, destination);
            send.inline(options.size <= queuePair.inlineBytes());
            game.play(Map.of(queuePair.number(), send));
        }
    }
}
