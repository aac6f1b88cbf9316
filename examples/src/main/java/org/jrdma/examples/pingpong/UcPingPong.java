package org.jrdma.examples.pingpong;

import static org.jrdma.verbs.QueuePairOptions.unreliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.util.Map;
import org.jrdma.verbs.ConnectOptions;

/**
 * Sends a message to and fro between two processes over an unreliable connection, as {@code
 * ibv_uc_pingpong} of rdma-core does; either side can be the C program. A message that is lost ends
 * the game: nothing repeats it, and neither side is told.
 */
public final class UcPingPong {

    static void main(String... arguments) {
        try {
            var options = PingPongOptions.parse(PingPongOptions.Program.UC, arguments);
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
                var queuePair = domain.newQueuePair(options.applyTo(unreliable(completions)))) {

            // One buffer for all that comes and goes: what is in it matters to -c only.
            var buffer = memory.region(options.size);
            var send = queuePair.prepareSend(buffer.slice());
            send.inline(options.size <= queuePair.inlineBytes());
            var receive = queuePair.prepareReceive(buffer.slice());
            var game = new Game(options, cursor, receive, buffer.segment());

            Rendezvous.meet(
                    options,
                    queuePair.endpoint(),
                    peer -> {
                        queuePair.connect(
                                peer,
                                new ConnectOptions()
                                        .pathMtu(options.mtu)
                                        .serviceLevel(options.serviceLevel));
                        game.postReceives();
                    });
            game.play(Map.of(queuePair.number(), send));
        }
    }
}
