package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_mw;
import org.jrdma.abi.rdma.ibv_mw_bind_info;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.MemoryWindow;
import org.jrdma.soft.roce.engine.SendWork;

/** Behind an {@code ibv_mw}. */
final class WindowObject implements Owned {

    private final DomainObject domain;
    private final MemoryWindow window;
    private final MemorySegment structure;

    WindowObject(DomainObject domain, int type) {
        this.domain = domain;
        this.window = domain.context().port().memory().newWindow(domain.domain(), type(type));
        this.structure = Structures.allocate(ibv_mw.layout(), this);
        ibv_mw.context(structure, domain.context().address());
        ibv_mw.pd(structure, domain.structure());
        ibv_mw.rkey(structure, window.key());
        ibv_mw.type(structure, type);
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
        throw new Refusal(Errno.EINVAL);
    }

    static WindowObject of(long address) {
        return Structures.object(address, WindowObject.class);
    }

    MemorySegment structure() {
        return structure;
    }

    MemoryWindow.Type type() {
        return window.type();
    }

    /** What {@code ibv_inc_rkey} makes of the key that its owner sees. */
    int nextKey() {
        var present = ibv_mw.rkey(structure);
        return (present & ~0xff) | (present + 1 & 0xff);
    }

    /** Shows its owner another key. */
    void key(int next) {
        ibv_mw.rkey(structure, next);
    }

    /**
     * Asks for a binding.
     *
     * @param wanted an {@code ibv_mw_bind_info}
     * @param nextKey the key that it then has
     */
    void describe(SendWork work, MemorySegment wanted, int nextKey) {
        var region = ibv_mw_bind_info.mr(wanted).address();
        work.remote(ibv_mw_bind_info.addr(wanted), nextKey)
                .bind(
                        window,
                        ibv_mw.rkey(structure),
                        region == 0 ? null : RegionObject.of(region).region(),
                        ibv_mw_bind_info.length(wanted),
                        ibv_mw_bind_info.mw_access_flags(wanted));
    }

    @Override
    public void destroy() {
        domain.context().port().memory().free(window);
        domain.users().remove();
        domain.context().disown(this);
        Structures.release(structure);
    }
}
