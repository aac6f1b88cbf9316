package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;
import static org.jrdma.ffi.linkage.Downcalls.run;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.model.VerbsException;

/** Calls the C functions of the connection manager that resolve names to addresses. */
public final class AddressInfoFunctions {

    private static final MethodHandle GETADDRINFO =
            capturingErrno(rdma_h.rdma_getaddrinfo$descriptor());
    private static final MethodHandle FREEADDRINFO =
            capturingErrno(rdma_h.rdma_freeaddrinfo$descriptor());
    private static final MethodHandle CREATE_EP =
            capturingErrno(rdma_h.rdma_create_ep$descriptor());
    private static final MethodHandle RESOLVE_ADDRINFO =
            capturingErrno(rdma_h.rdma_resolve_addrinfo$descriptor());
    private static final MethodHandle QUERY_ADDRINFO =
            capturingErrno(rdma_h.rdma_query_addrinfo$descriptor());

    /** The release of rdma-core that introduced {@code rdma_resolve_addrinfo}. */
    private static final int WITH_RESOLVE = 60;

    private final MemorySegment getaddrinfo;
    private final MemorySegment freeaddrinfo;
    private final MemorySegment createEp;
    private final Optional<MemorySegment> resolveAddrinfo;
    private final Optional<MemorySegment> queryAddrinfo;

    /** Looks up the functions. A library may lack functions that later releases introduced. */
    public AddressInfoFunctions(NativeLibrary library) throws LibraryNotFoundException {
        getaddrinfo = library.require("rdma_getaddrinfo");
        freeaddrinfo = library.require("rdma_freeaddrinfo");
        createEp = library.require("rdma_create_ep");
        resolveAddrinfo = library.find("rdma_resolve_addrinfo");
        queryAddrinfo = library.find("rdma_query_addrinfo");
    }

    /**
     * Resolves a name. Blocks while a name service is queried. On failure, the C function returns
     * an error number of {@code getaddrinfo} below -1, or it returns -1 and sets errno. Some
     * versions of the library store an error number of {@code getaddrinfo} in errno.
     */
    public List<AddressInfo> lookUp(AddressQuery query, CheckedCall attempt) throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var host = host(query, arena);
            var service = arena.allocateFrom(query.service());
            var hints = hints(query, arena);
            var pointer = arena.allocate(ValueLayout.ADDRESS);
            int result =
                    call(() ->
                            (int)
                                    GETADDRINFO.invokeExact(
                                            getaddrinfo, segment(), host, service, hints, pointer));
            if (result != 0) {
                throw attempt.failed(result == -1 ? CapturedErrno.value() : result);
            }
            return readAndFree(pointer.get(ValueLayout.ADDRESS, 0));
        }
    }

    /**
     * Checks that the library has the function that {@link #resolve} calls.
     *
     * @throws VerbsException with EOPNOTSUPP if the library lacks the function
     */
    public void requireResolve(CheckedCall attempt) throws VerbsException {
        attempt.require(resolveAddrinfo, WITH_RESOLVE);
    }

    /**
     * Starts to resolve a name for an {@code rdma_cm_id}. An event reports the end of the
     * resolution, after which {@link #resolved} returns the result. This method may block although
     * the resolution is asynchronous. On failure, the C function returns -1 and sets errno, which
     * may be an error number of {@code getaddrinfo}.
     */
    public void resolve(MemorySegment identifier, AddressQuery query, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(resolveAddrinfo, WITH_RESOLVE);
        try (var arena = Arena.ofConfined()) {
            var host = host(query, arena);
            var service = arena.allocateFrom(query.service());
            var hints = hints(query, arena);
            attempt.minusOne(() ->
                    (int)
                            RESOLVE_ADDRINFO.invokeExact(
                                    function, segment(), identifier, host, service, hints));
        }
    }

    /**
     * Returns and clears the result of {@link #resolve}. The C function returns -1 and sets errno
     * on failure.
     */
    public List<AddressInfo> resolved(MemorySegment identifier, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(queryAddrinfo, WITH_RESOLVE);
        try (var arena = Arena.ofConfined()) {
            var pointer = arena.allocate(ValueLayout.ADDRESS);
            attempt.minusOne(() ->
                    (int) QUERY_ADDRINFO.invokeExact(function, segment(), identifier, pointer));
            return readAndFree(pointer.get(ValueLayout.ADDRESS, 0));
        }
    }

    private static MemorySegment host(AddressQuery query, Arena arena) {
        return query.host().map(arena::allocateFrom).orElse(MemorySegment.NULL);
    }

    private static MemorySegment hints(AddressQuery query, Arena arena) {
        var hints = rdma_addrinfo.allocate(arena);
        rdma_addrinfo.ai_flags(
                hints,
                (query.passive() ? rdma_h.RAI_PASSIVE() : 0)
                        | (query.numeric() ? rdma_h.RAI_NUMERICHOST() : 0));
        rdma_addrinfo.ai_qp_type(hints, VerbsEnumCodes.QUEUE_PAIR_TYPE.code(query.type()));
        rdma_addrinfo.ai_port_space(hints, VerbsEnumCodes.PORT_SPACE.code(query.portSpace()));
        return hints;
    }

    private List<AddressInfo> readAndFree(MemorySegment found) {
        try {
            return read(found);
        } finally {
            run(() -> {
                FREEADDRINFO.invokeExact(freeaddrinfo, segment(), found);
            });
        }
    }

    private static List<AddressInfo> read(MemorySegment first) {
        var all = new ArrayList<AddressInfo>();
        for (var next = first; next.address() != 0; ) {
            var info = memoryAt(next, rdma_addrinfo.layout().byteSize());
            all.add(
                    new AddressInfo(
                            VerbsEnumCodes.QUEUE_PAIR_TYPE.of(rdma_addrinfo.ai_qp_type(info)),
                            VerbsEnumCodes.PORT_SPACE.of(rdma_addrinfo.ai_port_space(info)),
                            address(
                                    rdma_addrinfo.ai_src_addr(info),
                                    rdma_addrinfo.ai_src_len(info)),
                            address(
                                    rdma_addrinfo.ai_dst_addr(info),
                                    rdma_addrinfo.ai_dst_len(info))));
            next = rdma_addrinfo.ai_next(info);
        }
        return List.copyOf(all);
    }

    private static Optional<InetSocketAddress> address(MemorySegment name, int length) {
        return length == 0 ? Optional.empty() : SocketAddresses.read(memoryAt(name, length));
    }

    /**
     * Creates an {@code rdma_cm_id} for a type of queue pair and binds it to a local address. It
     * has its own event channel until it is migrated to another channel. Does not block, because no
     * address is resolved. The C function returns -1 and sets errno on failure.
     */
    public MemorySegment createEndpoint(
            AddressInfo info, InetSocketAddress local, CheckedCall attempt) throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var name = SocketAddresses.write(local, arena);
            var query = rdma_addrinfo.allocate(arena);
            rdma_addrinfo.ai_flags(query, rdma_h.RAI_PASSIVE());
            rdma_addrinfo.ai_family(query, SocketAddresses.family(name));
            rdma_addrinfo.ai_qp_type(query, VerbsEnumCodes.QUEUE_PAIR_TYPE.code(info.type()));
            rdma_addrinfo.ai_port_space(query, VerbsEnumCodes.PORT_SPACE.code(info.portSpace()));
            rdma_addrinfo.ai_src_addr(query, name);
            rdma_addrinfo.ai_src_len(query, (int) name.byteSize());
            var pointer = arena.allocate(ValueLayout.ADDRESS);
            attempt.minusOne(() ->
                    (int)
                            CREATE_EP.invokeExact(
                                    createEp,
                                    segment(),
                                    pointer,
                                    query,
                                    MemorySegment.NULL,
                                    MemorySegment.NULL));
            return memoryAt(pointer.get(ValueLayout.ADDRESS, 0), rdma_cm_id.layout().byteSize());
        }
    }
}
