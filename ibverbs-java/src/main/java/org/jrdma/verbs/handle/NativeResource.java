package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.VerbsException;

/** A native structure, and the lifetime whose end destroys it. */
public record NativeResource(MemorySegment address, Lifetime lifetime) {

    /**
     * The address of the structure.
     *
     * @throws IllegalStateException if the close of the object has begun
     */
    @Override
    public MemorySegment address() {
        if (lifetime.isClosed()) {
            throw lifetime.closedException();
        }
        return address;
    }

    /** A function that destroys a native structure. It must not refer to a handle. */
    @FunctionalInterface
    public interface Destroyer {
        void destroy(MemorySegment address, Attempt attempt) throws VerbsException;
    }

    /**
     * A structure that was just made, while its owners are held.
     *
     * @param name the name of the object in messages
     * @param function the name of the function that destroys it
     */
    public static NativeResource of(
            MemorySegment address,
            String name,
            List<Lifetime> owners,
            String function,
            Destroyer destroyer) {
        var attempt = Attempt.to(function, () -> "for " + name);
        return new NativeResource(
                address, new Lifetime(name, owners, () -> destroyer.destroy(address, attempt)));
    }
}
