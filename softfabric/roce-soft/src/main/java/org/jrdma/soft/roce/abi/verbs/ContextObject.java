package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_async_event;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Exports;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.network.Port;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of an {@code ibv_context}, an open device, and of the {@code verbs_context}
 * structure around it. Safe for use by multiple threads.
 */
public final class ContextObject {

    /**
     * The value of the member {@code abi_compat} that indicates that the {@code ibv_context} is
     * part of a {@code verbs_context}.
     */
    private static final MemorySegment EXTENDED = MemorySegment.ofAddress(-1);

    private final DeviceObject device;
    private final SymbolLookup functions;
    private final RaisableDescriptor descriptor;
    private final Port port;

    /** The {@code verbs_context}. */
    private final MemorySegment whole;

    /** The {@code ibv_context}, which is a part of {@link #whole}. */
    private final MemorySegment structure;

    /** The asynchronous events that the program has not received. */
    private final ArrayQueue<AsyncEvent> events = new ArrayQueue<>();

    /**
     * The objects that were created in this context and not destroyed, in the order of their
     * creation.
     */
    private final Set<ContextResource> owned = new LinkedHashSet<>();

    /**
     * Opens a device.
     *
     * @param address the address that the device must have; null for any address
     * @param functions the functions for the function pointers in the structures of this context,
     *     by the name of the structure member
     */
    public ContextObject(DeviceObject device, @Nullable RoceGid address, SymbolLookup functions) {
        this.device = device;
        this.functions = functions;
        this.descriptor = ErrnoException.convert(RaisableDescriptor::open);
        try {
            this.port = device.open(this, address);
            try {
                whole = StructureRegistry.allocate(verbs_context.layout(), this);
            } catch (Throwable e) {
                device.close(this);
                throw e;
            }
        } catch (Throwable e) {
            descriptor.close();
            throw e;
        }
        verbs_context.sz(whole, whole.byteSize());
        Exports.install(functions, whole, verbs_context.layout());
        structure = verbs_context.context(whole);
        ibv_context.device(structure, device.structure());
        ibv_context.cmd_fd(structure, -1);
        ibv_context.async_fd(structure, descriptor.number());
        ibv_context.num_comp_vectors(structure, 1);
        ibv_context.abi_compat(structure, EXTENDED);
        Exports.install(functions, ibv_context.ops(structure), ibv_context_ops.layout());
    }

    public static ContextObject of(long address) {
        return StructureRegistry.object(
                address == 0 ? 0 : address - verbs_context.context$offset(), ContextObject.class);
    }

    /**
     * The functions for the function pointers in the structures of this context, by the name of the
     * structure member.
     */
    SymbolLookup functions() {
        return functions;
    }

    DeviceObject device() {
        return device;
    }

    public Port port() {
        return port;
    }

    /** The {@code ibv_context}. */
    public MemorySegment address() {
        return structure;
    }

    void own(ContextResource object) {
        synchronized (owned) {
            owned.add(object);
        }
    }

    void disown(ContextResource object) {
        synchronized (owned) {
            owned.remove(object);
        }
    }

    /**
     * Adds an asynchronous event, which the program receives later. The caller may hold the port's
     * lock.
     */
    void raise(AsyncEvent event) {
        synchronized (events) {
            var first = events.isEmpty();
            events.addLast(event); // First, because this allocation may throw OutOfMemoryError.
            if (first) {
                descriptor.raise();
            }
        }
    }

    /**
     * Removes the oldest asynchronous event and stores it in an {@code ibv_async_event}. Returns
     * false if there is no event.
     */
    boolean takeEvent(MemorySegment target) {
        synchronized (events) {
            var event = events.peekFirst();
            if (event == null) {
                return false;
            }
            var element = ibv_async_event.element(target);
            if (event.count() == null) {
                ibv_async_event.element.port_num(element, (int) event.element());
            } else {
                ibv_async_event.element.qp(element, MemorySegment.ofAddress(event.element()));
            }
            ibv_async_event.event_type(target, event.type());
            // The event is removed last, so that it is not lost if there is too little memory.
            var _ = events.removeFirst();
            if (events.isEmpty()) {
                descriptor.lower();
            }
            if (event.count() != null) {
                event.count().taken();
            }
            return true;
        }
    }

    /**
     * Removes all asynchronous events about an object that the program has not received.
     *
     * @param count the counter of unacknowledged events that identifies the object
     */
    void forgetEvents(UnacknowledgedEvents count) {
        synchronized (events) {
            if (events.removeIf(event -> event.count() == count) && events.isEmpty()) {
                descriptor.lower();
            }
        }
    }

    /**
     * Closes the device. Objects that the program has not destroyed are destroyed in the reverse
     * order of their creation, as the kernel does when a process ends.
     */
    public void close() {
        List<ContextResource> left;
        synchronized (owned) {
            left = List.copyOf(owned).reversed();
        }
        left.forEach(ContextResource::destroy);
        device.close(this);
        descriptor.close();
        StructureRegistry.release(whole);
    }
}
