package org.jrdma.examples.pingpong;

import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.ON_DEMAND;

import java.io.IOException;
import java.util.Map;
import org.jrdma.verbs.ConnectOptions;
import org.jrdma.verbs.model.Access;

/**
 * Sends a message to and fro between two processes over a reliable connection, as {@code
 * ibv_rc_pingpong} of rdma-core does: the options, what is said over TCP and the result are the
 * same, so either side can be the C program.
 */
public final class RcPingPong {

    static void main(String... arguments) {
        try {
            var options = PingPongOptions.parse(PingPongOptions.Program.RC, arguments);
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
        var access =
                options.onDemand
                        ? new Access[] {LOCAL_WRITE, ON_DEMAND}
                        : new Access[] {LOCAL_WRITE};
        try (var device = options.openDevice();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(access);
                var completions = device.newCompletionQueue(options.completionQueue());
                var cursor = completions.newCursor(2);
                var queuePair = domain.newQueuePair(options.applyTo(reliable(completions)))) {

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
                                        .serviceLevel(options.serviceLevel)
                                        .maxReads(1)
                                        .maxDestinationReads(1));
                        game.postReceives();
                    });
            game.play(Map.of(queuePair.number(), send));
        }
    }
}
