package org.jrdma.verbs.memory.access;

import java.util.List;
import java.util.Set;
import org.jrdma.verbs.handle.AccessInitializer;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.MemoryRegistration;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.memory.BufferPool;
import org.jrdma.verbs.memory.DeviceMemory;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.MemoryWindow;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.memory.Type1Window;
import org.jrdma.verbs.memory.Type2Window;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Gives the other packages of this module access to non-public members of {@code
 * org.jrdma.verbs.memory}.
 */
public abstract class MemoryPackageInternals {

    private static @Nullable MemoryPackageInternals registered;

    /**
     * Initializes {@link MemoryRegion} when the accessor is first used. The static initializer of
     * {@link MemoryRegion} calls {@link #open}.
     */
    private static final class Holder {
        static final MemoryPackageInternals ACCESS =
                AccessInitializer.of(MemoryRegion.class, () -> registered);
    }

    protected MemoryPackageInternals() {}

    /** Registers the implementation. Called by the static initializer of {@link MemoryRegion}. */
    public static void open(MemoryPackageInternals access) {
        registered = access;
    }

    public static MemoryPackageInternals get() {
        return Holder.ACCESS;
    }

    public abstract MemoryRegion region(MemoryRegistration registration);

    public abstract MemoryRegion region(
            DomainHandle domain, DeviceMemory memory, long offset, long length, Set<Access> access)
            throws VerbsException;

    public abstract MemoryRegistration registration(MemoryRegion region);

    public abstract void advise(
            DomainHandle domain, PageAdvice advice, boolean waits, List<MemorySlice> slices)
            throws VerbsException;

    public abstract RegisteredArena arena(
            DomainHandle domain, RegisteredArena.PageSize pages, Set<Access> access);

    public abstract BufferPool bufferPool(DomainHandle domain, long maxBytes, Set<Access> access);

    public abstract DeviceMemory deviceMemory(DeviceHandle device, long length, long alignment)
            throws VerbsException;

    public abstract DeviceMemory importDeviceMemory(DeviceHandle device, int handle, long length)
            throws VerbsException;

    public abstract Type1Window type1Window(DomainHandle domain) throws VerbsException;

    public abstract Type2Window type2Window(DomainHandle domain) throws VerbsException;

    public abstract NativeWindow window(MemoryWindow window);
}
