package org.jrdma.nvme.soft;

/** The progress of a command. A command that takes long is executed in several parts. */
final class ResumableCommandProgress {

    private long done;
    private boolean suspended;

    /** Begins a new command. */
    void start() {
        done = 0;
        suspended = false;
    }

    /** Returns how much of the command earlier parts have executed. */
    long done() {
        return done;
    }

    /** Ends the current part of the command. Another part must follow. */
    void suspend(long newDone) {
        done = newDone;
        suspended = true;
    }

    /** Begins the next part of the command. */
    void resume() {
        suspended = false;
    }

    /** Returns true if the command needs another part. */
    boolean isSuspended() {
        return suspended;
    }
}
