package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.model.VerbsException;

/** A native structure and its lifetime. The structure is destroyed when the lifetime ends. */
public record NativeResource(MemorySegment address, Lifetime lifetime) {

    /**
     * Returns the address of the structure.
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

    /**
     * Destroys a native structure. Must not refer to a handle, because a leaked object would then
     * never be reported.
     */
    @FunctionalInterface
    public interface Destroyer {
        void destroy(MemorySegment address, CheckedCall attempt) throws VerbsException;
    }

    /**
     * Starts the lifetime of a structure that was just created. The caller must hold the lifetimes
     * of the owners.
     *
     * @param name the name of the object for messages
     * @param owners the lifetimes of the owners, which close this object before themselves
     * @param function the name of the C function that destroys the structure, for messages
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
