package org.jrdma.verbs.handle;

import java.io.InterruptedIOException;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.LinuxCalls;

/**
 * The asynchronous events of a device, read from its file descriptor, and the objects that events
 * can name.
 */
public final class AsyncEventQueue {

    private final DescriptorWaiter waiter;
    private final Map<Long, WeakReference<NativeObject>> subjects = new ConcurrentHashMap<>();

    AsyncEventQueue(int descriptor) throws FabricException {
        LinuxCalls.setNonBlocking(descriptor);
        waiter = DescriptorWaiter.on(descriptor);
    }

    void close() {
        waiter.close();
    }

    public long ticket() {
        return waiter.ticket();
    }

    /**
     * Waits until an event may have arrived since the ticket was taken.
     *
     * @return false if no event arrived before the deadline
     * @throws IllegalStateException if the device is closed
     */
    public boolean await(long ticket, Deadline deadline)
            throws FabricException, InterruptedIOException {
        return waiter.await(ticket, deadline);
    }

    /**
     * Registers an object, so that events about it can name it. It stays registered until the
     * {@link #deregistration} action runs.
     */
    public void register(NativeObject object) {
        subjects.put(object.address().address(), new WeakReference<>(object));
    }

    /**
     * Returns the action that removes the object at an address. It must run before the object is
     * destroyed.
     */
    public Runnable deregistration(long address) {
        var map = subjects; // a lifetime keeps the action, which must not refer to the handle
        return () -> map.remove(address);
    }

    /** The object at an address, if it is registered and still reachable. */
    public Optional<NativeObject> subject(long address) {
        var reference = subjects.get(address);
        return reference == null ? Optional.empty() : Optional.ofNullable(reference.get());
    }
}
