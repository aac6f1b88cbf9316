package org.jrdma.verbs.memory;

import java.util.List;
import java.util.Set;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.MemoryRegistration;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.VerbsException;

/** Gives the other packages of this module access to package-private members of this package. */
final class MemoryPackageInternalsImpl extends MemoryPackageInternals {

    @Override
    public MemoryRegion region(MemoryRegistration registration) {
        return new MemoryRegion(registration);
    }

    @Override
    public MemoryRegion region(
            DomainHandle domain, DeviceMemory memory, long offset, long length, Set<Access> access)
            throws VerbsException {
        return memory.register(domain, offset, length, access);
    }

    @Override
    public MemoryRegistration registration(MemoryRegion region) {
        return region.registration();
    }

    @Override
    public void advise(
            DomainHandle domain, PageAdvice advice, boolean waits, List<MemorySlice> slices)
            throws VerbsException {
        PagePrefetcher.advise(domain, advice, waits, slices);
    }

    @Override
    public RegisteredArena arena(
            DomainHandle domain, RegisteredArena.PageSize pages, Set<Access> access) {
        return new RegisteredArena(domain, pages, access);
    }

    @Override
    public BufferPool bufferPool(DomainHandle domain, long maxBytes, Set<Access> access) {
        return new BufferPool(domain, maxBytes, access);
    }

    @Override
    public DeviceMemory deviceMemory(DeviceHandle device, long length, long alignment)
            throws VerbsException {
        return DeviceMemory.allocate(device, length, alignment);
    }

    @Override
    public DeviceMemory importDeviceMemory(DeviceHandle device, int handle, long length)
            throws VerbsException {
        return DeviceMemory.importFrom(device, handle, length);
    }

    @Override
    public Type1Window type1Window(DomainHandle domain) throws VerbsException {
        return new Type1Window(domain);
    }

    @Override
    public Type2Window type2Window(DomainHandle domain) throws VerbsException {
        return new Type2Window(domain);
    }

    @Override
    public NativeWindow window(MemoryWindow window) {
        return window.nativeWindow();
    }
}
