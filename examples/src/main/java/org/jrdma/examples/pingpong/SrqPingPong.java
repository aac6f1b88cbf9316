package org.jrdma.examples.pingpong;

import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.ON_DEMAND;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import org.jrdma.verbs.ConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.model.Access;

/**
 * Sends messages to and fro between two processes over several connections at a time, which share
 * their receives, as {@code ibv_srq_pingpong} of rdma-core does; either side can be the C program.
 */
public final class SrqPingPong {

    static void main(String... arguments) {
        try {
            var options = PingPongOptions.parse(PingPongOptions.Program.SRQ, arguments);
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
                var cursor = completions.newCursor(16);
                var shared = domain.newSharedReceiveQueue(options.receives)) {

            // One buffer for all that comes and goes: what is in it matters to -c only.
            var buffer = memory.region(options.size);
            var receive = shared.prepareReceive(buffer.slice());
            var game = new Game(options, cursor, receive, buffer.segment());

            var queuePairs = new ArrayList<PolledQueuePair>();
            var sends = new HashMap<Integer, PreparedRequest<?>>();
            for (var i = 0; i < options.queuePairs; i++) {
                var queuePair =
                        domain.newQueuePair(
                                options.applyTo(reliable(completions)).sharedReceives(shared));
                queuePairs.add(queuePair); // closed with the queue whose receives it takes
                sends.put(
                        queuePair.number(),
                        queuePair
                                .prepareSend(buffer.slice())
                                .inline(options.size <= queuePair.inlineBytes()));
            }

            Rendezvous.meet(
                    options,
                    queuePairs.stream().map(PolledQueuePair::endpoint).toList(),
                    peers -> {
                        for (var i = 0; i < options.queuePairs; i++) {
                            queuePairs
                                    .get(i)
                                    .connect(
                                            peers.get(i),
                                            new ConnectOptions()
                                                    .pathMtu(options.mtu)
                                                    .serviceLevel(options.serviceLevel)
                                                    .maxReads(1)
                                                    .maxDestinationReads(1));
                        }
                        game.postReceives();
                    });
            game.play(sends);
        }
    }
}
