package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jrdma.abi.rdma.rdma_cm_join_mc_attr_ex;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.model.VerbsException;

/**
 * Calls the C functions of the connection manager for multicast groups. Each C function returns -1
 * and sets errno on failure.
 */
public final class MulticastJoinFunctions {

    private static final MethodHandle JOIN_MULTICAST =
            capturingErrno(rdma_h.rdma_join_multicast$descriptor());
    private static final MethodHandle JOIN_MULTICAST_EX =
            capturingErrno(rdma_h.rdma_join_multicast_ex$descriptor());
    private static final MethodHandle LEAVE_MULTICAST =
            capturingErrno(rdma_h.rdma_leave_multicast$descriptor());

    /** The release of rdma-core that introduced {@code rdma_join_multicast_ex}. */
    private static final int WITH_JOIN_MULTICAST_EX = 16;

    private final MemorySegment joinMulticast;
    private final MemorySegment leaveMulticast;
    private final Optional<MemorySegment> joinMulticastEx;

    /** Looks up the functions. A library may lack functions that later releases introduced. */
    public MulticastJoinFunctions(NativeLibrary library) throws LibraryNotFoundException {
        joinMulticast = library.require("rdma_join_multicast");
        leaveMulticast = library.require("rdma_leave_multicast");
        joinMulticastEx = library.find("rdma_join_multicast_ex");
    }

    /**
     * Starts to join a multicast group. An event of the {@code rdma_cm_id} reports the result.
     *
     * @param context a number that the event will carry
     */
    public void join(
            MemorySegment identifier,
            InetAddress group,
            MulticastRole role,
            long context,
            CheckedCall attempt)
            throws VerbsException {
        var mark = MemorySegment.ofAddress(context);
        try (var arena = Arena.ofConfined()) {
            var name = SocketAddresses.write(new InetSocketAddress(group, 0), arena);
            if (role == MulticastRole.FULL_MEMBER) {
                attempt.minusOne(() ->
                        (int)
                                JOIN_MULTICAST.invokeExact(
                                        joinMulticast, segment(), identifier, name, mark));
                return;
            }
            var function = attempt.require(joinMulticastEx, WITH_JOIN_MULTICAST_EX);
            var attributes = rdma_cm_join_mc_attr_ex.allocate(arena);
            rdma_cm_join_mc_attr_ex.comp_mask(
                    attributes,
                    rdma_h.RDMA_CM_JOIN_MC_ATTR_ADDRESS()
                            | rdma_h.RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS());
            rdma_cm_join_mc_attr_ex.join_flags(
                    attributes, rdma_h.RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER());
            rdma_cm_join_mc_attr_ex.addr(attributes, name);
            attempt.minusOne(() ->
                    (int)
                            JOIN_MULTICAST_EX.invokeExact(
                                    function, segment(), identifier, attributes, mark));
        }
    }

    /** Leaves a multicast group. Blocks until all events of the group are acknowledged. */
    public void leave(MemorySegment identifier, InetAddress group, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var name = SocketAddresses.write(new InetSocketAddress(group, 0), arena);
            attempt.minusOne(() ->
                    (int) LEAVE_MULTICAST.invokeExact(leaveMulticast, segment(), identifier, name));
        }
    }
}
