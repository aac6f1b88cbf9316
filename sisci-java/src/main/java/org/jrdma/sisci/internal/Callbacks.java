package org.jrdma.sisci.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.UpcallFunction;
import org.jrdma.ffi.linkage.Upcalls;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The functions that libsisci calls on its own threads to report events.
 *
 * <p>There is one function pointer for each kind of callback, which stays valid until the JVM
 * exits. The called function finds the listener by a key, which the library passes back as an
 * argument. A callback that arrives after its object was removed finds no listener and does
 * nothing.
 *
 * <p>Listeners must neither block nor run code of the program, because they run on threads of the
 * library. They must not refer to a {@link org.jrdma.ffi.NativeObject}, because a leaked object
 * could then not be detected.
 */
public final class Callbacks {

    private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);
    private static final Map<Long, Consumer<Object>> LISTENERS = new ConcurrentHashMap<>();
    private static final AtomicLong LAST_KEY = new AtomicLong();
    private static final Map<Integer, SegmentEvent.Type> TYPES =
            Map.of(
                    sisci_h.SCI_CB_CONNECT(), SegmentEvent.Type.CONNECTED,
                    sisci_h.SCI_CB_DISCONNECT(), SegmentEvent.Type.DISCONNECTED,
                    sisci_h.SCI_CB_NOT_OPERATIONAL(), SegmentEvent.Type.NOT_OPERATIONAL,
                    sisci_h.SCI_CB_OPERATIONAL(), SegmentEvent.Type.OPERATIONAL,
                    sisci_h.SCI_CB_LOST(), SegmentEvent.Type.LOST);

    private Callbacks() {}

    /** Creates a native object that reports events to a listener. */
    @FunctionalInterface
    public interface Creation<T> {
        /**
         * Creates the native object.
         *
         * @param listener the key of the listener, which the library passes back as an argument; 0
         *     for no listener
         */
        T create(long listener) throws SisciException;
    }

    /**
     * Registers a listener and returns its key. The type of the events depends on the object:
     * {@link SegmentEvent} for segments, {@code byte[]} (the message) for data interrupts, and
     * otherwise Integer (the status).
     */
    @SuppressWarnings("unchecked") // The type of the events matches the kind of object.
    public static <E> long register(Consumer<E> listener) {
        var key = LAST_KEY.incrementAndGet();
        LISTENERS.put(key, (Consumer<Object>) listener);
        return key;
    }

    /**
     * Registers a listener, unless it is null, and creates a native object that reports events to
     * it. Removes the listener if the creation fails.
     */
    public static <E, T> T create(@Nullable Consumer<E> listener, Creation<T> creation)
            throws SisciException {
        var key = listener == null ? 0 : register(listener);
        try {
            return creation.create(key);
        } catch (Throwable e) {
            forget(key);
            throw e;
        }
    }

    /** Removes a listener. A running call of the listener continues. */
    public static void forget(long key) {
        LISTENERS.remove(key);
    }

    /**
     * Returns {@code function}, or NULL if {@code listener} is 0, which means that there is no
     * listener.
     */
    static MemorySegment orNull(MemorySegment function, long listener) {
        return listener == 0 ? MemorySegment.NULL : function;
    }

    static MemorySegment localSegment() {
        return Stubs.LOCAL_SEGMENT;
    }

    static MemorySegment remoteSegment() {
        return Stubs.REMOTE_SEGMENT;
    }

    static MemorySegment status() {
        return Stubs.STATUS;
    }

    static MemorySegment data() {
        return Stubs.DATA;
    }

    @SuppressWarnings("unused") // Called by C.
    private static int onLocalSegment(
            long key, long segment, int reason, int node, int adapter, int status) {
        return dispatch(
                key,
                () ->
                        new SegmentEvent(
                                type(reason),
                                OptionalInt.of(node),
                                OptionalInt.of(adapter),
                                status));
    }

    @SuppressWarnings("unused") // Called by C.
    private static int onRemoteSegment(long key, long segment, int reason, int status) {
        return dispatch(
                key,
                () ->
                        new SegmentEvent(
                                type(reason), OptionalInt.empty(), OptionalInt.empty(), status));
    }

    @SuppressWarnings("unused") // Called by C.
    private static int onStatus(long key, long object, int status) {
        return dispatch(key, () -> status);
    }

    @SuppressWarnings("unused") // Called by C.
    private static int onData(long key, long interrupt, long data, int length, int status) {
        return dispatch(
                key,
                () ->
                        Downcalls.memoryAt(
                                        MemorySegment.ofAddress(data),
                                        Integer.toUnsignedLong(length))
                                .toArray(ValueLayout.JAVA_BYTE));
    }

    private static SegmentEvent.Type type(int reason) {
        return TYPES.getOrDefault(reason, SegmentEvent.Type.UNKNOWN);
    }

    /** Passes an event to the listener with a key. */
    private static int dispatch(long key, Supplier<?> event) {
        var listener = LISTENERS.get(key);
        if (listener == null) {
            return sisci_h.SCI_CALLBACK_CANCEL();
        }
        listener.accept(event.get());
        return sisci_h.SCI_CALLBACK_CONTINUE();
    }

    /**
     * Returns a function that logs everything that another function throws, because an exception in
     * an upcall would terminate the JVM. Even the creation of a lambda in the function, or logging,
     * may run out of memory.
     */
    static UpcallFunction guarded(MethodHandle function) {
        try {
            var logging =
                    MethodHandles.lookup()
                            .findStatic(
                                    Callbacks.class,
                                    "failed",
                                    MethodType.methodType(int.class, Throwable.class));
            var lastResort =
                    MethodHandles.dropArguments(
                            MethodHandles.constant(int.class, sisci_h.SCI_CALLBACK_CONTINUE()),
                            0,
                            Throwable.class);
            return new UpcallFunction(
                    MethodHandles.catchException(function, Throwable.class, logging), lastResort);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("failed", e);
        }
    }

    @SuppressWarnings("unused") // Called by guarded().
    private static int failed(Throwable thrown) {
        FailureLog.error(LOG, "A callback of libsisci failed", thrown);
        return sisci_h.SCI_CALLBACK_CONTINUE();
    }

    /**
     * Holder of the function pointers. It is initialized when the first object registers a
     * callback.
     */
    private static final class Stubs {

        static final MemorySegment LOCAL_SEGMENT =
                stub(
                        "onLocalSegment",
                        long.class,
                        long.class,
                        int.class,
                        int.class,
                        int.class,
                        int.class);
        static final MemorySegment REMOTE_SEGMENT =
                stub("onRemoteSegment", long.class, long.class, int.class, int.class);
        static final MemorySegment STATUS = stub("onStatus", long.class, long.class, int.class);
        static final MemorySegment DATA =
                stub("onData", long.class, long.class, long.class, int.class, int.class);

        private static MemorySegment stub(String name, Class<?>... arguments) {
            try {
                return Upcalls.stub(
                        guarded(
                                MethodHandles.lookup()
                                        .findStatic(
                                                Callbacks.class,
                                                name,
                                                MethodType.methodType(int.class, arguments))));
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(name, e);
            }
        }
    }
}
