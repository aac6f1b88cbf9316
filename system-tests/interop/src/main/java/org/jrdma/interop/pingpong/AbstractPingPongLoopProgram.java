package org.jrdma.interop.pingpong;

import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import picocli.CommandLine.Option;

/** The options of the ping-pongs that run a {@link PingPongLoop}. */
abstract class AbstractPingPongLoopProgram extends PingPongProgram {

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "COUNT",
            description = "number of receives to post ahead (${DEFAULT-VALUE})")
    int receives = 500;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "COUNT",
            description = "number of messages of each side (${DEFAULT-VALUE})")
    int iterations = 1000;

    @Option(
            names = {"-c", "--chk"},
            description = "check the data that arrives at the server")
    boolean check;

    @Override
    void checkOptions() {
        super.checkOptions();
        checkRange("-r", receives, 1, 1 << 20);
        checkRange("-n", iterations, 1, Integer.MAX_VALUE);
    }

    /** Returns true if lost messages are retransmitted. */
    boolean isReliable() {
        return true;
    }

    /**
     * Returns the options of a completion queue for all receives and for one send of each queue
     * pair.
     */
    final CompletionQueueOptions completionQueue(int queuePairs) {
        var completions = CompletionQueueOptions.capacity(receives + queuePairs);
        return events ? completions.waitable() : completions;
    }

    /** Adds the depths of the queues, the port and the address to the options of a queue pair. */
    final <Q extends QueuePair> QueuePairOptions<Q> applyTo(QueuePairOptions<Q> queuePair) {
        return deviceOptions.applyTo(queuePair.sends(1).receives(receives));
    }
}
