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
import org.jrdma.ffi.linkage.Linux;

/**
 * The asynchronous events of a device, read from its descriptor, and the objects that they name.
 */
public final class AsyncEventQueue {

    private final DescriptorWaiter waiter;
    private final Map<Long, WeakReference<NativeObject>> subjects = new ConcurrentHashMap<>();

    AsyncEventQueue(int descriptor) throws FabricException {
        Linux.setNonBlocking(descriptor);
        waiter = DescriptorWaiter.on(descriptor);
    }

    /** Ends all waits. */
    void close() {
        waiter.close();
    }

    public long ticket() {
        return waiter.ticket();
    }

    /**
     * Waits until there may be an event that came after the ticket was taken.
     *
     * @return false if there was none in time
     * @throws IllegalStateException if the device is closed
     */
    public boolean await(long ticket, Deadline deadline)
            throws FabricException, InterruptedIOException {
        return waiter.await(ticket, deadline);
    }

    /** Lets events about an object name it, until {@link #forgetting} is run. */
    public void announce(NativeObject object) {
        subjects.put(object.address().address(), new WeakReference<>(object));
    }

    /** The action to be run before the object at an address is destroyed. */
    public Runnable forgetting(long address) {
        var known = subjects; // the action is kept by a lifetime, and must not refer to the handle
        return () -> known.remove(address);
    }

    /** The object at an address, if it was announced and is still in use. */
    public Optional<NativeObject> subject(long address) {
        var known = subjects.get(address);
        return known == null ? Optional.empty() : Optional.ofNullable(known.get());
    }
}
