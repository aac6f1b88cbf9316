package org.jrdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.handle.Registration;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.memory.DeviceMemory;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.memory.Type1Window;
import org.jrdma.verbs.memory.Type2Window;
import org.jrdma.verbs.memory.access.MemoryAccess;
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
    private final DomainHandle handle;

    ProtectionDomain(Device device, DomainHandle handle) {
        super(handle.address(), handle.lifetime());
        this.device = device;
        this.handle = handle;
        handle.belongsTo(this);
    }

    /**
     * Makes this domain again, for what only the threads of a thread domain use: queue pairs,
     * shared receive queues, and {@linkplain CompletionQueueOptions#parentDomain completion
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
        return new ProtectionDomain(
                device,
                handle.newParent(threads == null ? null : threads.threadsFor(handle), memory));
    }

    DomainHandle domainHandle() {
        return handle;
    }

    /**
     * The kernel's number for it, by which another process {@linkplain
     * Device#importProtectionDomain imports} it.
     */
    public int handle() {
        return handle.kernelHandle();
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
        return MemoryAccess.get().arena(handle, pages, Access.setOf(access));
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
        return region(Registration.of(handle, memory, rights, buffer));
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
        return region(Registration.of(handle, memory, Access.setOf(access), memory));
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
        return MemoryAccess.get().region(handle, memory, offset, length, Access.setOf(access));
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
        return region(
                Registration.ofDmaBuf(
                        handle, descriptor, offset, length, start, Access.setOf(access)));
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
        return region(Registration.ofEverything(handle, Access.setOf(access)));
    }

    /**
     * A region that another process registered in the domain of which this is the {@linkplain
     * Device#importProtectionDomain import}. Closing it here leaves it to those who have it
     * besides; once the process that registered it has closed it, it is of no use to anyone. Its
     * memory is the other's: its {@linkplain MemoryRegion#segment() segment} is empty, and it
     * cannot be sent inline. In C: {@code ibv_import_mr}; {@link MemoryRegion#close()} is {@code
     * ibv_unimport_mr}.
     *
     * @param number the other's {@link MemoryRegion#handle}
     * @param start the other's {@link MemoryRegion#startAddress}, which nobody else tells
     * @param access likewise
     * @throws VerbsException with EOPNOTSUPP where the device cannot share it
     */
    public MemoryRegion importRegion(int number, long start, Access... access)
            throws VerbsException {
        return region(Registration.importFrom(handle, number, start, Access.setOf(access)));
    }

    /**
     * Registers no memory at all: what is received or read into the region is dropped, what is sent
     * from it is zeros. For the parts of a message that nobody wants. Longer than any request. In
     * C: {@code ibv_alloc_null_mr}.
     *
     * @throws VerbsException if the device does not offer it
     */
    public MemoryRegion newNullRegion() throws VerbsException {
        return region(Registration.ofNothing(handle));
    }

    /**
     * Moves a region to this domain, of the same device; like {@link MemoryRegion#reregister}. It
     * is closed with its arena or with this domain, whichever is closed first. In C: {@code
     * ibv_rereg_mr}.
     *
     * @return the region as it is now, with its own keys; the other one is closed
     * @throws VerbsException if the device refuses
     */
    public MemoryRegion reregister(MemoryRegion region) throws VerbsException {
        return region(MemoryAccess.get().registration(region).changeDomain(handle));
    }

    private static MemoryRegion region(Registration registration) {
        return MemoryAccess.get().region(registration);
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
                                pieces.stream().map(piece -> registration(piece).lifetime()))
                        .toList();
        HeldCalls.call(
                used,
                () -> {
                    handle.device()
                            .library()
                            .memory()
                            .advise(
                                    handle.device().context(),
                                    address(),
                                    advice,
                                    waits,
                                    pieces.stream().map(ProtectionDomain::piece).toList(),
                                    Attempt.to(
                                            "ibv_advise_mr",
                                            () -> "%s for %s".formatted(advice, pieces)));
                    return this;
                });
    }

    private static Registration registration(MemorySlice slice) {
        return MemoryAccess.get().registration(slice.region());
    }

    private static MemoryFunctions.Piece piece(MemorySlice slice) {
        var region = slice.region();
        return new MemoryFunctions.Piece(
                region.startAddress() + slice.offset(), slice.length(), region.localKey());
    }

    /**
     * Makes a window that is bound anew at any time. It shows nothing yet. In C: {@code
     * ibv_alloc_mw}.
     *
     * @throws VerbsException if the device does not offer it
     */
    public Type1Window newType1Window() throws VerbsException {
        return MemoryAccess.get().type1Window(handle);
    }

    /**
     * Makes a window that is bound, taken away, and bound again. It shows nothing yet. In C: {@code
     * ibv_alloc_mw}.
     *
     * @throws VerbsException if the device does not offer it
     */
    public Type2Window newType2Window() throws VerbsException {
        return MemoryAccess.get().type2Window(handle);
    }

    /**
     * Creates a queue pair of the type that the options name. The methods below create queue pairs
     * with default options. In C: {@code ibv_create_qp}.
     *
     * @throws VerbsException if the device refuses, or if the queue pair could overrun its
     *     completion queue
     */
    public <Q extends QueuePair> Q newQueuePair(QueuePairOptions<Q> options) throws VerbsException {
        return options.make(this);
    }

    /**
     * Creates a reliable connected queue pair that is polled, with default options. In C: {@code
     * IBV_QPT_RC}.
     */
    public PolledQueuePair newReliableQueuePair(CompletionQueue completions) throws VerbsException {
        return newQueuePair(QueuePairOptions.reliable(completions));
    }

    /**
     * Creates a reliable connected queue pair that is awaited, with default options. In C: {@code
     * IBV_QPT_RC}.
     */
    public AsyncQueuePair newReliableQueuePair(CompletionDispatcher completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.reliable(completions));
    }

    /**
     * Creates an unreliable connected queue pair that is polled, with default options. In C: {@code
     * IBV_QPT_UC}.
     */
    public PolledQueuePair newUnreliableQueuePair(CompletionQueue completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.unreliable(completions));
    }

    /**
     * Creates an unreliable connected queue pair that is awaited, with default options. In C:
     * {@code IBV_QPT_UC}.
     */
    public AsyncQueuePair newUnreliableQueuePair(CompletionDispatcher completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.unreliable(completions));
    }

    /**
     * Creates a queue pair for datagrams that is polled, with default options. In C: {@code
     * IBV_QPT_UD}.
     */
    public PolledDatagramQueuePair newDatagramQueuePair(CompletionQueue completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.datagrams(completions));
    }

    /**
     * Creates a queue pair for datagrams that is awaited, with default options. In C: {@code
     * IBV_QPT_UD}.
     */
    public AsyncDatagramQueuePair newDatagramQueuePair(CompletionDispatcher completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.datagrams(completions));
    }

    /**
     * Creates a queue pair for raw packets that is polled, with default options. In C: {@code
     * IBV_QPT_RAW_PACKET}.
     */
    public PolledRawQueuePair newRawQueuePair(CompletionQueue completions) throws VerbsException {
        return newQueuePair(QueuePairOptions.rawPackets(completions));
    }

    /**
     * Creates a queue pair for raw packets that is awaited, with default options. In C: {@code
     * IBV_QPT_RAW_PACKET}.
     */
    public AsyncRawQueuePair newRawQueuePair(CompletionDispatcher completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.rawPackets(completions));
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
        return new PolledSharedReceiveQueue(handle, capacity, elements, null);
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
        return new AsyncSharedReceiveQueue(handle, capacity, elements, slotTimeout, null);
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
}
