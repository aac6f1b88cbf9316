package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_async_event;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.linkage.EventDescriptor;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Exports;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.network.Port;
import org.jspecify.annotations.Nullable;

/** The object of an {@code ibv_context} and its {@code verbs_context}: an open device. */
public final class ContextObject {

    /** The value of {@code abi_compat} that indicates a {@code verbs_context}. */
    private static final MemorySegment EXTENDED = MemorySegment.ofAddress(-1);

    private final DeviceObject device;
    private final SymbolLookup functions;
    private final EventDescriptor descriptor;
    private final Port port;
    private final MemorySegment whole;
    private final MemorySegment structure;
    private final ArrayDeque<AsyncEvent> events = new ArrayDeque<>();
    private final Set<ContextResource> owned = new LinkedHashSet<>();

    /**
     * @param address the address that the device must have; null for any
     * @param functions the functions that structures of this context point to, by the name of the
     *     member
     */
    public ContextObject(DeviceObject device, @Nullable Address address, SymbolLookup functions) {
        this.device = device;
        this.functions = functions;
        this.descriptor = ErrnoException.convert(EventDescriptor::open);
        try {
            this.port = device.open(this, address);
        } catch (ErrnoException e) {
            descriptor.close();
            throw e;
        }
        whole = Structures.allocate(verbs_context.layout(), this);
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
        return Structures.object(
                address == 0 ? 0 : address - verbs_context.context$offset(), ContextObject.class);
    }

    /** The functions that structures of this context point to, by the name of the member. */
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

    /** Queues an event. May be called while the port is driven. */
    void raise(AsyncEvent event) {
        synchronized (events) {
            if (events.isEmpty()) {
                descriptor.raise();
            }
            events.addLast(event);
        }
    }

    /** Takes the next event. Returns false if there is none. */
    boolean takeEvent(MemorySegment target) {
        synchronized (events) {
            var event = events.pollFirst();
            if (event == null) {
                return false;
            }
            if (events.isEmpty()) {
                descriptor.lower();
            }
            if (event.count() != null) {
                event.count().taken();
            }
            var element = ibv_async_event.element(target);
            if (event.count() == null) {
                ibv_async_event.element.port_num(element, (int) event.element());
            } else {
                ibv_async_event.element.qp(element, MemorySegment.ofAddress(event.element()));
            }
            ibv_async_event.event_type(target, event.type());
            return true;
        }
    }

    /** Drops the events of an object that were not taken. */
    void forgetEvents(UnacknowledgedEvents count) {
        synchronized (events) {
            if (events.removeIf(event -> event.count() == count) && events.isEmpty()) {
                descriptor.lower();
            }
        }
    }

    /**
     * Closes the device. Like the kernel at the end of a process, destroys the remaining objects,
     * newest first.
     */
    public void close() {
        List<ContextResource> left;
        synchronized (owned) {
            left = List.copyOf(owned).reversed();
        }
        left.forEach(ContextResource::destroy);
        device.close(this);
        descriptor.close();
        Structures.release(whole);
    }
}
