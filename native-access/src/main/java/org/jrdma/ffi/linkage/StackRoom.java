package org.jrdma.ffi.linkage;

/**
 * Room on the stack for what lies behind a C function that is Java itself. A stack that overflows
 * in there ends the JVM; one that overflows here is a {@link StackOverflowError} like any other.
 */
public final class StackRoom {

    /** Enough for the JDK's own deepest way: that of classes used for the first time. */
    private static final int COLD_FRAMES = 1_000;

    /** Enough for code that is compiled and has been there before. */
    private static final int HOT_FRAMES = 128;

    /** Until so many calls did something, nothing is taken to be compiled. */
    private static final int COLD_CALLS = 20_000;

    /** Whether any open library is Java. */
    private static volatile boolean needed;

    /** Several threads may lose each other's counts, which delays the end of the cold calls. */
    private static int callsThatDidSomething;

    private StackRoom() {}

    /** From now on, there is a library that may be Java. */
    static void need() {
        needed = true;
    }

    /** For a call that may use classes for the first time. */
    static void ensure() {
        if (needed) {
            descend(COLD_FRAMES, 0, 0, 0, 0, 0, 0, 0, 0);
        }
    }

    /** For a call that is made again and again, into a library that is Java. */
    public static void ensureForHotPath() {
        if (callsThatDidSomething < COLD_CALLS) {
            descend(COLD_FRAMES, 0, 0, 0, 0, 0, 0, 0, 0);
        } else {
            descend(HOT_FRAMES, 0, 0, 0, 0, 0, 0, 0, 0);
        }
    }

    /** Tells of a call on the hot path that was not for nothing, as a poll often is. */
    public static void didSomething() {
        if (callsThatDidSomething < COLD_CALLS) {
            callsThatDidSomething++;
        }
    }

    /** The numbers are needed after the return, so each frame holds them, compiled or not. */
    private static long descend(
            int frames, long a, long b, long c, long d, long e, long f, long g, long h) {
        return frames == 0
                ? 0
                : descend(frames - 1, b, c, d, e, f, g, h, frames) + a + b + c + d + e + f + g + h;
    }
}
