package org.jrdma.verbs.memory;

import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * A memory window: a remote key that grants peers access to a part of a {@link MemoryRegion}, with
 * access rights of its own. The program binds and invalidates a window by requests on a send queue.
 * On an adapter, these requests need no system call. The device executes them in order with the
 * other requests of the queue. The region requires the right {@link Access#MEMORY_WINDOW_BIND} and,
 * if peers may write, {@link Access#LOCAL_WRITE}. It does not require remote access rights.
 *
 * <p>Owned by its {@link org.jrdma.verbs.ProtectionDomain}. Closing a region first closes all
 * windows for which a bind to the region was prepared or posted. Closing a queue pair likewise
 * first closes all windows of type 2 for which a bind by the queue pair was prepared or posted.
 * Otherwise, the system could not destroy the region or the queue pair. Only one thread at a time
 * may bind or invalidate a window. After a bind has failed, the program can only close the window.
 * In C: {@code struct ibv_mw}; {@link #close()} is {@code ibv_dealloc_mw} and ends the access of
 * peers.
 */
public abstract sealed class MemoryWindow extends NativeObject permits Type1Window, Type2Window {

    private final NativeWindow window;

    MemoryWindow(NativeWindow window) {
        super(window.address(), window.lifetime());
        this.window = window;
    }

    /**
     * The remote key that the last posted bind assigned to the window. Each bind changes the key.
     * In C: {@code rkey}, {@code ibv_inc_rkey}.
     */
    public final int key() {
        return window.key();
    }

    /**
     * The address, key and length that a peer needs to access the window after the last posted bind
     * has completed. The program need not wait for the completion of the bind: it can send these
     * values to the peer by a message that it posts to the same queue pair after the bind.
     *
     * @throws IllegalStateException if the window is not bound
     */
    public final RemoteMemory remote() {
        return window.remote();
    }

    final NativeWindow nativeWindow() {
        return window;
    }
}
