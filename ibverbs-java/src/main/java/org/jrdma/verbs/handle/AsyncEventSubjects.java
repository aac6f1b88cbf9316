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
 * Waits for the asynchronous events of a device, and finds the API objects that the events concern.
 */
public final class AsyncEventSubjects {

    private final DescriptorWaiter waiter;
    private final Map<Long, WeakReference<NativeObject>> subjects = new ConcurrentHashMap<>();

    AsyncEventSubjects(int descriptor) throws FabricException {
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
     * Waits until an event may have arrived after the ticket was taken.
     *
     * @param ticket the result of an earlier {@link #ticket()}
     * @return false if no event arrived before the deadline
     * @throws IllegalStateException if the device is closed
     */
    public boolean await(long ticket, Deadline deadline)
            throws FabricException, InterruptedIOException {
        return waiter.await(ticket, deadline);
    }

    /**
     * Registers an object by its native address, so that {@link #subject} finds it. It stays
     * registered until the {@link #deregistration} action runs.
     */
    public void register(NativeObject object) {
        subjects.put(object.address().address(), new WeakReference<>(object));
    }

    /**
     * Returns the action that deregisters the object at an address. It must run before the native
     * object is destroyed, because a new object could otherwise get the same address.
     */
    public Runnable deregistration(long address) {
        // A lifetime refers to the action, so the action must not refer to a handle.
        var map = subjects;
        return () -> map.remove(address);
    }

    /**
     * Returns the object at a native address. Empty if no object is registered there or the object
     * is no longer reachable.
     */
    public Optional<NativeObject> subject(long address) {
        var reference = subjects.get(address);
        return reference == null ? Optional.empty() : Optional.ofNullable(reference.get());
    }
}
