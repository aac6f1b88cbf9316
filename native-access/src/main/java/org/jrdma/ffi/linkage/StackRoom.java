package org.jrdma.ffi.linkage;

/**
 * Room on the stack for what lies behind a C function that is Java itself. A stack that overflows
 * in there ends the JVM; one that overflows here is a {@link StackOverflowError} like any other.
 */
public final class StackRoom {

    /** The JDK's own deepest way is that of a class's first use. */
    private static final int COLD_FRAMES = 1_000;

    private static final int HOT_FRAMES = 100;

    /** Whether any open library is Java. */
    private static volatile boolean needed;

    private StackRoom() {}

    /** From now on, there is a library that may be Java. */
    static void need() {
        needed = true;
    }

    /** For a call that may use classes for the first time. */
    static void ensure() {
        if (needed) {
            descend(COLD_FRAMES);
        }
    }

    /** For a call that is made again and again, into a library that is Java. */
    public static void ensureForHotPath() {
        descend(HOT_FRAMES);
    }

    private static int descend(int frames) {
        return frames == 0 ? 0 : 1 + descend(frames - 1);
    }
}
