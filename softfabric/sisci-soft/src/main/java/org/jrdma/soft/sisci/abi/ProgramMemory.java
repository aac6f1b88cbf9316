package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.abi.sisci.sisci_h.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.sisci.fabric.SciException;

/**
 * Reads and writes memory that the program passes by address, and allocates the texts that
 * functions return to the program.
 */
final class ProgramMemory {

    private static final Map<String, MemorySegment> TEXTS = new ConcurrentHashMap<>();

    private ProgramMemory() {}

    static MemorySegment at(long address, long bytes) {
        if (address == 0) {
            throw new SciException(SCI_ERR_ILLEGAL_PARAMETER(), "A pointer is NULL.");
        }
        return Downcalls.memoryAt(MemorySegment.ofAddress(address), bytes);
    }

    static void setLong(long address, long value) {
        at(address, Long.BYTES).set(JAVA_LONG, 0, value);
    }

    static int integer(long address) {
        return at(address, Integer.BYTES).get(JAVA_INT, 0);
    }

    static void setInteger(long address, int value) {
        at(address, Integer.BYTES).set(JAVA_INT, 0, value);
    }

    /** Stores an {@code int}, unless the address is NULL. */
    static void setIfNotNull(long address, int value) {
        if (address != 0) {
            setInteger(address, value);
        }
    }

    /** Copies a text to native memory that is never freed, and returns its address. */
    static long text(String text) {
        return TEXTS.computeIfAbsent(text, Arena.global()::allocateFrom).address();
    }
}
