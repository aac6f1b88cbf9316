package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.ProtectionDomainFunctions;
import org.jrdma.verbs.internal.QueueMemoryUpcalls;
import org.jrdma.verbs.model.QueueMemoryAllocator;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The state of a protection domain that objects created in it use. Safe for use by multiple
 * threads.
 */
public final class DomainHandle {

    private final DeviceHandle device;
    private final NativeResource domain;

    /**
     * The protection domain from which this parent domain was created, possibly through other
     * parent domains; this domain if it is not a parent domain.
     */
    private final DomainHandle root;

    /**
     * The API object of this domain. This reference keeps it reachable, because every object that
     * was created in the domain references this handle.
     */
    @SuppressWarnings("unused")
    private @Nullable NativeObject object;

    private DomainHandle(DeviceHandle device, NativeResource domain, @Nullable DomainHandle root) {
        this.device = device;
        this.domain = domain;
        this.root = root == null ? this : root;
    }

    public static DomainHandle allocate(DeviceHandle device) throws VerbsException {
        var functions = device.library().domains();
        return device.call(() -> {
            var address =
                    functions.allocateDomain(
                            device.address(),
                            CheckedCall.to("ibv_alloc_pd", () -> "on " + device.name()));
            return new DomainHandle(
                    device,
                    owned("protection domain", device, address, List.of(device.lifetime()), null),
                    null);
        });
    }

    public static DomainHandle importFrom(DeviceHandle device, int handle) throws VerbsException {
        var functions = device.library().domains();
        return device.call(() -> {
            var address =
                    functions.importDomain(
                            device.address(),
                            handle,
                            CheckedCall.to(
                                    "ibv_import_pd",
                                    () -> "for handle %d on %s".formatted(handle, device.name())));
            return new DomainHandle(
                    device,
                    NativeResource.of(
                            address,
                            name("imported protection domain", device, address),
                            List.of(device.lifetime()),
                            "ibv_unimport_pd",
                            (made, _) -> functions.unimportDomain(made)),
                    null);
        });
    }

    /**
     * Creates a parent domain: a protection domain that refers to this domain and adds a thread
     * domain or an allocator of queue memory.
     *
     * @param threads the thread domain; null if there is none
     * @param memory the allocator; null to use the provider's own allocator
     */
    public DomainHandle newParent(
            @Nullable NativeResource threads, @Nullable QueueMemoryAllocator memory)
            throws VerbsException {
        var owners =
                threads == null ? List.of(lifetime()) : List.of(lifetime(), threads.lifetime());
        var functions = device.library().domains();
        return GuardedCalls.call(
                owners,
                () -> {
                    var upcalls = memory == null ? null : new QueueMemoryUpcalls(memory);
                    try {
                        var address =
                                functions.allocateParentDomain(
                                        device.context(),
                                        address(),
                                        threads == null ? MemorySegment.NULL : threads.address(),
                                        upcalls,
                                        CheckedCall.to(
                                                "ibv_alloc_parent_domain",
                                                () ->
                                                        "for %s and %s"
                                                                .formatted(
                                                                        this,
                                                                        threads == null
                                                                                ? "no thread domain"
                                                                                : threads
                                                                                        .lifetime())));
                        return new DomainHandle(
                                device,
                                owned("parent domain", device, address, owners, upcalls),
                                root);
                    } catch (VerbsException | RuntimeException | Error e) {
                        if (upcalls != null) {
                            upcalls.close();
                        }
                        throw e;
                    }
                });
    }

    private static NativeResource owned(
            String kind,
            DeviceHandle device,
            MemorySegment address,
            List<Lifetime> owners,
            @Nullable QueueMemoryUpcalls upcalls) {
        var functions = device.library().domains();
        return NativeResource.of(
                address,
                name(kind, device, address),
                owners,
                "ibv_dealloc_pd",
                (made, attempt) -> {
                    functions.deallocateDomain(made, attempt);
                    if (upcalls != null) {
                        // After a failure, the provider may still call these functions.
                        upcalls.close();
                    }
                });
    }

    private static String name(String kind, DeviceHandle device, MemorySegment address) {
        return "%s %x of %s".formatted(kind, address.address(), device.name());
    }

    /**
     * Sets the API object of this domain. Must be called once, before any object is created in the
     * domain.
     */
    public void belongsTo(NativeObject api) {
        object = api;
    }

    public DeviceHandle device() {
        return device;
    }

    public MemorySegment address() {
        return domain.address();
    }

    public Lifetime lifetime() {
        return domain.lifetime();
    }

    public boolean isParent() {
        return root != this;
    }

    /**
     * Returns true if objects of this domain and of {@code other} can be used together: both are
     * the same domain, or parent domains of the same domain.
     */
    public boolean isSameAs(DomainHandle other) {
        return root == other.root;
    }

    public int kernelHandle() {
        try (var _ = lifetime().held()) {
            return ProtectionDomainFunctions.domainHandle(address());
        }
    }

    @Override
    public String toString() {
        return lifetime().toString();
    }
}
