package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
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
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.QueryStructure;
import org.jrdma.sisci.internal.RemovalRetry;
import org.jrdma.sisci.internal.SegmentFunctions;
import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.internal.SisciFunctionGroups;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A segment of this node: memory to which peers can connect.
 *
 * <p>A segment is first prepared for an adapter and then made available on it; {@link #offer()}
 * does both. Closing a segment closes its maps, makes it unavailable and waits for connected peers,
 * as described in {@link SisciObject}. Closing an {@linkplain Node#attach attached} segment only
 * detaches this process: the segment remains with the process that created it.
 *
 * <p>Owned by its {@link Node}; safe for use by multiple threads. In C: {@code
 * sci_local_segment_t}; {@link #close()} is {@code SCISetSegmentUnavailable} and {@code
 * SCIRemoveSegment}.
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
     * The part of the segment's state that the destructor uses. It does not refer to the segment
     * itself, so that a leaked segment can be detected.
     */
    private static final class State {

        final RemovalRetry retry;
        final Set<Integer> availableOn = new CopyOnWriteArraySet<>();
        final EventQueue<SegmentEvent> events;

        /**
         * The program's memory that the segment consists of; null if the library has allocated the
         * memory. This reference keeps the memory reachable while peers may store into it.
         */
        private final @Nullable MemorySegment memory;

        State(String name, NodeHandle node, @Nullable MemorySegment memory) {
            this.retry = new RemovalRetry(node.deferred());
            this.memory = memory;
            this.events = new EventQueue<>(name);
        }

        /**
         * Makes the segment unavailable and removes it. An attached segment is not made
         * unavailable, because {@code availableOn} contains only the adapters on which this process
         * made its own segment available.
         */
        void remove(SisciFunctionGroups functions, MemorySegment handle, String name)
                throws SisciException {
            var segments = functions.segments();
            var deadline = retry.start();
            for (var adapter : availableOn) {
                try {
                    RemovalRetry.retry(
                            deadline, () -> segments.setUnavailable(handle, adapter, 0, name));
                } catch (SisciException e) {
                    LOG.debug(
                            "Removing {} although it is still available: {}", name, e.getMessage());
                }
            }
            var force = functions.library().number(SisciConstant.SCI_FLAG_FORCE_REMOVE);
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

    /**
     * Creates a segment. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the lifetime
     * of the node.
     */
    static LocalSegment create(NodeHandle node, SegmentOptions options) throws SisciException {
        var library = node.functions().library();
        var functions = node.functions().segments();
        var subject =
                String.format(
                        Locale.ROOT, "segment %d of %,d bytes", options.id(), options.bytes());
        var flags = library.bits(options.flags());
        var memory = options.foreignMemory().orElse(null);
        var state = new State(subject, node, memory);
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
                                            subject);
                            var id = options.hasFreeId() ? functions.id(handle) : options.id();
                            return of(node, handle, id, options.bytes(), false, listener, state);
                        });
        if (memory != null) {
            try {
                functions.register(segment.address(), memory, subject);
            } catch (Throwable e) {
                segment.close();
                throw e;
            }
        }
        return segment;
    }

    /**
     * Attaches to a segment of another process. The caller must {@linkplain
     * org.jrdma.ffi.Lifetime#hold hold} the lifetime of the node.
     */
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
        var owned =
                node.own(
                        name,
                        handle,
                        node.lifetime(),
                        listener,
                        state.events,
                        state.retry,
                        () -> state.remove(functions, handle, name));
        return new LocalSegment(owned, id, bytes, isAttached, state);
    }

    /**
     * Returns the id by which peers connect to this segment. In C: {@code SCIGetLocalSegmentId}.
     */
    public int id() {
        return id;
    }

    /** Returns the size of this segment in bytes. In C: {@code SCIGetLocalSegmentSize}. */
    public long byteSize() {
        return bytes;
    }

    /** Prepares this segment for the adapter of its node and makes it available to peers. */
    public void offer() throws SisciException {
        prepare();
        makeAvailable();
    }

    /**
     * Prepares this segment for the adapter of its node. A segment must be prepared before it is
     * used for DMA or made available.
     */
    public void prepare() throws SisciException {
        prepare(node().adapter());
    }

    /** Prepares this segment for an adapter. In C: {@code SCIPrepareSegment}. */
    public void prepare(int adapter) throws SisciException {
        whileOpen(() -> segments().prepare(address(), adapter, 0, this));
    }

    /**
     * Prepares this segment for an adapter, but only for use as the source of DMA transfers. In C:
     * {@code SCIPrepareSegment} with {@code SCI_FLAG_DMA_SOURCE_ONLY}.
     */
    public void prepareAsDmaSource(int adapter) throws SisciException {
        var flags = functions().library().number(SisciConstant.SCI_FLAG_DMA_SOURCE_ONLY);
        whileOpen(() -> segments().prepare(address(), adapter, flags, this));
    }

    /** Allows peers to connect to this segment through the adapter of its node. */
    public void makeAvailable() throws SisciException {
        makeAvailable(node().adapter());
    }

    /**
     * Allows peers to connect to this segment through an adapter. In C: {@code
     * SCISetSegmentAvailable}.
     */
    public void makeAvailable(int adapter) throws SisciException {
        whileOpen(() -> {
            segments().setAvailable(address(), adapter, this);
            if (!isAttached) {
                state.availableOn.add(adapter);
            }
        });
    }

    /** An effect of {@link #makeUnavailable(int, DisconnectFlag...)} on connected peers. */
    public enum DisconnectFlag {
        /** The peers are disconnected. In C: {@code SCI_FLAG_FORCE_DISCONNECT}. */
        FORCE_DISCONNECT(SisciConstant.SCI_FLAG_FORCE_DISCONNECT),
        /** The library requests the peers to disconnect. In C: {@code SCI_FLAG_NOTIFY}. */
        NOTIFY(SisciConstant.SCI_FLAG_NOTIFY);

        private final SisciConstant constant;

        DisconnectFlag(SisciConstant constant) {
            this.constant = constant;
        }
    }

    /**
     * Rejects further connections to this segment through the adapter of its node. Existing
     * connections remain.
     */
    public void makeUnavailable() throws SisciException {
        makeUnavailable(node().adapter());
    }

    /**
     * Rejects further connections to this segment through an adapter. In C: {@code
     * SCISetSegmentUnavailable}.
     *
     * @throws SisciException if the segment is not available on the adapter, or if the library
     *     reports BUSY
     * @throws UnsupportedOperationException if the library does not export a flag's number
     */
    public void makeUnavailable(int adapter, DisconnectFlag... disconnectFlags)
            throws SisciException {
        var flags =
                functions().library().bits(Stream.of(disconnectFlags).map(flag -> flag.constant));
        whileOpen(() -> {
            segments().setUnavailable(address(), adapter, flags, this);
            state.availableOn.remove(adapter);
        });
    }

    /**
     * Registers an interrupt flag at an offset of this segment. A store by a peer to this offset
     * interrupts this node. In C: {@code SCIRegisterInterruptFlag}.
     *
     * @param offset the offset in bytes, a multiple of 4
     * @param conditional true if stores are counted and only the first one interrupts
     * @throws SisciException if the driver does not support interrupt flags, which is likely for
     *     current drivers
     * @throws UnsupportedOperationException if the library does not have the function
     */
    public InterruptFlag newInterruptFlag(long offset, boolean conditional) throws SisciException {
        var _ = Objects.checkFromIndexSize(offset, Integer.BYTES, bytes);
        return inCall(() -> InterruptFlag.register(handle(), offset, conditional));
    }

    /**
     * Allows other processes of this node to {@linkplain Node#attach attach} to this segment. In C:
     * {@code SCIShareSegment}.
     */
    public void share() throws SisciException {
        whileOpen(() -> segments().share(address(), this));
    }

    /**
     * Attaches memory at an I/O bus address to this segment, which must be {@linkplain
     * SegmentOptions#empty empty}. The caller is responsible for the memory. The process needs
     * privileges for this call. In C: {@code SCIAttachPhysicalMemory}.
     */
    public void attachForeignPhysicalMemory(long ioAddress) throws SisciException {
        var flags = functions().library().number(SisciConstant.SCI_FLAG_PHYSICAL);
        attachPhysical(ioAddress, 0, flags);
    }

    /**
     * Attaches GPU memory to this segment, which must be {@linkplain SegmentOptions#empty empty}.
     * The caller is responsible for the memory. In C: {@code SCIAttachPhysicalMemory} with {@code
     * SCI_FLAG_CUDA_BUFFER}.
     *
     * @param devicePointer the device pointer that CUDA returned, a multiple of 64 KiB
     */
    public void attachForeignDeviceMemory(long devicePointer) throws SisciException {
        var flags = functions().library().number(SisciConstant.SCI_FLAG_CUDA_BUFFER);
        attachPhysical(0, devicePointer, flags);
    }

    private void attachPhysical(long ioAddress, long address, int flags) throws SisciException {
        whileOpen(
                () -> segments().attachPhysical(address(), ioAddress, address, bytes, flags, this));
    }

    /** Maps this whole segment for loads and stores. */
    public LocalMap map() throws SisciException {
        return map(MapOptions.WHOLE);
    }

    /** Maps this segment, or a part of it. In C: {@code SCIMapLocalSegment}. */
    public LocalMap map(MapOptions options) throws SisciException {
        return inCall(() -> new LocalMap(SegmentMap.Mapping.of(false, handle(), bytes, options)));
    }

    /**
     * Returns the address of this segment on the I/O bus. In C: {@code SCI_Q_LOCAL_SEGMENT_IOADDR}.
     */
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
     * Waits for the next event of this segment. Each event is delivered to only one caller or
     * listener.
     *
     * @throws FabricTimeoutException if no event occurred in time
     * @throws FabricException once, if events were lost because they were not taken in time; the
     *     next call continues with the remaining events
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this segment is closed, before or during the wait
     */
    public SegmentEvent nextEvent(Duration timeout) throws FabricException, InterruptedIOException {
        return state.events.take(Deadline.after(timeout), "No event of " + this);
    }

    /**
     * Calls a listener for each event until this segment is closed. The calls are made sequentially
     * on a dedicated virtual thread. The listener may close the segment. If another thread closes
     * it, a running call of the listener continues. Exceptions of the listener are logged.
     */
    public void onEvent(Consumer<SegmentEvent> listener) {
        state.events.listen(listener);
    }

    /**
     * Calls a listener for each event, like {@link #onEvent(Consumer)}, as long as {@code
     * listening} is reachable. This segment refers to {@code listening} only weakly, so that a
     * leaked object can be detected.
     */
    <T> void onEvent(T listening, BiConsumer<T, SegmentEvent> listener) {
        var reference = new WeakReference<>(listening);
        onEvent(event -> {
            var reachable = reference.get();
            if (reachable != null) {
                listener.accept(reachable, event);
            }
        });
    }

    private SegmentFunctions segments() {
        return functions().segments();
    }
}
