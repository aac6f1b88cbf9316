package org.jrdma.soft.roce.engine;

/**
 * The send and receive queue for a queue pair that is about to be created. They are created in
 * advance, because the allocation of large queues takes long and must not block the engine. Any
 * thread may do this.
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
