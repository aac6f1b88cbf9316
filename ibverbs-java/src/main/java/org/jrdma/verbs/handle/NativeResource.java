package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.model.VerbsException;

/** A native structure and the lifetime that destroys it. */
public record NativeResource(MemorySegment address, Lifetime lifetime) {

    /**
     * The address of the structure.
     *
     * @throws IllegalStateException if the object is closed or being closed
     */
    @Override
    public MemorySegment address() {
        if (lifetime.isClosed()) {
            throw lifetime.closedException();
        }
        return address;
    }

    /** Destroys a native structure. Must not refer to a handle. */
    @FunctionalInterface
    public interface Destroyer {
        void destroy(MemorySegment address, CheckedCall attempt) throws VerbsException;
    }

    /**
     * Wraps a structure that was just created. The caller guards the owners' lifetimes.
     *
     * @param name the name of the object for messages
     * @param function the name of the function that destroys the structure
     */
    public static NativeResource of(
            MemorySegment address,
            String name,
            List<Lifetime> owners,
            String function,
            Destroyer destroyer) {
        var attempt = CheckedCall.to(function, () -> "for " + name);
        return new NativeResource(
                address, new Lifetime(name, owners, () -> destroyer.destroy(address, attempt)));
    }
}
