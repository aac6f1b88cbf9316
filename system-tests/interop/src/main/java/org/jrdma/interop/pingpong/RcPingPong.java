package org.jrdma.interop.pingpong;

import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.io.IOException;
import java.util.Map;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import picocli.CommandLine.Command;

/**
 * Sends a message back and forth between two processes over a reliable connection. Either side can
 * be {@code ibv_rc_pingpong} of rdma-core: the options, the exchange over TCP, and the output are
 * the same.
 */
@Command(
        name = "rc-pingpong",
        description = "Measures a message back and forth, as ibv_rc_pingpong",
        footer = "The options -O, -P, -t, -j, -N and -U of the C program are not supported.")
public final class RcPingPong extends AbstractPingPongLoopProgram {

    static void main(String... arguments) {
        new RcPingPong().execute(arguments);
    }

    @Override
    void play(Device device) throws IOException {
        try (var domain = device.newProtectionDomain();
                var memory = domain.newArena(access());
                var completions = device.newCompletionQueue(completionQueue(1));
                var cursor = completions.newCursor(2);
                var queuePair = domain.newQueuePair(applyTo(reliable(completions)))) {

            // Sends and receives share a buffer, because only -c checks its contents.
            var buffer = memory.region(size);
            var send = queuePair.prepareSend(buffer.slice());
            send.inline(size <= queuePair.inlineBytes());
            var receive = queuePair.prepareReceive(buffer.slice());
            var loop = new PingPongLoop(this, cursor, receive, buffer.segment());

            EndpointExchange.exchange(
                    this,
                    queuePair.endpoint(),
                    peer -> {
                        queuePair.connect(
                                peer,
                                DirectConnectOptions.DEFAULT
                                        .pathMtu(mtu)
                                        .serviceLevel(serviceLevel)
                                        .maxReads(1)
                                        .maxDestinationReads(1));
                        loop.postReceives();
                    });
            loop.run(Map.of(queuePair.number(), send));
        }
    }
}
