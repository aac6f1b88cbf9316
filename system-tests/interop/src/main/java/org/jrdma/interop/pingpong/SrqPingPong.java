package org.jrdma.interop.pingpong;

import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Sends messages back and forth over several connections that share their receives. Either side can
 * be {@code ibv_srq_pingpong} of rdma-core.
 */
@Command(
        name = "srq-pingpong",
        description = "Measures messages over shared receives, as ibv_srq_pingpong")
public final class SrqPingPong extends AbstractPingPongLoopProgram {

    @Option(
            names = {"-q", "--num-qp"},
            paramLabel = "COUNT",
            description = "number of queue pairs (${DEFAULT-VALUE})")
    int queuePairs = 16;

    static void main(String... arguments) {
        new SrqPingPong().execute(arguments);
    }

    @Override
    void checkOptions() {
        super.checkOptions();
        checkRange("-q", queuePairs, 1, EndpointExchange.MAX_QUEUE_PAIRS - 1);
        if (queuePairs > receives) {
            throw usageError(
                    "%d receives are too few: each of the %d queue pairs needs a receive"
                            .formatted(receives, queuePairs));
        }
    }

    @Override
    void play(Device device) throws IOException {
        try (var domain = device.newProtectionDomain();
                var memory = domain.newArena(access());
                var completions = device.newCompletionQueue(completionQueue(queuePairs));
                var cursor = completions.newCursor(16);
                var shared = domain.newPolledSharedReceiveQueue(receives)) {

            var buffer = memory.region(size);
            var receive = shared.prepareReceive(buffer.slice());
            var loop = new PingPongLoop(this, cursor, receive, buffer.segment());

            var connections = new ArrayList<PolledQueuePair>();
            var sends = new HashMap<Integer, PreparedRequest<?>>();
            for (var i = 0; i < queuePairs; i++) {
                var queuePair =
                        domain.newQueuePair(applyTo(reliable(completions)).sharedReceives(shared));
                connections.add(queuePair); // Closed with the shared receive queue.
                var send = queuePair.prepareSend(buffer.slice());
                sends.put(queuePair.number(), send.inline(size <= queuePair.inlineBytes()));
            }

            EndpointExchange.exchangeAll(
                    this,
                    connections.stream().map(PolledQueuePair::endpoint).toList(),
                    peers -> {
                        for (var i = 0; i < queuePairs; i++) {
                            connections
                                    .get(i)
                                    .connect(
                                            peers.get(i),
                                            DirectConnectOptions.DEFAULT
                                                    .pathMtu(mtu)
                                                    .serviceLevel(serviceLevel)
                                                    .maxReads(1)
                                                    .maxDestinationReads(1));
                        }
                        loop.postReceives();
                    });
            loop.run(sends);
        }
    }
}
