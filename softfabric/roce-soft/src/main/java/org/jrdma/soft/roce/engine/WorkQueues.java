package org.jrdma.soft.roce.engine;

/**
 * The work queues of a new queue pair. Any thread may create them before the engine creates the
 * queue pair, because large queues take long to allocate.
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
