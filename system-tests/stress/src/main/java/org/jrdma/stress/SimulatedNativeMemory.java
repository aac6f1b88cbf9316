package org.jrdma.stress;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jrdma.ffi.Lifetime;

/**
 * Represents memory that a native call uses and that close() frees. The accesses are opaque, so
 * that the compiler does not move them, as it does not move native calls.
 */
class SimulatedNativeMemory {

    static final int ALIVE = 0;
    static final int FREED = 1;

    /** The result of a call that does not use the memory because the object is closed. */
    static final int NOT_USED = 2;

    private static final VarHandle CONTENT;

    static {
        try {
            CONTENT =
                    MethodHandles.lookup()
                            .findVarHandle(SimulatedNativeMemory.class, "content", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Lifetime lifetime =
            new Lifetime("memory", List.of(), () -> CONTENT.setOpaque(this, FREED));

    @SuppressWarnings("unused") // Accessed through CONTENT.
    private int content = ALIVE;

    int use() {
        return (int) CONTENT.getOpaque(this);
    }
}
