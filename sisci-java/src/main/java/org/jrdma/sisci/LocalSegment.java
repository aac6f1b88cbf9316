package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
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
import org.jrdma.sisci.internal.QueryStructure;
import org.jrdma.sisci.internal.SegmentFunctions;
import org.jrdma.sisci.internal.SisciFunctions;
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

    private final Node node;
    private final int id;
    private final long bytes;
    private final boolean isAttached;
    private final State state;

    private LocalSegment(
            Node node,
            MemorySegment handle,
            int id,
            long bytes,
            boolean isAttached,
            Lifetime lifetime,
            State state) {
        super(handle, lifetime, state.patience);
        this.node = node;
        this.id = id;
        this.bytes = bytes;
        this.isAttached = isAttached;
        this.state = state;
    }

    /** What closing it needs to know. Apart from it, so that a forgotten one is found. */
    private static final class State {

        final Patience patience;
        final Set<Integer> availableOn = new CopyOnWriteArraySet<>();
        final Events<SegmentEvent> events;
        final long listener;

        /** Of the caller's: reachable as long as peers may store into it. */
        private final @Nullable MemorySegment memory;

        State(String name, Leftovers leftovers, boolean listens, @Nullable MemorySegment memory) {
            this.patience = new Patience(leftovers);
            this.memory = memory;
            this.events = new Events<>(name);
            this.listener = listens ? Callbacks.register(listener(events)) : 0;
        }

        private static Callbacks.LocalSegmentListener listener(Events<SegmentEvent> events) {
            return (reason, node, adapter, status) ->
                    events.put(
                            new SegmentEvent(
                                    SegmentEvent.Type.of(reason),
                                    OptionalInt.of(node),
                                    OptionalInt.of(adapter),
                                    status));
        }

        /** Whether it stays available is up to all processes that have it. */
        void remove(SisciFunctions functions, MemorySegment handle, String name)
                throws SisciException {
            var segments = functions.segments();
            var deadline = patience.begin();
            try {
                for (var adapter : availableOn) {
                    try {
                        Patience.retry(
                                deadline,
                                () ->
                                        segments.setUnavailable(
                                                handle, adapter, 0, () -> "for " + name));
                    } catch (SisciException e) {
                        LOG.debug("{} goes without notice: {}", name, e.getMessage());
                    }
                }
                var force = functions.library().number(Constant.SCI_FLAG_FORCE_REMOVE);
                patience.undo(
                        deadline,
                        () -> segments.remove(handle, 0, () -> "for " + name),
                        () -> {
                            try {
                                segments.remove(handle, force, () -> "for " + name + ", by force");
                            } finally {
                                Reference.reachabilityFence(memory);
                            }
                        });
            } finally {
                Callbacks.forget(listener);
            }
        }
    }

    /** The node must be held. */
    static LocalSegment create(Node node, SegmentOptions options) throws SisciException {
        var library = node.functions().library();
        var functions = node.functions().segments();
        var wanted =
                String.format(
                        Locale.ROOT, "segment %d of %,d bytes", options.id(), options.bytes());
        var flags = library.bits(options.flags());
        var state =
                new State(
                        wanted,
                        node.leftovers(),
                        options.hasPeers(),
                        options.foreignMemory().orElse(null));
        MemorySegment handle;
        try {
            handle =
                    functions.create(
                            node.address(),
                            options.id(),
                            options.bytes(),
                            state.listener,
                            flags,
                            () -> "for " + wanted);
        } catch (SisciException | RuntimeException e) {
            Callbacks.forget(state.listener);
            throw e;
        }
        var hasOwnId = options.flags().noneMatch(flag -> flag == Constant.SCI_FLAG_AUTO_ID);
        var id = hasOwnId ? options.id() : functions.id(handle);
        var segment = make(node, handle, id, options.bytes(), false, state);
        if (options.foreignMemory().isPresent()) {
            try {
                functions.register(handle, options.foreignMemory().get(), () -> "for " + wanted);
            } catch (SisciException | RuntimeException e) {
                segment.close();
                throw e;
            }
        }
        return segment;
    }

    /** The node must be held. */
    static LocalSegment attach(Node node, int id) throws SisciException {
        var name = "shared segment " + id;
        var state = new State(name, node.leftovers(), true, null);
        try {
            var attached =
                    node.functions()
                            .segments()
                            .attach(node.address(), id, state.listener, () -> "for " + name);
            return make(node, attached.handle(), id, attached.bytes(), true, state);
        } catch (SisciException | RuntimeException e) {
            Callbacks.forget(state.listener);
            throw e;
        }
    }

    private static LocalSegment make(
            Node node, MemorySegment handle, int id, long bytes, boolean isAttached, State state) {
        var name = "segment %d of %s".formatted(id, node);
        state.events.name(name);
        var functions = node.functions();
        var lifetime =
                new Lifetime(
                        name,
                        List.of(node.ownLifetime()),
                        () -> state.remove(functions, handle, name));
        lifetime.onClose(state.events::close);
        return new LocalSegment(node, handle, id, bytes, isAttached, lifetime, state);
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
        prepare(node.adapterNumber());
    }

    /** Prepares it for an adapter. In C: {@code SCIPrepareSegment}. */
    public void prepare(int adapter) throws SisciException {
        whileOpen(() -> segments().prepare(address(), adapter, 0, this::subject));
    }

    /** Prepares it for an adapter, for nothing but to be read by DMA. */
    public void prepareAsDmaSource(int adapter) throws SisciException {
        var flags = functions().library().number(Constant.SCI_FLAG_DMA_SOURCE_ONLY);
        whileOpen(() -> segments().prepare(address(), adapter, flags, this::subject));
    }

    /** Lets peers connect, by the adapter of its node. */
    public void makeAvailable() throws SisciException {
        makeAvailable(node.adapterNumber());
    }

    /** Lets peers connect by an adapter. In C: {@code SCISetSegmentAvailable}. */
    public void makeAvailable(int adapter) throws SisciException {
        whileOpen(() -> {
            segments().setAvailable(address(), adapter, this::subject);
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
        makeUnavailable(node.adapterNumber());
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
            segments().setUnavailable(address(), adapter, flags, this::subject);
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
        return inCall(() -> InterruptFlag.register(this, node, offset, conditional));
    }

    /**
     * Lets other processes of this node attach, by {@link Node#attach}. In C: {@code
     * SCIShareSegment}.
     */
    public void share() throws SisciException {
        whileOpen(() -> segments().share(address(), this::subject));
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
        whileOpen(() ->
                segments()
                        .attachPhysical(
                                address(), ioAddress, address, bytes, flags, this::subject));
    }

    /** Maps it whole. */
    public LocalMap map() throws SisciException {
        return map(MapOptions.WHOLE);
    }

    /** Maps it, or a part. In C: {@code SCIMapLocalSegment}. */
    public LocalMap map(MapOptions options) throws SisciException {
        return inCall(() -> LocalMap.create(this, options));
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
                                this::toString));
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

    /** The same for as long as someone else remembers {@code listening}. */
    <T> void onEvent(T listening, BiConsumer<T, SegmentEvent> listener) {
        var reference = new WeakReference<>(listening); // so that a forgotten one is found
        onEvent(event -> {
            var remembered = reference.get();
            if (remembered != null) {
                listener.accept(remembered, event);
            }
        });
    }

    Node node() {
        return node;
    }

    private SisciFunctions functions() {
        return node.functions();
    }

    private SegmentFunctions segments() {
        return node.functions().segments();
    }

    private String subject() {
        return "for " + this;
    }
}
