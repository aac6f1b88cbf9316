package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_gid;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.DatagramSource;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;

/**
 * What datagrams need besides queue pairs: address handles, and membership of multicast groups. A
 * library may lack them, and is then as one whose device cannot: EOPNOTSUPP.
 */
public final class DatagramFunctions {

    private static final MethodHandle CREATE_AH = capturingErrno(rdma_h.ibv_create_ah$descriptor());
    private static final MethodHandle DESTROY_AH =
            capturingErrno(rdma_h.ibv_destroy_ah$descriptor());
    private static final MethodHandle INIT_AH_FROM_WC =
            capturingErrno(rdma_h.ibv_init_ah_from_wc$descriptor());
    private static final MethodHandle ATTACH_MCAST =
            capturingErrno(rdma_h.ibv_attach_mcast$descriptor());
    private static final MethodHandle DETACH_MCAST =
            capturingErrno(rdma_h.ibv_detach_mcast$descriptor());

    private final Optional<MemorySegment> createAh;
    private final Optional<MemorySegment> destroyAh;
    private final Optional<MemorySegment> initAhFromWc;
    private final Optional<MemorySegment> attachMcast;
    private final Optional<MemorySegment> detachMcast;

    /** Finds the functions. */
    public DatagramFunctions(NativeLibrary library) {
        createAh = library.find("ibv_create_ah");
        destroyAh = library.find("ibv_destroy_ah");
        initAhFromWc = library.find("ibv_init_ah_from_wc");
        attachMcast = library.find("ibv_attach_mcast");
        detachMcast = library.find("ibv_detach_mcast");
    }

    /** An address handle. NULL and errno on failure. */
    public MemorySegment createHandle(MemorySegment domain, AddressVector address, Attempt attempt)
            throws VerbsException {
        var function = there(createAh, attempt);
        there(destroyAh, attempt); // not made by a library that could not destroy it
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_ah_attr.allocate(arena);
            AddressVectorCodec.write(attributes, address);
            return attempt.pointer(
                    call(() ->
                            (MemorySegment)
                                    CREATE_AH.invokeExact(
                                            function, segment(), domain, attributes)));
        }
    }

    /** Returns the errno. */
    public void destroyHandle(MemorySegment handle, Attempt attempt) throws VerbsException {
        var function = there(destroyAh, attempt);
        attempt.errno(call(() -> (int) DESTROY_AH.invokeExact(function, segment(), handle)));
    }

    /**
     * The way back to where a datagram came from. -1 and errno on failure.
     *
     * @param header the first 40 bytes of what was received
     */
    public AddressVector answer(
            MemorySegment context,
            int port,
            DatagramSource source,
            MemorySegment header,
            Attempt attempt)
            throws VerbsException {
        var function = there(initAhFromWc, attempt);
        try (var arena = Arena.ofConfined()) {
            var completion = ibv_wc.allocate(arena);
            ibv_wc.src_qp(completion, source.queuePairNumber());
            ibv_wc.wc_flags(completion, source.hasGlobalRoute() ? rdma_h.IBV_WC_GRH() : 0);
            ibv_wc.slid(completion, (short) source.lid());
            ibv_wc.sl(completion, (byte) source.serviceLevel());
            ibv_wc.dlid_path_bits(completion, (byte) source.pathBits());
            var attributes = ibv_ah_attr.allocate(arena);
            attempt.errno(
                    call(() ->
                            (int)
                                    INIT_AH_FROM_WC.invokeExact(
                                            function,
                                            segment(),
                                            context,
                                            (byte) port,
                                            completion,
                                            header,
                                            attributes)));
            return AddressVectorCodec.read(attributes);
        }
    }

    /** Returns the errno. */
    public void attach(MemorySegment queuePair, Gid group, int lid, Attempt attempt)
            throws VerbsException {
        var function = there(attachMcast, attempt);
        there(detachMcast, attempt);
        try (var arena = Arena.ofConfined()) {
            var gid = ibv_gid.allocate(arena);
            AddressVectorCodec.writeGid(gid, group);
            attempt.errno(
                    call(() ->
                            (int)
                                    ATTACH_MCAST.invokeExact(
                                            function, segment(), queuePair, gid, (short) lid)));
        }
    }

    /** Returns the errno. */
    public void detach(MemorySegment queuePair, Gid group, int lid, Attempt attempt)
            throws VerbsException {
        var function = there(detachMcast, attempt);
        try (var arena = Arena.ofConfined()) {
            var gid = ibv_gid.allocate(arena);
            AddressVectorCodec.writeGid(gid, group);
            attempt.errno(
                    call(() ->
                            (int)
                                    DETACH_MCAST.invokeExact(
                                            function, segment(), queuePair, gid, (short) lid)));
        }
    }

    private static MemorySegment there(Optional<MemorySegment> function, Attempt attempt)
            throws VerbsException {
        return function.orElseThrow(() -> attempt.failed(Errno.EOPNOTSUPP));
    }
}
