package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * The native structure of a memory region, until it is released or passes to a re-registered one. A
 * lifetime keeps it, so it must not refer to a handle.
 */
final class NativeRegion {

    /**
     * The memory of regions that the system failed to deregister: never freed, because an adapter
     * may still write to it.
     */
    private static final Set<Object> NEVER_FREED =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    final MemoryFunctions functions;
    final MemorySegment address;
    final boolean imported;
    private final Object backing;

    /** Whether a re-registration that failed has left it unusable. */
    boolean useless;

    /** Whether it is released, or has passed on. */
    boolean over;

    /**
     * @param imported whether another process registered it, and has the memory
     * @param backing what the memory belongs to, kept until the adapter has released the memory
     */
    NativeRegion(
            MemoryFunctions functions, MemorySegment address, boolean imported, Object backing) {
        this.functions = functions;
        this.address = address;
        this.imported = imported;
        this.backing = backing;
    }

    static boolean isNeverFreed(Object backing) {
        return NEVER_FREED.contains(backing);
    }

    synchronized NativeRegion passOn(Object nextBacking) {
        over = true;
        return new NativeRegion(functions, address, imported, nextBacking);
    }

    synchronized void release(String name) throws VerbsException {
        if (over) {
            return;
        }
        over = true;
        if (imported) {
            functions.unimportRegion(address);
            return;
        }
        try {
            functions.deregister(address, Attempt.to("ibv_dereg_mr", () -> "for " + name));
        } catch (Throwable e) {
            NEVER_FREED.add(backing);
            throw e;
        }
    }
}
