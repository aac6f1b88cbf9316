package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;
import static org.jrdma.ffi.linkage.Downcalls.run;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_parent_domain_init_attr;
import org.jrdma.abi.rdma.ibv_pd;
import org.jrdma.abi.rdma.ibv_td_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** Calls the C functions of protection domains, thread domains and parent domains. */
public final class ProtectionDomainFunctions {

    private static final MethodHandle ALLOC_PD = capturingErrno(rdma_h.ibv_alloc_pd$descriptor());
    private static final MethodHandle DEALLOC_PD =
            capturingErrno(rdma_h.ibv_dealloc_pd$descriptor());
    private static final MethodHandle ALLOC_TD =
            capturingErrno(verbs_context.alloc_td.descriptor());
    private static final MethodHandle DEALLOC_TD =
            capturingErrno(verbs_context.dealloc_td.descriptor());
    private static final MethodHandle ALLOC_PARENT_DOMAIN =
            capturingErrno(verbs_context.alloc_parent_domain.descriptor());
    private static final MethodHandle IMPORT_PD = capturingErrno(rdma_h.ibv_import_pd$descriptor());
    private static final MethodHandle UNIMPORT_PD =
            capturingErrno(rdma_h.ibv_unimport_pd$descriptor());

    private final MemorySegment allocPd;
    private final MemorySegment deallocPd;
    private final Optional<MemorySegment> importPd;
    private final Optional<MemorySegment> unimportPd;

    public ProtectionDomainFunctions(NativeLibrary library) throws LibraryNotFoundException {
        allocPd = library.require("ibv_alloc_pd");
        deallocPd = library.require("ibv_dealloc_pd");
        importPd = library.find("ibv_import_pd");
        unimportPd = library.find("ibv_unimport_pd");
    }

    /** Allocates a protection domain. The C function returns NULL and sets errno on failure. */
    public MemorySegment allocateDomain(MemorySegment context, CheckedCall attempt)
            throws VerbsException {
        return attempt.pointer(
                () -> (MemorySegment) ALLOC_PD.invokeExact(allocPd, segment(), context));
    }

    /** Deallocates a protection domain. The C function returns 0 or an errno. */
    public void deallocateDomain(MemorySegment domain, CheckedCall attempt) throws VerbsException {
        attempt.errno(() -> (int) DEALLOC_PD.invokeExact(deallocPd, segment(), domain));
    }

    /**
     * Imports a protection domain of another process. The C function returns NULL and sets errno on
     * failure.
     */
    public MemorySegment importDomain(MemorySegment context, int handle, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(importPd);
        return attempt.pointer(
                () -> (MemorySegment) IMPORT_PD.invokeExact(function, segment(), context, handle));
    }

    /**
     * Releases an imported protection domain. The C function cannot fail. The library has this
     * function if it has {@code ibv_import_pd}.
     */
    public void unimportDomain(MemorySegment domain) {
        run(() -> {
            UNIMPORT_PD.invokeExact(unimportPd.orElseThrow(), segment(), domain);
        });
    }

    public static int domainHandle(MemorySegment domain) {
        return ibv_pd.handle(memoryAt(domain, ibv_pd.layout().byteSize()));
    }

    /** Allocates a thread domain. The C function returns NULL and sets errno on failure. */
    public MemorySegment allocateThreadDomain(VerbsContext context, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.alloc_td$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_td_init_attr.allocate(arena);
            return attempt.pointer(() ->
                    (MemorySegment)
                            ALLOC_TD.invokeExact(
                                    function, segment(), context.address(), attributes));
        }
    }

    /** Deallocates a thread domain. The C function returns 0 or an errno. */
    public void deallocateThreadDomain(
            VerbsContext context, MemorySegment threads, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.dealloc_td$offset(), attempt);
        attempt.errno(() -> (int) DEALLOC_TD.invokeExact(function, segment(), threads));
    }

    /**
     * Allocates a parent domain: an {@code ibv_pd} that refers to a protection domain and adds a
     * thread domain or an allocator. The C function returns NULL and sets errno on failure.
     *
     * @param threads the thread domain, or NULL
     * @param memory the allocator of queue memory; null to use the provider's own allocator
     */
    public MemorySegment allocateParentDomain(
            VerbsContext context,
            MemorySegment domain,
            MemorySegment threads,
            @Nullable QueueMemoryUpcalls memory,
            CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.alloc_parent_domain$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_parent_domain_init_attr.allocate(arena);
            ibv_parent_domain_init_attr.pd(attributes, domain);
            ibv_parent_domain_init_attr.td(attributes, threads);
            if (memory != null) {
                memory.write(attributes);
            }
            return attempt.pointer(() ->
                    (MemorySegment)
                            ALLOC_PARENT_DOMAIN.invokeExact(
                                    function, segment(), context.address(), attributes));
        }
    }
}
