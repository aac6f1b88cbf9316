package org.jrdma.tck.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Queue;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.Device;

/** Opens the device through a library with faults, which the SDK must handle. */
final class FaultyLibraries {

    private static final FunctionDescriptor REGISTER =
            FunctionDescriptor.of(
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT);
    private static final FunctionDescriptor OPEN =
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS);
    private static final FunctionDescriptor POST =
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS);

    /** The size of {@code struct ibv_mr}. */
    private static final long REGION_BYTES = 48;

    /** The offset of {@code lkey} in {@code struct ibv_mr}. */
    private static final long LOCAL_KEY = 36;

    /** The size of {@code struct ibv_context}. */
    private static final long CONTEXT_BYTES = 328;

    /** The offset of {@code ops.post_send} in {@code struct ibv_context}. */
    private static final long POST_SEND = 8 + 25 * 8;

    /** The offset of {@code next} in {@code struct ibv_send_wr}. */
    private static final long NEXT = 8;

    private static final FunctionDescriptor DESTROY =
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS);

    private FaultyLibraries() {}

    /** Opens the device through a library whose {@code ibv_reg_mr} returns wrong local keys. */
    static Device withWrongKeys() throws Exception {
        var library = AlteredLibrary.without("ibv_reg_mr_iova2");
        var handle =
                MethodHandles.insertArguments(
                        MethodHandles.lookup()
                                .findStatic(
                                        FaultyLibraries.class,
                                        "registerWithWrongKey",
                                        MethodType.methodType(
                                                MemorySegment.class,
                                                MethodHandle.class,
                                                MemorySegment.class,
                                                MemorySegment.class,
                                                long.class,
                                                int.class)),
                        0,
                        library.original("ibv_reg_mr", REGISTER));
        return library.replacing("ibv_reg_mr", REGISTER, handle)
                .verbs()
                .open(Fabric.underTest().deviceName());
    }

    static MemorySegment registerWithWrongKey(
            MethodHandle register,
            MemorySegment domain,
            MemorySegment address,
            long length,
            int access)
            throws Throwable {
        var region =
                ((MemorySegment) register.invokeExact(domain, address, length, access))
                        .reinterpret(REGION_BYTES);
        region.set(
                ValueLayout.JAVA_INT,
                LOCAL_KEY,
                region.get(ValueLayout.JAVA_INT, LOCAL_KEY) ^ 0x5500);
        return region;
    }

    /**
     * Opens the device through a library that adds each result of {@code ibv_destroy_qp} to a
     * queue.
     */
    static Device notingDestroyed(Queue<Integer> results) throws Exception {
        var library = AlteredLibrary.without();
        var handle =
                MethodHandles.insertArguments(
                        MethodHandles.lookup()
                                .findStatic(
                                        FaultyLibraries.class,
                                        "destroyAndRecord",
                                        MethodType.methodType(
                                                int.class,
                                                Queue.class,
                                                MethodHandle.class,
                                                MemorySegment.class)),
                        0,
                        results,
                        library.original("ibv_destroy_qp", DESTROY));
        return library.replacing("ibv_destroy_qp", DESTROY, handle)
                .verbs()
                .open(Fabric.underTest().deviceName());
    }

    static int destroyAndRecord(
            Queue<Integer> results, MethodHandle destroy, MemorySegment queuePair)
            throws Throwable {
        var result = (int) destroy.invokeExact(queuePair);
        results.add(result);
        return result;
    }

    /**
     * Opens the device through a library whose {@code post_send} posts the first request of every
     * chain and rejects the second one.
     */
    static Device refusingSecondRequests() throws Exception {
        var library = AlteredLibrary.without();
        var handle =
                MethodHandles.insertArguments(
                        MethodHandles.lookup()
                                .findStatic(
                                        FaultyLibraries.class,
                                        "openRefusing",
                                        MethodType.methodType(
                                                MemorySegment.class,
                                                MethodHandle.class,
                                                MemorySegment.class)),
                        0,
                        library.original("ibv_open_device", OPEN));
        return library.replacing("ibv_open_device", OPEN, handle)
                .verbs()
                .open(Fabric.underTest().deviceName());
    }

    static MemorySegment openRefusing(MethodHandle open, MemorySegment device) throws Throwable {
        var context = ((MemorySegment) open.invokeExact(device)).reinterpret(CONTEXT_BYTES);
        var linker = Linker.nativeLinker();
        var post = linker.downcallHandle(context.get(ValueLayout.ADDRESS, POST_SEND), POST);
        var refusing =
                MethodHandles.insertArguments(
                        MethodHandles.lookup()
                                .findStatic(
                                        FaultyLibraries.class,
                                        "postFirst",
                                        MethodType.methodType(
                                                int.class,
                                                MethodHandle.class,
                                                MemorySegment.class,
                                                MemorySegment.class,
                                                MemorySegment.class)),
                        0,
                        post);
        context.set(
                ValueLayout.ADDRESS, POST_SEND, linker.upcallStub(refusing, POST, Arena.global()));
        return context;
    }

    static int postFirst(
            MethodHandle post, MemorySegment queuePair, MemorySegment chain, MemorySegment refused)
            throws Throwable {
        var first = chain.reinterpret(NEXT + ValueLayout.ADDRESS.byteSize());
        var second = first.get(ValueLayout.ADDRESS, NEXT);
        if (second.address() == 0) {
            return (int) post.invokeExact(queuePair, chain, refused);
        }
        first.set(ValueLayout.ADDRESS, NEXT, MemorySegment.NULL);
        var errno = (int) post.invokeExact(queuePair, chain, refused);
        first.set(ValueLayout.ADDRESS, NEXT, second);
        refused.reinterpret(ValueLayout.ADDRESS.byteSize()).set(ValueLayout.ADDRESS, 0, second);
        return errno == 0 ? Errno.EINVAL : errno;
    }
}
