package org.jrdma.verbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.util.List;
import java.util.Set;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.MappedFile;
import org.jrdma.verbs.handle.MemoryRegistration;
import org.jrdma.verbs.memory.BufferPool;
import org.jrdma.verbs.memory.DeviceMemory;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.memory.Type1Window;
import org.jrdma.verbs.memory.Type2Window;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.QueueMemoryAllocator;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A protection domain: a group of registered memory and queue pairs. A queue pair can access only
 * memory that is registered in its own domain.
 *
 * <p>Owned by its {@link Device}. Safe for use by multiple threads. In C: {@code struct ibv_pd};
 * {@link #close()} is {@code ibv_dealloc_pd}.
 */
public final class ProtectionDomain extends NativeObject {

    /**
     * The classes of {@link MemorySegment.Scope} whose memory a program cannot free. The JDK has no
     * public method that reports whether a scope can be closed, so scopes of all other classes are
     * treated as closeable.
     */
    private static final Set<Class<?>> UNCLOSEABLE_SCOPES =
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
     * Creates a parent domain: an alias of this domain for queue pairs, shared receive queues and
     * {@linkplain CompletionQueueOptions#parentDomain completion queues} that only the threads of a
     * thread domain use. Queue pairs of the parent domain can access the memory that is registered
     * in this domain. The SDK does not check the threads: the program must make sure that only one
     * thread at a time posts to, polls, modifies or closes these objects. Otherwise some providers
     * abort the process. In C: {@code ibv_alloc_parent_domain}; {@link #close()} is {@code
     * ibv_dealloc_pd}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device does not support parent domains
     */
    public ProtectionDomain newParentDomainUnguarded(ThreadDomain threads) throws VerbsException {
        return newParentDomain(threads, null);
    }

    /**
     * Creates a parent domain whose queues are stored in memory that the caller allocates. Any
     * thread can use its objects. The memory must stay valid until the provider releases it through
     * {@link QueueMemoryAllocator#release}, because the provider or the adapter writes to it. In C:
     * {@code ibv_alloc_parent_domain} with {@code IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device does not support parent domains
     */
    public ProtectionDomain newParentDomainUnguarded(QueueMemoryAllocator memory)
            throws VerbsException {
        return newParentDomain(null, memory);
    }

    /**
     * Creates a parent domain for the threads of a thread domain, whose queues are stored in memory
     * that the caller allocates. The requirements of both other methods with this name apply.
     */
    public ProtectionDomain newParentDomainUnguarded(
            ThreadDomain threads, QueueMemoryAllocator memory) throws VerbsException {
        return newParentDomain(threads, memory);
    }

    private ProtectionDomain newParentDomain(
            @Nullable ThreadDomain threads, @Nullable QueueMemoryAllocator memory)
            throws VerbsException {
        return new ProtectionDomain(
                device,
                handle.newParent(threads == null ? null : threads.threadsFor(handle), memory));
    }

    DomainHandle domainHandle() {
        return handle;
    }

    /**
     * The number of this domain in the kernel, which another process passes to {@link
     * Device#importProtectionDomain}.
     */
    public int handle() {
        return handle.kernelHandle();
    }

    /** The device that owns this domain. */
    public Device device() {
        return device;
    }

    /** Creates an arena whose segments are registered with the given access rights. */
    public RegisteredArena newArena(Access... access) {
        return newArena(RegisteredArena.PageSize.NORMAL, access);
    }

    /**
     * Creates an arena whose segments have the given page size and are registered with the given
     * access rights.
     */
    public RegisteredArena newArena(RegisteredArena.PageSize pages, Access... access) {
        return MemoryPackageInternals.get().arena(handle, pages, Access.setOf(access));
    }

    /**
     * Creates a pool of buffers that are registered with the given access rights.
     *
     * @param maxBytes the limit for the total size of the buffers, at least the size of a page
     */
    public BufferPool newBufferPool(long maxBytes, Access... access) {
        return MemoryPackageInternals.get().bufferPool(handle, maxBytes, Access.setOf(access));
    }

    /**
     * Registers a direct buffer, from its position to its limit. The region keeps the buffer
     * reachable. In C: {@code ibv_reg_mr}; with an optional access right, {@code ibv_reg_mr_iova2}.
     *
     * @throws IllegalArgumentException if the buffer is not direct, is empty, is read-only although
     *     {@code access} contains LOCAL_WRITE, or is a view of a segment whose arena can be closed
     * @throws VerbsException if the system rejects the registration; the message contains the limit
     *     of locked memory
     */
    public MemoryRegion register(ByteBuffer buffer, Access... access) throws VerbsException {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException(
                    "Cannot register a heap buffer, because the garbage collector may move it. Use"
                            + " a direct buffer.");
        }
        var rights = Access.setOf(access);
        if (buffer.isReadOnly() && rights.contains(Access.LOCAL_WRITE)) {
            throw new IllegalArgumentException(
                    "A read-only buffer cannot be registered with LOCAL_WRITE");
        }
        var memory = MemorySegment.ofBuffer(buffer);
        if (!UNCLOSEABLE_SCOPES.contains(memory.scope().getClass())) {
            throw new IllegalArgumentException(
                    "Cannot register a buffer that is a view of a segment whose arena can be"
                            + " closed. Allocate it with newArena(), or use registerUnguarded() and"
                            + " keep the arena open.");
        }
        return region(MemoryRegistration.of(handle, memory, rights, buffer));
    }

    /**
     * Registers memory whose lifetime the SDK does not control. The caller must not free the memory
     * before the region is closed; otherwise an adapter may write to memory that has been reused.
     * In C: {@code ibv_reg_mr}; with an optional access right, {@code ibv_reg_mr_iova2}.
     *
     * @throws IllegalArgumentException if the segment is on the heap or empty
     * @throws VerbsException if the system rejects the registration; the message contains the limit
     *     of locked memory
     */
    public MemoryRegion registerUnguarded(MemorySegment memory, Access... access)
            throws VerbsException {
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "Cannot register a heap segment, because the garbage collector may move it. Use"
                            + " native memory.");
        }
        return region(MemoryRegistration.of(handle, memory, Access.setOf(access), memory));
    }

    /**
     * Maps a part of a file into this process and registers it. The region owns the mapping:
     * closing the region deregisters the memory and then unmaps it, so that its segment becomes
     * inaccessible. The close waits up to ten seconds for I/O operations of other threads that use
     * the segment. The mapping is writable if the rights contain {@link Access#LOCAL_WRITE}, and
     * read-only otherwise. The file can be closed and deleted while the region is open, but must
     * not be truncated. The kernel may reject writable regions of files that are not in memory. In
     * C: {@code mmap}, {@code ibv_reg_mr}; with an optional access right, {@code ibv_reg_mr_iova2}.
     *
     * @param file a file that is open for reading and, for a writable mapping, for writing
     * @throws IndexOutOfBoundsException if the part is not within the file
     * @throws IllegalArgumentException if {@code length} is 0
     * @throws java.nio.channels.NonReadableChannelException if the file is not open for reading
     * @throws java.nio.channels.NonWritableChannelException if the file must be open for writing
     * @throws VerbsException if the system rejects the registration; the message contains the limit
     *     of locked memory
     * @throws IOException if the file cannot be mapped
     */
    public MemoryRegion registerMapped(FileChannel file, long offset, long length, Access... access)
            throws IOException {
        var rights = Access.setOf(access);
        var mode = rights.contains(Access.LOCAL_WRITE) ? MapMode.READ_WRITE : MapMode.READ_ONLY;
        var mapped = MappedFile.map(file, mode, offset, length);
        try {
            return region(MemoryRegistration.of(handle, mapped.segment(), rights, mapped));
        } catch (Throwable e) {
            mapped.unmap();
            throw e;
        }
    }

    /**
     * Registers a part of device memory. Its first byte has address 0 in work requests and for
     * peers, as with {@link Access#ZERO_BASED}. The region has no local segment. In C: {@code
     * ibv_reg_dm_mr}.
     *
     * @throws IndexOutOfBoundsException if the range is not within the memory
     * @throws IllegalArgumentException if the memory belongs to another device
     * @throws VerbsException if the device rejects the registration
     */
    public MemoryRegion registerDeviceMemory(
            DeviceMemory memory, long offset, long length, Access... access) throws VerbsException {
        return MemoryPackageInternals.get()
                .region(handle, memory, offset, length, Access.setOf(access));
    }

    /**
     * Registers memory of another device, for example a GPU, that the kernel shares as a dma-buf.
     * The region keeps the memory allocated after the caller has closed the descriptor. The memory
     * is not mapped into this process: the {@linkplain MemoryRegion#segment() segment} of the
     * region is empty, and its data cannot be sent inline. In C: {@code ibv_reg_dmabuf_mr}.
     *
     * @param descriptor the file descriptor of the dma-buf
     * @param offset the offset of the region in the dma-buf, in bytes
     * @param start the address of the region's first byte in work requests and for peers, with the
     *     same offset in a page as {@code offset}
     * @throws VerbsException if the device does not support dma-bufs or rejects the registration
     */
    public MemoryRegion registerDmaBuf(
            int descriptor, long offset, long length, long start, Access... access)
            throws VerbsException {
        return region(
                MemoryRegistration.ofDmaBuf(
                        handle, descriptor, offset, length, start, Access.setOf(access)));
    }

    /**
     * Registers the whole address space of this process, including future memory, with {@linkplain
     * Access#ON_DEMAND on-demand} paging. The offset of a slice of this region is the address of
     * the slice. The caller must not free the memory of a slice before all requests that use the
     * slice have completed; otherwise an adapter may write to memory that has been reused. In C:
     * {@code ibv_reg_mr} with {@code SIZE_MAX}.
     *
     * @throws VerbsException if the device does not support on-demand paging of the whole address
     *     space, as reported by {@link ExtendedDeviceAttributes#implicitOnDemand}
     */
    public MemoryRegion registerAddressSpaceUnguarded(Access... access) throws VerbsException {
        return region(MemoryRegistration.ofAddressSpace(handle, Access.setOf(access)));
    }

    /**
     * Imports a region of another process. This domain must have been {@linkplain
     * Device#importProtectionDomain imported} from the domain of that region. Closing the imported
     * region does not affect other processes. After the process that registered the region has
     * closed it, no process can use it. The memory is not mapped into this process: the {@linkplain
     * MemoryRegion#segment() segment} of the imported region is empty, and its data cannot be sent
     * inline. In C: {@code ibv_import_mr}; {@link MemoryRegion#close()} is {@code ibv_unimport_mr}.
     *
     * @param number the {@link MemoryRegion#handle} in the other process
     * @param start the {@link MemoryRegion#startAddress} in the other process, which the device
     *     does not report
     * @param access the access rights of the region, which the device does not report
     * @throws VerbsException with EOPNOTSUPP if the device cannot share regions between processes
     */
    public MemoryRegion importRegion(int number, long start, Access... access)
            throws VerbsException {
        return region(MemoryRegistration.importFrom(handle, number, start, Access.setOf(access)));
    }

    /**
     * Creates a null memory region, which has no memory and is used for parts of messages that the
     * program does not need. Data that is received or read into the region is discarded, and data
     * sent from it is zeros. The region is longer than any request. In C: {@code
     * ibv_alloc_null_mr}.
     *
     * @throws VerbsException if the device does not support null regions
     */
    public MemoryRegion newNullRegion() throws VerbsException {
        return region(MemoryRegistration.ofNull(handle));
    }

    /**
     * Moves a region of the same device to this domain. As with {@link MemoryRegion#reregister}, no
     * work request that uses the region may be in flight, and the remote key that the program sent
     * to peers becomes invalid. The region is closed with its arena or with this domain, whichever
     * is closed first. In C: {@code ibv_rereg_mr}.
     *
     * @return the moved region, with its own keys; the original object is closed
     * @throws VerbsException if the device rejects the change. In that case the region is
     *     unchanged, or it is closed if the device has made it unusable
     */
    public MemoryRegion reregister(MemoryRegion region) throws VerbsException {
        return region(MemoryPackageInternals.get().registration(region).changeDomain(handle));
    }

    private static MemoryRegion region(MemoryRegistration registration) {
        return MemoryPackageInternals.get().region(registration);
    }

    /**
     * Advises the device to prefetch pages of {@linkplain Access#ON_DEMAND on-demand} regions
     * before requests access them. The device may ignore the advice, and the kernel may evict the
     * pages before they are used. Returns without waiting for the prefetch. In C: {@code
     * ibv_advise_mr}.
     *
     * @throws IllegalArgumentException if a region is not registered with ON_DEMAND. The SDK checks
     *     this, because some drivers do not
     * @throws VerbsException if the device does not support prefetching or rejects the advice; with
     *     EPERM if the advice is for writing and a region is not writable
     */
    public void advise(PageAdvice advice, MemorySlice... slices) throws VerbsException {
        MemoryPackageInternals.get().advise(handle, advice, false, List.of(slices));
    }

    /**
     * Advises the device to prefetch pages as {@link #advise} does, and waits until the device has
     * done so. The wait has no timeout.
     */
    public void adviseAndWait(PageAdvice advice, MemorySlice... slices) throws VerbsException {
        MemoryPackageInternals.get().advise(handle, advice, true, List.of(slices));
    }

    /**
     * Allocates an unbound memory window of type 1, which can be bound again at any time. In C:
     * {@code ibv_alloc_mw}.
     *
     * @throws VerbsException if the device does not support memory windows
     */
    public Type1Window newType1Window() throws VerbsException {
        return MemoryPackageInternals.get().type1Window(handle);
    }

    /**
     * Allocates an unbound memory window of type 2, which must be invalidated before it can be
     * bound again. In C: {@code ibv_alloc_mw}.
     *
     * @throws VerbsException if the device does not support memory windows of type 2
     */
    public Type2Window newType2Window() throws VerbsException {
        return MemoryPackageInternals.get().type2Window(handle);
    }

    /**
     * Creates a queue pair of the type that the options specify. The methods {@code
     * newReliableQueuePair}, {@code newUnreliableQueuePair}, {@code newDatagramQueuePair} and
     * {@code newRawQueuePair} use the default options. In C: {@code ibv_create_qp}.
     *
     * @throws VerbsException if the device rejects the queue pair, or if the queue pair could
     *     overrun its completion queue
     */
    public <Q extends QueuePair> Q newQueuePair(QueuePairOptions<Q> options) throws VerbsException {
        return options.make(this);
    }

    /** Creates a polled reliable queue pair. In C: {@code IBV_QPT_RC}. */
    public PolledQueuePair newReliableQueuePair(CompletionQueue completions) throws VerbsException {
        return newQueuePair(QueuePairOptions.reliable(completions));
    }

    /** Creates an asynchronous reliable queue pair. In C: {@code IBV_QPT_RC}. */
    public AsyncQueuePair newReliableQueuePair(CompletionDispatcher completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.reliable(completions));
    }

    /** Creates a polled unreliable queue pair. In C: {@code IBV_QPT_UC}. */
    public PolledQueuePair newUnreliableQueuePair(CompletionQueue completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.unreliable(completions));
    }

    /** Creates an asynchronous unreliable queue pair. In C: {@code IBV_QPT_UC}. */
    public AsyncQueuePair newUnreliableQueuePair(CompletionDispatcher completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.unreliable(completions));
    }

    /** Creates a polled datagram queue pair. In C: {@code IBV_QPT_UD}. */
    public PolledDatagramQueuePair newDatagramQueuePair(CompletionQueue completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.datagrams(completions));
    }

    /** Creates an asynchronous datagram queue pair. In C: {@code IBV_QPT_UD}. */
    public AsyncDatagramQueuePair newDatagramQueuePair(CompletionDispatcher completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.datagrams(completions));
    }

    /** Creates a polled raw packet queue pair. In C: {@code IBV_QPT_RAW_PACKET}. */
    public PolledRawQueuePair newRawQueuePair(CompletionQueue completions) throws VerbsException {
        return newQueuePair(QueuePairOptions.rawPackets(completions));
    }

    /** Creates an asynchronous raw packet queue pair. In C: {@code IBV_QPT_RAW_PACKET}. */
    public AsyncRawQueuePair newRawQueuePair(CompletionDispatcher completions)
            throws VerbsException {
        return newQueuePair(QueuePairOptions.rawPackets(completions));
    }

    /** Creates a shared receive queue for polled queue pairs, with one slice per receive. */
    public PolledSharedReceiveQueue newPolledSharedReceiveQueue(int capacity)
            throws VerbsException {
        return newPolledSharedReceiveQueue(SharedReceiveQueueOptions.capacity(capacity));
    }

    /**
     * Creates a shared receive queue for polled queue pairs. In C: {@code ibv_create_srq}.
     *
     * @throws VerbsException if the device rejects the queue
     */
    public PolledSharedReceiveQueue newPolledSharedReceiveQueue(SharedReceiveQueueOptions options)
            throws VerbsException {
        return new PolledSharedReceiveQueue(handle, options, null);
    }

    /** Creates a shared receive queue for asynchronous queue pairs, with one slice per receive. */
    public AsyncSharedReceiveQueue newAsyncSharedReceiveQueue(int capacity) throws VerbsException {
        return newAsyncSharedReceiveQueue(SharedReceiveQueueOptions.capacity(capacity));
    }

    /**
     * Creates a shared receive queue for asynchronous queue pairs. In C: {@code ibv_create_srq}.
     *
     * @throws VerbsException if the device rejects the queue
     */
    public AsyncSharedReceiveQueue newAsyncSharedReceiveQueue(SharedReceiveQueueOptions options)
            throws VerbsException {
        return new AsyncSharedReceiveQueue(handle, options, null);
    }

    /**
     * Creates a polled shared receive queue of an XRC domain. Senders select the queue by its
     * {@linkplain SharedReceiveQueue#number number}, and can then access memory in this protection
     * domain. The queue is closed with this protection domain, the XRC domain or the completion
     * queue, whichever is closed first. In C: {@code ibv_create_srq_ex} with {@code IBV_SRQT_XRC}.
     *
     * @param completions the completion queue in which the receives complete
     * @throws VerbsException if the device cannot create the queue, or the queue could overrun its
     *     completion queue
     */
    public PolledSharedReceiveQueue newXrcSharedReceiveQueue(
            XrcDomain xrcDomain, CompletionQueue completions, SharedReceiveQueueOptions options)
            throws VerbsException {
        return new PolledSharedReceiveQueue(
                handle, options, xrcDomain.binding(handle, completions.nativeQueue(), completions));
    }

    /**
     * Creates an asynchronous shared receive queue of an XRC domain; see {@link
     * #newXrcSharedReceiveQueue(XrcDomain, CompletionQueue, SharedReceiveQueueOptions)}.
     */
    public AsyncSharedReceiveQueue newXrcSharedReceiveQueue(
            XrcDomain xrcDomain,
            CompletionDispatcher completions,
            SharedReceiveQueueOptions options)
            throws VerbsException {
        return new AsyncSharedReceiveQueue(
                handle, options, xrcDomain.binding(handle, completions.nativeQueue(), completions));
    }

    /**
     * Creates an address handle, which queue pairs of this domain use to send datagrams to a port
     * or to a multicast group. {@link DatagramQueuePair#addressOf(Endpoint)} creates the address.
     * May block while the address is resolved on the network. In C: {@code ibv_create_ah}.
     *
     * @throws VerbsException if the device rejects the address, or the address cannot be resolved
     */
    public AddressHandle newAddressHandle(AddressVector address) throws VerbsException {
        return new AddressHandle(this, address);
    }
}
