package org.jrdma.sisci.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.Upcalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What libsisci calls, on a thread of its own. There is one function pointer of each kind, which
 * lasts as long as the JVM, and finds its listener by the argument that C hands back: a callback
 * that comes after its object has gone finds nobody, and does nothing.
 *
 * <p>Listeners must neither wait nor run code of the user's, and must not refer to a {@link
 * org.jrdma.ffi.NativeObject}, so that a forgotten one is found.
 */
public final class Callbacks {

    private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);
    private static final Map<Long, Object> LISTENERS = new ConcurrentHashMap<>();
    private static final AtomicLong LAST_KEY = new AtomicLong();

    private Callbacks() {}

    /** Hears of a local segment's peers and links. */
    @FunctionalInterface
    public interface LocalSegmentListener {
        /** Something happened. */
        void event(int reason, int node, int adapter, int status);
    }

    /** Hears of a remote segment's owner and link. */
    @FunctionalInterface
    public interface RemoteSegmentListener {
        /** Something happened. */
        void event(int reason, int status);
    }

    /** Hears of an interrupt, or of the end of a DMA transfer. */
    @FunctionalInterface
    public interface StatusListener {
        /** It happened. */
        void event(int status);
    }

    /** Hears of an interrupt with data. */
    @FunctionalInterface
    public interface DataListener {
        /** It happened; the data is a copy. */
        void event(byte[] data, int status);
    }

    /** Makes a listener known; the key is the argument that C hands back. */
    public static long register(Object listener) {
        var key = LAST_KEY.incrementAndGet();
        LISTENERS.put(key, listener);
        return key;
    }

    /** Ends that. A callback that is running goes on. */
    public static void forget(long key) {
        LISTENERS.remove(key);
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

    @SuppressWarnings("unused") // called by C
    private static int onLocalSegment(
            long key, long segment, int reason, int node, int adapter, int status) {
        return tell(
                key,
                listener -> ((LocalSegmentListener) listener).event(reason, node, adapter, status));
    }

    @SuppressWarnings("unused") // called by C
    private static int onRemoteSegment(long key, long segment, int reason, int status) {
        return tell(key, listener -> ((RemoteSegmentListener) listener).event(reason, status));
    }

    @SuppressWarnings("unused") // called by C
    private static int onStatus(long key, long object, int status) {
        return tell(key, listener -> ((StatusListener) listener).event(status));
    }

    @SuppressWarnings("unused") // called by C
    private static int onData(long key, long interrupt, long data, int length, int status) {
        return tell(
                key,
                listener -> {
                    var bytes =
                            Downcalls.memoryAt(
                                            MemorySegment.ofAddress(data),
                                            Integer.toUnsignedLong(length))
                                    .toArray(ValueLayout.JAVA_BYTE);
                    ((DataListener) listener).event(bytes, status);
                });
    }

    private interface Telling {
        void tell(Object listener);
    }

    /** Lets nothing escape: that would end the JVM. */
    private static int tell(long key, Telling telling) {
        try {
            var listener = LISTENERS.get(key);
            if (listener == null) {
                return sisci_h.SCI_CALLBACK_CANCEL();
            }
            telling.tell(listener);
        } catch (Throwable e) {
            LOG.error("A callback of libsisci failed", e);
        }
        return sisci_h.SCI_CALLBACK_CONTINUE();
    }

    /** Made when the first object wants to hear of something. */
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
                        MethodHandles.lookup()
                                .findStatic(
                                        Callbacks.class,
                                        name,
                                        MethodType.methodType(int.class, arguments)));
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(name, e);
            }
        }
    }
}
