package org.jrdma.soft.roce.engine;

/** The work requests of a queue pair. Posted to by one thread at a time, whichever. */
public final class SendQueue extends WorkRing<SendWork> {

    SendQueue(int capacity, int maxBuffers, int maxInline) {
        super(capacity, () -> new SendWork(maxBuffers, maxInline));
    }
}
