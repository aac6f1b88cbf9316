package org.jrdma.verbs.cm;

/**
 * How much an {@link RdmaChannel} has room for. Built by its own methods. The two sides may differ.
 */
public final class RdmaChannelOptions {

    private int messageBytes = 4096;
    private int window = 64;
    private int operations = 16;

    /** As by default. */
    public RdmaChannelOptions() {
        // every member has its value
    }

    /** The longest message that either side can send, as far as the peer says no less; 4096. */
    public RdmaChannelOptions messageBytes(int bytes) {
        messageBytes = atLeastOne(bytes, "message bytes");
        return this;
    }

    /**
     * How many messages of the peer's can be here before the first is handled, and how many of this
     * side's can be under way; 64. Each takes up registered memory as long as the longest message.
     */
    public RdmaChannelOptions window(int messages) {
        window = atLeastOne(messages, "messages");
        return this;
    }

    /** How many reads and writes can be under way; 16. */
    public RdmaChannelOptions operations(int count) {
        operations = atLeastOne(count, "operations");
        return this;
    }

    int messageBytes() {
        return messageBytes;
    }

    int window() {
        return window;
    }

    int operations() {
        return operations;
    }

    private static int atLeastOne(int value, String what) {
        if (value < 1) {
            throw new IllegalArgumentException("%s: %d".formatted(what, value));
        }
        return value;
    }
}
