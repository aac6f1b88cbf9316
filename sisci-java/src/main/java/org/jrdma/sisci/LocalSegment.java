package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.Constant;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.QueryStructure;
import org.jrdma.sisci.internal.RemovalRetry;
import org.jrdma.sisci.internal.SegmentFunctions;
import org.jrdma.sisci.internal.SisciFunctions;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of this node that peers can be given.
 *
 * <p>It is prepared for an adapter, then made available there; {@link #offer()} does both. Owned by
 * its {@link Node}; safe for use by several threads. Closing it closes its maps, takes it back from
 * peers and waits, as {@link SisciObject} says, for those that are connected. Closing one that
 * another process {@linkplain #share shares} leaves it to that. In C: {@code sci_local_segment_t};
 * {@link #close()} is {@code SCISetSegmentUnavailable}, {@code SCIRemoveSegment}.
 */
public final class LocalSegment extends SisciObject {

    private static final Logger LOG = LoggerFactory.getLogger(LocalSegment.class);

    private final int id;
    private final long bytes;
    private final boolean isAttached;
    private final State state;

    private LocalSegment(ObjectHandle handle, int id, long bytes, boolean isAttached, State state) {
        super(handle);
        this.id = id;
        this.bytes = bytes;
        this.isAttached = isAttached;
        this.state = state;
    }

    /**
     * The state that close needs. Separate from the segment, so that a leaked one can be detected.
     */
    private static final class State {

        final RemovalRetry retry;
        final Set<Integer> availableOn = new CopyOnWriteArraySet<>();
        final EventQueue<SegmentEvent> events;

        /** Memory of the caller: reachable as long as peers may store into it. */
        private final @Nullable MemorySegment memory;

        State(String name, NodeHandle node, @Nullable MemorySegment memory) {
            this.retry = new RemovalRetry(node.deferred());
            this.memory = memory;
            this.events = new EventQueue<>(name);
        }

        /** All processes that have the segment decide whether it stays available. */
        void remove(SisciFunctions functions, MemorySegment handle, String name)
                throws SisciException {
            var segments = functions.segments();
            var deadline = retry.start();
            for (var adapter : availableOn) {
                try {
                    RemovalRetry.retry(
                            deadline, () -> segments.setUnavailable(handle, adapter, 0, name));
                } catch (SisciException e) {
                    LOG.debug("{} is removed while available: {}", name, e.getMessage());
                }
            }
            var force = functions.library().number(Constant.SCI_FLAG_FORCE_REMOVE);
            retry.remove(
                    deadline,
                    () -> segments.remove(handle, 0, name),
                    () -> {
                        try {
                            segments.remove(handle, force, name + ", by force");
                        } finally {
                            Reference.reachabilityFence(memory);
                        }
                    });
        }
    }

    /** Creates a segment. The node must be held. */
    static LocalSegment create(NodeHandle node, SegmentOptions options) throws SisciException {
        var library = node.functions().library();
        var functions = node.functions().segments();
        var wanted =
                String.format(
                        Locale.ROOT, "segment %d of %,d bytes", options.id(), options.bytes());
        var flags = library.bits(options.flags());
        var memory = options.foreignMemory().orElse(null);
        var state = new State(wanted, node, memory);
        var segment =
                Callbacks.<SegmentEvent, LocalSegment>create(
                        options.hasPeers() ? state.events::put : null,
                        listener -> {
                            var handle =
                                    functions.create(
                                            node.address(),
                                            options.id(),
                                            options.bytes(),
                                            listener,
                                            flags,
                                            wanted);
                            var id = options.hasFreeId() ? functions.id(handle) : options.id();
                            return of(node, handle, id, options.bytes(), false, listener, state);
                        });
        if (memory != null) {
            try {
                functions.register(segment.address(), memory, wanted);
            } catch (SisciException | RuntimeException e) {
                segment.close();
                throw e;
            }
        }
        return segment;
    }

    /** Attaches to a segment of another process. The node must be held. */
    static LocalSegment attach(NodeHandle node, int id) throws SisciException {
        var name = "shared segment " + id;
        var state = new State(name, node, null);
        return Callbacks.create(
                state.events::put,
                listener -> {
                    var attached =
                            node.functions().segments().attach(node.address(), id, listener, name);
                    return of(node, attached.handle(), id, attached.bytes(), true, listener, state);
                });
    }

    private static LocalSegment of(
            NodeHandle node,
            MemorySegment handle,
            int id,
            long bytes,
            boolean isAttached,
            long listener,
            State state) {
        var name = "segment %d of %s".formatted(id, node);
        state.events.name(name);
        var functions = node.functions();
        var lifetime =
                new Lifetime(
                        name,
                        List.of(node.lifetime()),
                        () -> {
                            try {
                                state.remove(functions, handle, name);
                            } finally {
                                Callbacks.forget(listener);
                            }
                        });
        lifetime.onClose(state.events::close);
        return new LocalSegment(
                new ObjectHandle(node, handle, lifetime, state.retry),
                id,
                bytes,
                isAttached,
                state);
    }

    /** The number by which peers know it. In C: {@code SCIGetLocalSegmentId}. */
    public int id() {
        return id;
    }

    /** Its size. In C: {@code SCIGetLocalSegmentSize}. */
    public long byteSize() {
        return bytes;
    }

    /** Prepares it and makes it available, on the adapter of its node. */
    public void offer() throws SisciException {
        prepare();
        makeAvailable();
    }

    /** Prepares it for the adapter of its node: peers can be let in, and DMA can be done. */
    public void prepare() throws SisciException {
        prepare(node().adapter());
    }

    /** Prepares it for an adapter. In C: {@code SCIPrepareSegment}. */
    public void prepare(int adapter) throws SisciException {
        whileOpen(() -> segments().prepare(address(), adapter, 0, this));
    }

    /** Prepares it for an adapter, for nothing but to be read by DMA. */
    public void prepareAsDmaSource(int adapter) throws SisciException {
        var flags = functions().library().number(Constant.SCI_FLAG_DMA_SOURCE_ONLY);
        whileOpen(() -> segments().prepare(address(), adapter, flags, this));
    }

    /** Lets peers connect, by the adapter of its node. */
    public void makeAvailable() throws SisciException {
        makeAvailable(node().adapter());
    }

    /** Lets peers connect by an adapter. In C: {@code SCISetSegmentAvailable}. */
    public void makeAvailable(int adapter) throws SisciException {
        whileOpen(() -> {
            segments().setAvailable(address(), adapter, this);
            if (!isAttached) {
                state.availableOn.add(adapter);
            }
        });
    }

    /** What {@link #makeUnavailable(int, Parting...)} does to those who are connected. */
    public enum Parting {
        /** Their connections end. */
        FORCE_DISCONNECT(Constant.SCI_FLAG_FORCE_DISCONNECT),
        /** They are asked to disconnect. */
        NOTIFY(Constant.SCI_FLAG_NOTIFY);

        private final Constant constant;

        Parting(Constant constant) {
            this.constant = constant;
        }
    }

    /** Lets no more peers connect, by the adapter of its node; those who are connected stay so. */
    public void makeUnavailable() throws SisciException {
        makeUnavailable(node().adapter());
    }

    /**
     * Lets no more peers connect by an adapter. In C: {@code SCISetSegmentUnavailable}.
     *
     * @throws SisciException if it is not available there, or BUSY
     * @throws UnsupportedOperationException if the library does not tell a flag's number, which is
     *     not public
     */
    public void makeUnavailable(int adapter, Parting... partings) throws SisciException {
        var flags =
                functions().library().bits(Stream.of(partings).map(parting -> parting.constant));
        whileOpen(() -> {
            segments().setUnavailable(address(), adapter, flags, this);
            state.availableOn.remove(adapter);
        });
    }

    /**
     * Makes a place of this segment an interrupt, which a peer's store sets off. In C: {@code
     * SCIRegisterInterruptFlag}.
     *
     * @param offset where, a multiple of 4
     * @param conditional whether stores are counted, and only the first interrupts
     * @throws SisciException if the driver does not do that, as is likely today
     * @throws UnsupportedOperationException if the library does not have the function
     */
    public InterruptFlag newInterruptFlag(long offset, boolean conditional) throws SisciException {
        var _ = Objects.checkFromIndexSize(offset, Integer.BYTES, bytes);
        return inCall(() -> InterruptFlag.register(handle(), offset, conditional));
    }

    /**
     * Lets other processes of this node attach, by {@link Node#attach}. In C: {@code
     * SCIShareSegment}.
     */
    public void share() throws SisciException {
        whileOpen(() -> segments().share(address(), this));
    }

    /**
     * Gives an empty segment memory of a bus, for which the caller answers. Needs privileges. In C:
     * {@code SCIAttachPhysicalMemory}.
     */
    public void attachForeignPhysicalMemory(long ioAddress) throws SisciException {
        var flags = functions().library().number(Constant.SCI_FLAG_PHYSICAL);
        attachPhysical(ioAddress, 0, flags);
    }

    /**
     * Gives an empty segment memory of a GPU, for which the caller answers.
     *
     * @param devicePointer as CUDA gave it, at a multiple of 64 KiB
     */
    public void attachForeignDeviceMemory(long devicePointer) throws SisciException {
        var flags = functions().library().number(Constant.SCI_FLAG_CUDA_BUFFER);
        attachPhysical(0, devicePointer, flags);
    }

    private void attachPhysical(long ioAddress, long address, int flags) throws SisciException {
        whileOpen(
                () -> segments().attachPhysical(address(), ioAddress, address, bytes, flags, this));
    }

    /** Maps it whole. */
    public LocalMap map() throws SisciException {
        return map(MapOptions.WHOLE);
    }

    /** Maps it, or a part. In C: {@code SCIMapLocalSegment}. */
    public LocalMap map(MapOptions options) throws SisciException {
        return inCall(() -> new LocalMap(SegmentMap.Mapping.of(false, handle(), bytes, options)));
    }

    /** Its address on the I/O bus. In C: {@code SCI_Q_LOCAL_SEGMENT_IOADDR}. */
    public long ioAddress() throws SisciException {
        return inCall(() ->
                functions()
                        .nodes()
                        .query(
                                sisci_query.SCI_Q_LOCAL_SEGMENT,
                                sisci_query.SCI_Q_LOCAL_SEGMENT_IOADDR,
                                address(),
                                QueryStructure.LOCAL_SEGMENT,
                                this));
    }

    /**
     * Waits for something to happen to it. Each event goes to one caller, or to one listener.
     *
     * @throws FabricTimeoutException if nothing happened in time
     * @throws FabricException once for events that were lost because nobody took them; the next
     *     call goes on with those that came after
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if it is closed, before or meanwhile
     */
    public SegmentEvent nextEvent(Duration timeout) throws FabricException, InterruptedIOException {
        return state.events.take(Deadline.after(timeout), "No event of " + this);
    }

    /**
     * Calls {@code listener} for each event from now until the segment is closed, one after the
     * other, on a virtual thread of its own. It may close the segment; where another thread does, a
     * call that has begun goes on. What it throws is logged.
     */
    public void onEvent(Consumer<SegmentEvent> listener) {
        state.events.listen(listener);
    }

    /** As {@link #onEvent(Consumer)}, for as long as {@code listening} is reachable elsewhere. */
    <T> void onEvent(T listening, BiConsumer<T, SegmentEvent> listener) {
        var reference = new WeakReference<>(listening); // so that a leaked one can be detected
        onEvent(event -> {
            var remembered = reference.get();
            if (remembered != null) {
                listener.accept(remembered, event);
            }
        });
    }

    private SegmentFunctions segments() {
        return functions().segments();
    }
}
