package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_gid;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.DatagramSource;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;

/**
 * Calls the C functions of address handles and multicast membership. If the library lacks a
 * function, the method fails with EOPNOTSUPP, as with a device that does not support it.
 */
public final class AddressHandleFunctions {

    private static final MethodHandle CREATE_AH = capturingErrno(rdma_h.ibv_create_ah$descriptor());
    private static final MethodHandle DESTROY_AH =
            capturingErrno(rdma_h.ibv_destroy_ah$descriptor());
    private static final MethodHandle INIT_AH_FROM_WC =
            capturingErrno(rdma_h.ibv_init_ah_from_wc$descriptor());

    /**
     * The handle for {@code ibv_attach_mcast} and {@code ibv_detach_mcast}, which have the same
     * signature.
     */
    private static final MethodHandle CHANGE_MEMBERSHIP =
            capturingErrno(rdma_h.ibv_attach_mcast$descriptor());

    private final Optional<MemorySegment> createAh;
    private final Optional<MemorySegment> destroyAh;
    private final Optional<MemorySegment> initAhFromWc;
    private final Optional<MemorySegment> attachMcast;
    private final Optional<MemorySegment> detachMcast;

    public AddressHandleFunctions(NativeLibrary library) {
        createAh = library.find("ibv_create_ah");
        destroyAh = library.find("ibv_destroy_ah");
        initAhFromWc = library.find("ibv_init_ah_from_wc");
        attachMcast = library.find("ibv_attach_mcast");
        detachMcast = library.find("ibv_detach_mcast");
    }

    /** Creates an address handle. The C function returns NULL and sets errno on failure. */
    public MemorySegment createHandle(
            MemorySegment domain, AddressVector address, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(createAh);
        attempt.require(destroyAh); // A handle that cannot be destroyed must not be created.
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_ah_attr.allocate(arena);
            AddressVectorCodec.write(attributes, address);
            return attempt.pointer(() ->
                    (MemorySegment) CREATE_AH.invokeExact(function, segment(), domain, attributes));
        }
    }

    /** Destroys an address handle. The C function returns 0 or an errno. */
    public void destroyHandle(MemorySegment handle, CheckedCall attempt) throws VerbsException {
        var function = attempt.require(destroyAh);
        attempt.errno(() -> (int) DESTROY_AH.invokeExact(function, segment(), handle));
    }

    /**
     * Returns the path to the sender of a datagram ({@code ibv_init_ah_from_wc}). The C function
     * returns -1 and sets errno on failure.
     *
     * @param header the first 40 bytes of the receive buffer, which contain the global route header
     */
    public AddressVector answer(
            MemorySegment context,
            int port,
            DatagramSource source,
            MemorySegment header,
            CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(initAhFromWc);
        try (var arena = Arena.ofConfined()) {
            var completion = ibv_wc.allocate(arena);
            ibv_wc.src_qp(completion, source.queuePairNumber());
            ibv_wc.wc_flags(completion, source.hasGlobalRoute() ? rdma_h.IBV_WC_GRH() : 0);
            ibv_wc.slid(completion, (short) source.lid());
            ibv_wc.sl(completion, (byte) source.serviceLevel());
            ibv_wc.dlid_path_bits(completion, (byte) source.pathBits());
            var attributes = ibv_ah_attr.allocate(arena);
            attempt.errno(() ->
                    (int)
                            INIT_AH_FROM_WC.invokeExact(
                                    function,
                                    segment(),
                                    context,
                                    (byte) port,
                                    completion,
                                    header,
                                    attributes));
            return AddressVectorCodec.read(attributes);
        }
    }

    /** Attaches a queue pair to a multicast group. The C function returns 0 or an errno. */
    public void attach(MemorySegment queuePair, Gid group, int lid, CheckedCall attempt)
            throws VerbsException {
        attempt.require(detachMcast); // An attachment that cannot be removed must not be created.
        changeMembership(attempt.require(attachMcast), queuePair, group, lid, attempt);
    }

    /** Detaches a queue pair from a multicast group. The C function returns 0 or an errno. */
    public void detach(MemorySegment queuePair, Gid group, int lid, CheckedCall attempt)
            throws VerbsException {
        changeMembership(attempt.require(detachMcast), queuePair, group, lid, attempt);
    }

    private static void changeMembership(
            MemorySegment function,
            MemorySegment queuePair,
            Gid group,
            int lid,
            CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var gid = ibv_gid.allocate(arena);
            AddressVectorCodec.writeGid(gid, group);
            attempt.errno(() ->
                    (int)
                            CHANGE_MEMBERSHIP.invokeExact(
                                    function, segment(), queuePair, gid, (short) lid));
        }
    }
}
