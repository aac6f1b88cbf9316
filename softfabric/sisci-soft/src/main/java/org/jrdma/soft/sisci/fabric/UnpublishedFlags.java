package org.jrdma.soft.sisci.fabric;

/**
 * The flags whose values Dolphin has not published. This library uses arbitrary values, so that
 * only programs that read them from the exported constants work.
 */
public final class UnpublishedFlags {

    /** For {@code SCISetSegmentUnavailable}: peers are disconnected. */
    public static final int FORCE_DISCONNECT = 0x0055_0000;

    /** For {@code SCISetSegmentUnavailable}: peers are notified. */
    public static final int NOTIFY = 0x00AA_0000;

    /** For {@code SCIMemCpy}: copies from the map. */
    public static final int BLOCK_READ = 0x4105_0000;

    /** For {@code SCIMemCpy}: checks the sequence afterwards. */
    public static final int ERROR_CHECK = 0x0A0A_0000;

    /** For {@code SCICheckSequence}: does not flush first. */
    public static final int NO_FLUSH = 0x0490_0000;

    /** For {@code SCICheckSequence}: executes no barrier first. */
    public static final int NO_STORE_BARRIER = 0x0A40_0000;

    /** For {@code SCICreateMapSequence}: has no effect. */
    public static final int FAST_BARRIER = 0x0330_0000;

    /** For {@code SCIFlush}: has no effect. */
    public static final int FLUSH_CPU_BUFFERS_ONLY = 0x0CC0_0000;

    private UnpublishedFlags() {}
}
