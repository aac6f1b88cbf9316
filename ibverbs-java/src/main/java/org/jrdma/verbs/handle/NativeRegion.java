package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * The {@code ibv_mr} of a memory region, with the obligation to deregister it. A successful
 * re-registration transfers both to a new object. A lifetime refers to this object, so this object
 * must not refer to a handle.
 */
final class NativeRegion {

    /**
     * The owners of the memory of regions that the system failed to deregister. Their memory is
     * never freed, because an adapter may still write to it.
     */
    private static final Set<Object> NEVER_FREED =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    final MemoryFunctions functions;
    final MemorySegment address;
    final boolean imported;
    private final Object backing;

    /** True if a failed {@code ibv_rereg_mr} has made the region unusable. */
    boolean unusable;

    /** True once the region is deregistered or transferred to another object. */
    boolean released;

    /**
     * Creates the owner of a native region.
     *
     * @param imported true if another process registered the region and owns the memory
     * @param backing the object that owns the memory, kept reachable until the adapter no longer
     *     accesses the memory
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

    synchronized NativeRegion transfer(Object nextBacking) {
        released = true;
        if (nextBacking != backing) {
            unmap();
        }
        return new NativeRegion(functions, address, imported, nextBacking);
    }

    synchronized void release(String name) throws VerbsException {
        if (released) {
            return;
        }
        released = true;
        if (imported) {
            functions.unimportRegion(address);
            return;
        }
        try {
            functions.deregister(address, CheckedCall.to("ibv_dereg_mr", () -> "for " + name));
        } catch (Throwable e) {
            NEVER_FREED.add(backing);
            throw e;
        }
        unmap();
    }

    private void unmap() {
        if (backing instanceof MappedFile file) {
            file.unmap();
        }
    }
}
