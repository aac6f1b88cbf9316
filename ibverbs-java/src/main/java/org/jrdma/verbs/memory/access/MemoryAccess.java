package org.jrdma.verbs.memory.access;

import java.util.Set;
import org.jrdma.verbs.handle.AccessInitializer;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.handle.Registration;
import org.jrdma.verbs.memory.DeviceMemory;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemoryWindow;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.memory.Type1Window;
import org.jrdma.verbs.memory.Type2Window;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Gives the other packages of this module access to non-public members of {@code
 * org.jrdma.verbs.memory}.
 */
public abstract class MemoryAccess {

    private static @Nullable MemoryAccess opened;

    /** Initialized on first use, which initializes the class that registers the accessor. */
    private static final class Loaded {
        static final MemoryAccess ACCESS = AccessInitializer.of(MemoryRegion.class, () -> opened);
    }

    protected MemoryAccess() {}

    /** Registers the accessor. Called when {@link MemoryRegion} is initialized. */
    public static void open(MemoryAccess access) {
        opened = access;
    }

    public static MemoryAccess get() {
        return Loaded.ACCESS;
    }

    public abstract MemoryRegion region(Registration registration);

    public abstract MemoryRegion region(
            DomainHandle domain, DeviceMemory memory, long offset, long length, Set<Access> access)
            throws VerbsException;

    public abstract Registration registration(MemoryRegion region);

    public abstract RegisteredArena arena(
            DomainHandle domain, RegisteredArena.PageSize pages, Set<Access> access);

    public abstract DeviceMemory deviceMemory(DeviceHandle device, long length, long alignment)
            throws VerbsException;

    public abstract DeviceMemory importDeviceMemory(DeviceHandle device, int handle, long length)
            throws VerbsException;

    public abstract Type1Window type1Window(DomainHandle domain) throws VerbsException;

    public abstract Type2Window type2Window(DomainHandle domain) throws VerbsException;

    public abstract NativeWindow window(MemoryWindow window);
}
