package org.jrdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.internal.QueueMemoryStubs;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.QueueMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * What belongs together on a device: a queue pair reaches only memory registered in its own domain.
 *
 * <p>Owned by its {@link Device}. Safe for use by several threads. In C: {@code struct ibv_pd};
 * {@link #close()} is {@code ibv_dealloc_pd}.
 */
public final class ProtectionDomain extends NativeObject {

    /**
     * The scopes of memory that only the garbage collector frees. There is no public way to ask a
     * scope whether it can be closed, so one of another class is taken for closeable.
     */
    private static final Set<Class<?>> SCOPES_THAT_NEVER_CLOSE =
            Set.of(
                    MemorySegment.ofBuffer(ByteBuffer.allocateDirect(1)).scope().getClass(),
                    Arena.ofAuto().scope().getClass(),
                    Arena.global().scope().getClass());

    private final Device device;

    /** The one that a parent domain was made of, and so on; itself if it is none. */
    private final ProtectionDomain root;

    ProtectionDomain(Device device) throws VerbsException {
        this(device, device.inCall(() -> allocate(device)), null);
    }

    private ProtectionDomain(Device device, Made made, @Nullable ProtectionDomain root) {
        super(made.address, made.lifetime);
        this.device = device;
        this.root = root == null ? this : root;
    }

    private record Made(MemorySegment address, Lifetime lifetime) {}

    private static Made allocate(Device device) throws VerbsException {
        var memory = device.library().memory();
        var address =
                memory.allocateDomain(
                        device.address(), Attempt.to("ibv_alloc_pd", () -> "on " + device.name()));
        var name = "protection domain %x of %s".formatted(address.address(), device.name());
        return new Made(
                address,
                new Lifetime(
                        name,
                        List.of(device.ownLifetime()),
                        () ->
                                memory.deallocateDomain(
                                        address,
                                        Attempt.to("ibv_dealloc_pd", () -> "for " + name))));
    }

    /** See {@link Device#importProtectionDomain}. */
    static ProtectionDomain imported(Device device, int handle) throws VerbsException {
        var memory = device.library().memory();
        return new ProtectionDomain(
                device,
                device.inCall(() -> {
                    var address =
                            memory.importDomain(
                                    device.address(),
                                    handle,
                                    Attempt.to(
                                            "ibv_import_pd",
                                            () -> "%d on %s".formatted(handle, device.name())));
                    return new Made(
                            address,
                            new Lifetime(
                                    "imported protection domain %x of %s"
                                            .formatted(address.address(), device.name()),
                                    List.of(device.ownLifetime()),
                                    () -> memory.unimportDomain(address)));
                }),
                null);
    }

    /**
     * Makes this domain again, for what only the threads of a thread domain use: queue pairs,
     * shared receive queues, and {@linkplain CompletionQueueOptions#inParentDomain completion
     * queues}. It reaches the same memory. Nothing here makes sure of the threads: the program
     * answers for it that one at a time posts to, polls, modifies or closes what is made so, and
     * some providers end the process otherwise. In C: {@code ibv_alloc_parent_domain}; {@link
     * #close()} is {@code ibv_dealloc_pd}.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has none
     */
    public ProtectionDomain newParentDomainUnguarded(ThreadDomain threads) throws VerbsException {
        return newParentDomain(threads, null);
    }

    /**
     * Makes this domain again, for what is to be kept in memory of the caller's; for any threads.
     * The program answers for it that the memory stays until it is released: a provider, or the
     * adapter, writes there. In C: {@code ibv_alloc_parent_domain} with {@code
     * IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS}.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has none
     */
    public ProtectionDomain newParentDomainUnguarded(QueueMemory memory) throws VerbsException {
        return newParentDomain(null, memory);
    }

    /** Both: for some threads, and in memory of the caller's. */
    public ProtectionDomain newParentDomainUnguarded(ThreadDomain threads, QueueMemory memory)
            throws VerbsException {
        return newParentDomain(threads, memory);
    }

    private ProtectionDomain newParentDomain(
            @Nullable ThreadDomain threads, @Nullable QueueMemory memory) throws VerbsException {
        if (threads != null && threads.device() != device) {
            throw new IllegalArgumentException("%s is not of %s".formatted(threads, device));
        }
        var owners =
                threads == null ? List.of(lifetime()) : List.of(lifetime(), threads.ownLifetime());
        Lifetime.holdAll(owners);
        try {
            return new ProtectionDomain(
                    device,
                    PlatformCalls.call(() -> allocateParent(threads, memory, owners)),
                    root);
        } finally {
            owners.forEach(Lifetime::release);
        }
    }

    private Made allocateParent(
            @Nullable ThreadDomain threads, @Nullable QueueMemory memory, List<Lifetime> owners)
            throws VerbsException {
        var functions = device.library().memory();
        var stubs = memory == null ? null : new QueueMemoryStubs(memory);
        MemorySegment address;
        try {
            address =
                    functions.allocateParentDomain(
                            device.context(),
                            address(),
                            threads == null ? MemorySegment.NULL : threads.address(),
                            stubs,
                            Attempt.to(
                                    "ibv_alloc_parent_domain",
                                    () -> "of %s and %s".formatted(this, threads)));
        } catch (VerbsException | RuntimeException | Error e) {
            if (stubs != null) {
                stubs.close();
            }
            throw e;
        }
        var name = "parent domain %x of %s".formatted(address.address(), device.name());
        return new Made(
                address,
                new Lifetime(
                        name,
                        owners,
                        () -> {
                            functions.deallocateDomain(
                                    address, Attempt.to("ibv_dealloc_pd", () -> "for " + name));
                            if (stubs != null) {
                                stubs.close(); // not if that failed: it might still call
                            }
                        }));
    }

    /** Whether another one made it. */
    boolean isParent() {
        return root != this;
    }

    /** Whether what is made in the one can be used with what is made in the other. */
    boolean isSameAs(ProtectionDomain other) {
        return root == other.root;
    }

    /**
     * The kernel's number for it, by which another process {@linkplain
     * Device#importProtectionDomain imports} it.
     */
    public int handle() {
        lifetime().hold();
        try {
            return MemoryFunctions.domainHandle(address());
        } finally {
            lifetime().release();
        }
    }

    /** The device it was made from. */
    public Device device() {
        return device;
    }

    /** Makes an arena whose segments are registered with these rights. */
    public RegisteredArena newArena(Access... access) {
        return newArena(RegisteredArena.PageSize.NORMAL, access);
    }

    /** Makes an arena whose segments are registered with these rights, in pages of a size. */
    public RegisteredArena newArena(RegisteredArena.PageSize pages, Access... access) {
        return new RegisteredArena(this, pages, Access.setOf(access));
    }

    /**
     * Registers a direct buffer, from its position to its limit. The region keeps the buffer from
     * being collected. In C: {@code ibv_reg_mr}; with an optional right, {@code ibv_reg_mr_iova2}.
     *
     * @throws IllegalArgumentException if the buffer is not direct; read-only although written to;
     *     empty; or a view of a segment whose arena can be closed, which nothing here could prevent
     * @throws VerbsException if the system refuses; the message says how much memory may be locked
     */
    public MemoryRegion register(ByteBuffer buffer, Access... access) throws VerbsException {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException(
                    "Only a direct buffer stays where it is; this one is on the heap");
        }
        var rights = Access.setOf(access);
        if (buffer.isReadOnly() && rights.contains(Access.LOCAL_WRITE)) {
            throw new IllegalArgumentException(
                    "A read-only buffer cannot be registered with LOCAL_WRITE");
        }
        var memory = MemorySegment.ofBuffer(buffer);
        if (!SCOPES_THAT_NEVER_CLOSE.contains(memory.scope().getClass())) {
            throw new IllegalArgumentException(
                    "This buffer is a view of a segment whose arena can be closed. Take one of newArena(), or answer for it with registerUnguarded()");
        }
        return MemoryRegion.register(this, memory, rights, lifetime(), this, buffer);
    }

    /**
     * Registers memory whose life the SDK does not know. The caller answers for it: if the memory
     * is freed before the region is closed, an adapter may write into whatever has taken its place.
     * In C: {@code ibv_reg_mr}; with an optional right, {@code ibv_reg_mr_iova2}.
     *
     * @throws IllegalArgumentException if the segment is on the heap or empty
     * @throws VerbsException if the system refuses; the message says how much memory may be locked
     */
    public MemoryRegion registerUnguarded(MemorySegment memory, Access... access)
            throws VerbsException {
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "Only native memory stays where it is; this segment is on the heap");
        }
        return MemoryRegion.register(this, memory, Access.setOf(access), lifetime(), this, memory);
    }

    /**
     * Registers a part of the device's own memory. Requests and peers name its first byte by 0, as
     * if {@link Access#ZERO_BASED} were given; there is no segment for it on this side. In C:
     * {@code ibv_reg_dm_mr}.
     *
     * @throws IndexOutOfBoundsException if the part is not within
     * @throws IllegalArgumentException if it is the memory of another device
     * @throws VerbsException if the device refuses
     */
    public MemoryRegion registerDeviceMemory(
            DeviceMemory memory, long offset, long length, Access... access) throws VerbsException {
        return MemoryRegion.ofDevice(this, memory, offset, length, Access.setOf(access));
    }

    /**
     * Registers memory of another device, as of a graphics card, that the kernel shares as a
     * dma-buf. The region keeps the memory, also when the descriptor is closed. It is not mapped
     * here: its {@linkplain MemoryRegion#segment() segment} is empty, and it cannot be sent inline.
     * In C: {@code ibv_reg_dmabuf_mr}.
     *
     * @param descriptor the dma-buf's
     * @param offset where in it the region begins, in bytes
     * @param start by which address work requests and peers name the region's first byte; at the
     *     same place in a page as the offset
     * @throws VerbsException if the device does not offer it, or refuses it
     */
    public MemoryRegion registerDmaBuf(
            int descriptor, long offset, long length, long start, Access... access)
            throws VerbsException {
        return MemoryRegion.ofDmaBuf(this, descriptor, offset, length, start, Access.setOf(access));
    }

    /**
     * Registers all memory that this process has or will have, to be paged {@linkplain
     * Access#ON_DEMAND on demand}: a slice of it is at the address that its offset says. The caller
     * answers for each slice: if that memory is freed before a request is done, an adapter may
     * write into whatever has taken its place. In C: {@code ibv_reg_mr} with {@code SIZE_MAX}.
     *
     * @throws VerbsException if the device does not offer it; {@link
     *     ExtendedDeviceAttributes#implicitOnDemand} tells
     */
    public MemoryRegion registerEverythingUnguarded(Access... access) throws VerbsException {
        return MemoryRegion.ofEverything(this, Access.setOf(access));
    }

    /**
     * A region that another process registered in the domain of which this is the {@linkplain
     * Device#importProtectionDomain import}. Closing it here leaves it to those who have it
     * besides; once the process that registered it has closed it, it is of no use to anyone. Its
     * memory is the other's: its {@linkplain MemoryRegion#segment() segment} is empty, and it
     * cannot be sent inline. In C: {@code ibv_import_mr}; {@link MemoryRegion#close()} is {@code
     * ibv_unimport_mr}.
     *
     * @param handle the other's {@link MemoryRegion#handle}
     * @param start the other's {@link MemoryRegion#startAddress}, which nobody else tells
     * @param access likewise
     * @throws VerbsException with EOPNOTSUPP where the device cannot share it
     */
    public MemoryRegion importRegion(int handle, long start, Access... access)
            throws VerbsException {
        return MemoryRegion.imported(this, handle, start, Access.setOf(access));
    }

    /**
     * Registers no memory at all: what is received or read into the region is dropped, what is sent
     * from it is zeros. For the parts of a message that nobody wants. Longer than any request. In
     * C: {@code ibv_alloc_null_mr}.
     *
     * @throws VerbsException if the device does not offer it
     */
    public MemoryRegion newNullRegion() throws VerbsException {
        return MemoryRegion.ofNothing(this);
    }

    /**
     * Has pages of {@linkplain Access#ON_DEMAND on-demand} regions brought in before requests need
     * them. Advice only: the device may ignore it, and pages may go again. Does not wait for it. In
     * C: {@code ibv_advise_mr}.
     *
     * @throws IllegalArgumentException if a region is not on demand: not every driver looks
     * @throws VerbsException if the device does not offer it, or refuses it; with EPERM if what is
     *     to be written may not be
     */
    public void advise(PageAdvice advice, MemorySlice... pieces) throws VerbsException {
        advise(advice, false, List.of(pieces));
    }

    /** As {@link #advise}, and waits until it is done, for as long as that takes. */
    public void adviseAndWait(PageAdvice advice, MemorySlice... pieces) throws VerbsException {
        advise(advice, true, List.of(pieces));
    }

    private void advise(PageAdvice advice, boolean waits, List<MemorySlice> pieces)
            throws VerbsException {
        for (var piece : pieces) {
            if (!piece.region().access().contains(Access.ON_DEMAND)) {
                throw new IllegalArgumentException(piece.region() + " is not ON_DEMAND");
            }
        }
        var used =
                Stream.concat(
                                Stream.of(lifetime()),
                                pieces.stream().map(piece -> piece.region().ownLifetime()))
                        .toList();
        Lifetime.holdAll(used);
        try {
            PlatformCalls.call(() -> {
                device.library()
                        .memory()
                        .advise(
                                device.context(),
                                address(),
                                advice,
                                waits,
                                pieces.stream().map(MemorySlice::piece).toList(),
                                Attempt.to(
                                        "ibv_advise_mr",
                                        () -> "%s for %s".formatted(advice, pieces)));
                return this;
            });
        } finally {
            used.forEach(Lifetime::release);
        }
    }

    /**
     * Makes a window that is bound anew at any time. It shows nothing yet. In C: {@code
     * ibv_alloc_mw}.
     *
     * @throws VerbsException if the device does not offer it
     */
    public Type1Window newType1Window() throws VerbsException {
        return new Type1Window(this);
    }

    /**
     * Makes a window that is bound, taken away, and bound again. It shows nothing yet. In C: {@code
     * ibv_alloc_mw}.
     *
     * @throws VerbsException if the device does not offer it
     */
    public Type2Window newType2Window() throws VerbsException {
        return new Type2Window(this);
    }

    /**
     * Makes a queue pair, of the kind that the options name. In C: {@code ibv_create_qp}.
     *
     * @throws VerbsException if the device refuses, or if the queue pair could overrun its
     *     completion queue
     */
    public <Q extends QueuePair> Q newQueuePair(QueuePairOptions<Q> options) throws VerbsException {
        return options.make(this);
    }

    /**
     * Makes a receive queue that queue pairs whose completions are polled can share. In C: {@code
     * ibv_create_srq}.
     *
     * @param capacity how many receives it must have room for
     * @throws VerbsException if the device refuses it
     */
    public PolledSharedReceiveQueue newSharedReceiveQueue(int capacity) throws VerbsException {
        return newSharedReceiveQueue(capacity, 1);
    }

    /**
     * The same, for receives that scatter.
     *
     * @param elements how many pieces of memory a receive can scatter to
     */
    public PolledSharedReceiveQueue newSharedReceiveQueue(int capacity, int elements)
            throws VerbsException {
        return new PolledSharedReceiveQueue(this, capacity, elements);
    }

    /**
     * Makes a receive queue that queue pairs with a {@link CompletionDispatcher} can share. In C:
     * {@code ibv_create_srq}.
     *
     * @param capacity how many receives it must have room for
     * @throws VerbsException if the device refuses it
     */
    public AsyncSharedReceiveQueue newAsyncSharedReceiveQueue(int capacity) throws VerbsException {
        return newAsyncSharedReceiveQueue(capacity, 1, Duration.ofSeconds(10));
    }

    /**
     * The same, for receives that scatter.
     *
     * @param elements how many pieces of memory a receive can scatter to
     * @param slotTimeout how long a receive waits for a free slot before it is posted
     */
    public AsyncSharedReceiveQueue newAsyncSharedReceiveQueue(
            int capacity, int elements, Duration slotTimeout) throws VerbsException {
        return new AsyncSharedReceiveQueue(this, capacity, elements, slotTimeout);
    }

    /**
     * Makes a receive queue of an XRC domain, which senders name by its number. In C: {@code
     * ibv_create_srq_ex} with {@code IBV_SRQT_XRC}.
     *
     * @param completions where its receives complete
     * @param capacity how many receives it must have room for
     * @throws VerbsException if the device refuses it, or the queue could overrun its completion
     *     queue
     */
    public PolledXrcSharedReceiveQueue newXrcSharedReceiveQueue(
            XrcDomain domain, CompletionQueue completions, int capacity) throws VerbsException {
        return newXrcSharedReceiveQueue(domain, completions, capacity, 1);
    }

    /**
     * The same, for receives that scatter.
     *
     * @param elements how many pieces of memory a receive can scatter to
     */
    public PolledXrcSharedReceiveQueue newXrcSharedReceiveQueue(
            XrcDomain domain, CompletionQueue completions, int capacity, int elements)
            throws VerbsException {
        return new PolledXrcSharedReceiveQueue(this, domain, completions, capacity, elements);
    }

    /**
     * Makes a receive queue of an XRC domain, which senders name by its number, and whose receives
     * are awaited. In C: {@code ibv_create_srq_ex} with {@code IBV_SRQT_XRC}.
     *
     * @param completions where its receives complete
     * @param capacity how many receives it must have room for
     * @throws VerbsException if the device refuses it, or the queue could overrun its completion
     *     queue
     */
    public AsyncXrcSharedReceiveQueue newXrcSharedReceiveQueue(
            XrcDomain domain, CompletionDispatcher completions, int capacity)
            throws VerbsException {
        return newXrcSharedReceiveQueue(domain, completions, capacity, 1, Duration.ofSeconds(10));
    }

    /**
     * The same, for receives that scatter.
     *
     * @param elements how many pieces of memory a receive can scatter to
     * @param slotTimeout how long a receive waits for a free slot before it is posted
     */
    public AsyncXrcSharedReceiveQueue newXrcSharedReceiveQueue(
            XrcDomain domain,
            CompletionDispatcher completions,
            int capacity,
            int elements,
            Duration slotTimeout)
            throws VerbsException {
        return new AsyncXrcSharedReceiveQueue(
                this, domain, completions, capacity, elements, slotTimeout);
    }

    /**
     * Resolves the way to a port or to a multicast group, for datagrams of this domain's queue
     * pairs; see {@link DatagramQueuePair#addressOf(Endpoint)}. May wait for the network to find
     * the peer. In C: {@code ibv_create_ah}.
     *
     * @throws VerbsException if the device refuses it, or the peer is not found
     */
    public AddressHandle newAddressHandle(AddressVector address) throws VerbsException {
        return new AddressHandle(this, address);
    }

    Lifetime ownLifetime() {
        return lifetime();
    }

    static String describe(long bytes, Set<Access> access, Device device) {
        return String.format(
                Locale.ROOT,
                "for %,d bytes %s on %s",
                bytes,
                Access.describe(access),
                device.name());
    }
}
