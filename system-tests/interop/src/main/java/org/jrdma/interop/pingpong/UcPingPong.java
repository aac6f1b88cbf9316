package org.jrdma.interop.pingpong;

import static org.jrdma.verbs.QueuePairOptions.unreliable;

import java.io.IOException;
import java.util.Map;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * Sends a message back and forth over an unreliable connection. Either side can be {@code
 * ibv_uc_pingpong} of rdma-core. If a message is lost, the program fails, because the message is
 * not retransmitted.
 */
@Command(
        name = "uc-pingpong",
        description = "Measures a message without retries, as ibv_uc_pingpong")
public final class UcPingPong extends AbstractPingPongLoopProgram {

    static void main(String... arguments) {
        new UcPingPong().execute(arguments);
    }

    @Override
    protected CommandLine commandLine() {
        return without(super.commandLine(), "--odp");
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
                var queuePair = domain.newQueuePair(applyTo(unreliable(completions)))) {

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
                                        .serviceLevel(serviceLevel));
                        loop.postReceives();
                    });
            loop.run(Map.of(queuePair.number(), send));
        }
    }
}
