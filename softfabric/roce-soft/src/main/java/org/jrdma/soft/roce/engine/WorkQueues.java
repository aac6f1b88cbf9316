package org.jrdma.soft.roce.engine;

/**
 * The work queues for a queue pair that is about to be created. Any thread may create the work
 * queues in advance, because large queues take long to allocate and the engine must not be blocked
 * meanwhile.
 */
public record WorkQueues(SendQueue sends, ReceiveQueue receives) {

    /**
     * Creates work queues with the sizes in {@code options}, using the shared receive queue if
     * there is one.
     */
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
