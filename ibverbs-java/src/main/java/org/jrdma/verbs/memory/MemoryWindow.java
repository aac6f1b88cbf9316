package org.jrdma.verbs.memory;

import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * A key that gives peers access to a part of a {@link MemoryRegion}, with access rights of its own.
 * Requests on a send queue bind and invalidate it: quickly, and in order with earlier requests and
 * after. The region needs {@link Access#MEMORY_WINDOW_BIND}, and {@link Access#LOCAL_WRITE} if
 * peers may write to it, but no access right for peers.
 *
 * <p>Owned by its {@link org.jrdma.verbs.ProtectionDomain}. Also closed before each region that a
 * bind of it was prepared or posted to, and before each queue pair that, by the rules of its type,
 * it can be bound to: the system could not release those otherwise. Only one thread at a time may
 * bind or invalidate a window. After a bind that failed, the window can only be closed. In C:
 * {@code struct ibv_mw}; {@link #close()} is {@code ibv_dealloc_mw}, and ends the access of peers.
 */
public abstract sealed class MemoryWindow extends NativeObject permits Type1Window, Type2Window {

    private final NativeWindow window;

    MemoryWindow(NativeWindow window) {
        super(window.address(), window.lifetime());
        this.window = window;
    }

    /**
     * The key by which peers name the window, since the last bind that was posted. Each bind
     * changes it. In C: {@code rkey}, {@code ibv_inc_rkey}.
     */
    public final int key() {
        return window.key();
    }

    /**
     * What a peer needs in order to access what the last posted bind shows, once that bind is
     * completed. A message on the same queue pair may tell the peer at once.
     *
     * @throws IllegalStateException if the window shows nothing
     */
    public final RemoteMemory remote() {
        return window.remote();
    }

    final NativeWindow nativeWindow() {
        return window;
    }
}
