package org.jrdma.soft.roce.engine;

/**
 * The queues that a new queue pair is to have. Made by any thread before the engine is asked for
 * the queue pair: large ones take long.
 */
public record WorkQueues(SendQueue sends, ReceiveQueue receives) {

    public static WorkQueues of(QueuePairOptions options) {
        var shared = options.sharedReceives();
        return new WorkQueues(
                new SendQueue(options.maxSends(), options.maxSendBuffers(), options.maxInline()),
                shared != null
                        ? shared
                        : new ReceiveQueue(
                                options.domain(),
                                options.maxReceives(),
                                options.maxReceiveBuffers(),
                                () -> {}));
    }
}
