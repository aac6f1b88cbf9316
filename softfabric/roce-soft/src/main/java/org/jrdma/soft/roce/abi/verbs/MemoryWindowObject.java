package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_mw;
import org.jrdma.abi.rdma.ibv_mw_bind_info;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.memory.BindRequest;
import org.jrdma.soft.roce.memory.MemoryWindow;

/** The implementation of an {@code ibv_mw}, a memory window. */
final class MemoryWindowObject extends ContextResource {

    private final ProtectionDomainObject domain;
    private final MemoryWindow window;

    MemoryWindowObject(ProtectionDomainObject domain, int type) {
        var newWindow = domain.context().port().memory().newWindow(domain.domain(), type(type));
        super(domain.context(), ibv_mw.layout());
        this.domain = domain;
        this.window = newWindow;
        ibv_mw.context(structure(), domain.context().address());
        ibv_mw.pd(structure(), domain.structure());
        ibv_mw.rkey(structure(), window.key());
        ibv_mw.type(structure(), type);
        domain.users().add();
        domain.context().own(this);
    }

    private static MemoryWindow.Type type(int type) {
        if (type == rdma_h.IBV_MW_TYPE_1()) {
            return MemoryWindow.Type.ONE;
        }
        if (type == rdma_h.IBV_MW_TYPE_2()) {
            return MemoryWindow.Type.TWO;
        }
        throw new ErrnoException(Errno.EINVAL);
    }

    static MemoryWindowObject of(long address) {
        return StructureRegistry.object(address, MemoryWindowObject.class);
    }

    MemoryWindow.Type type() {
        return window.type();
    }

    /**
     * The key that {@code ibv_bind_mw} gives the window: the current key, in which the lower 8 bits
     * are incremented as by {@code ibv_inc_rkey}.
     */
    int nextKey() {
        var present = ibv_mw.rkey(structure());
        return (present & ~0xff) | (present + 1 & 0xff);
    }

    /** Sets the rkey in the {@code ibv_mw}, where the program reads it. */
    void key(int next) {
        ibv_mw.rkey(structure(), next);
    }

    /**
     * Returns the binding of this window that a work request describes.
     *
     * @param info an {@code ibv_mw_bind_info}
     * @param nextKey the key of the window after the binding
     */
    BindRequest binding(MemorySegment info, int nextKey) {
        var region = ibv_mw_bind_info.mr(info).address();
        return new BindRequest(
                window,
                ibv_mw.rkey(structure()),
                nextKey,
                region == 0 ? null : MemoryRegionObject.of(region).region(),
                ibv_mw_bind_info.addr(info),
                ibv_mw_bind_info.length(info),
                ibv_mw_bind_info.mw_access_flags(info));
    }

    @Override
    void destroy() {
        context().port().memory().free(window);
        super.destroy();
        domain.users().remove();
    }
}
