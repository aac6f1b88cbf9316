package org.jrdma.verbs.memory;

import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * A key that grants peers access to a part of a {@link MemoryRegion}, with its own access rights.
 * Requests on a send queue bind and invalidate the window. This is fast, and ordered with the
 * earlier and later requests of the queue. The region needs {@link Access#MEMORY_WINDOW_BIND}, and
 * {@link Access#LOCAL_WRITE} if peers may write, but no remote access rights.
 *
 * <p>Owned by its {@link org.jrdma.verbs.ProtectionDomain}. It is also closed before each region
 * for which a bind of the window was prepared or posted. A window of type 2 is also closed before
 * each queue pair for which a bind of the window was prepared or posted. Otherwise, the system
 * could not release those objects. Only one thread at a time may bind or invalidate a window. After
 * a failed bind, the window can only be closed. In C: {@code struct ibv_mw}; {@link #close()} is
 * {@code ibv_dealloc_mw} and ends the access of peers.
 */
public abstract sealed class MemoryWindow extends NativeObject permits Type1Window, Type2Window {

    private final NativeWindow window;

    MemoryWindow(NativeWindow window) {
        super(window.address(), window.lifetime());
        this.window = window;
    }

    /**
     * The key by which peers name the window, as of the last posted bind. Each bind changes it. In
     * C: {@code rkey}, {@code ibv_inc_rkey}.
     */
    public final int key() {
        return window.key();
    }

    /**
     * The memory that the last posted bind makes accessible to a peer when it completes. A message
     * posted to the same queue pair after the bind may carry this value to the peer at once.
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
