package org.jrdma.verbs.xrc;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.verbs.AsyncSharedReceiveQueue;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledSharedReceiveQueue;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.access.VerbsAccess;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.XrcFunctions;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jrdma.verbs.queue.WorkQueue;
import org.jspecify.annotations.Nullable;

/**
 * An XRC domain: a group of shared receive queues that extended reliable connections can deliver
 * messages to.
 *
 * <p>A receiving queue pair of the domain can deliver messages to each shared receive queue of the
 * domain, even if another process created the queue. Processes share a domain by opening it with
 * the same file. A sender then needs only one connection to the machine in order to reach all of
 * these processes.
 *
 * <p>Owned by its {@link Device}. Safe for use by multiple threads. The domain in the kernel exists
 * until the last process has closed it. In C: {@code struct ibv_xrcd}; {@link #close()} is {@code
 * ibv_close_xrcd}.
 */
public final class XrcDomain extends NativeObject {

    private static final int NO_FILE = -1;
    private static final Duration SLOT_TIMEOUT = Duration.ofSeconds(10);

    private final Device device;
    private final DeviceHandle handle;
    private final NativeResource domain;

    private enum OpenMode {
        CREATE_NEW(LinuxCalls.O_CREAT | LinuxCalls.O_EXCL),
        OPEN_OR_CREATE(LinuxCalls.O_CREAT),
        OPEN_EXISTING(0);

        private final int flags;

        OpenMode(int flags) {
            this.flags = flags;
        }
    }

    private XrcDomain(Device device, NativeResource domain) {
        super(domain.address(), domain.lifetime());
        this.device = device;
        this.handle = VerbsAccess.get().handle(device);
        this.domain = domain;
    }

    /**
     * Creates an XRC domain that is not associated with a file, so that other processes cannot open
     * it. In C: {@code ibv_open_xrcd} without a file.
     *
     * @throws VerbsException with EOPNOTSUPP if the device does not support XRC; see {@link
     *     org.jrdma.verbs.model.DeviceCapability#EXTENDED_RELIABLE_CONNECTION}
     */
    public static XrcDomain create(Device device) throws VerbsException {
        var handle = VerbsAccess.get().handle(device);
        return new XrcDomain(
                device, handle.call(() -> create(handle, null, "", OpenMode.OPEN_OR_CREATE)));
    }

    /**
     * Creates the XRC domain of a file. The file only identifies the domain; its content is
     * ignored. Every process that can read the file can open the domain. In C: {@code
     * ibv_open_xrcd} with {@code O_CREAT} and {@code O_EXCL}.
     *
     * @throws VerbsException if the file cannot be read, or the file already has a domain on this
     *     device
     */
    public static XrcDomain create(Device device, Path file) throws VerbsException {
        return open(device, file, OpenMode.CREATE_NEW);
    }

    /**
     * Opens the XRC domain of a file, or creates the domain if the file has none on this device. In
     * C: {@code ibv_open_xrcd} with {@code O_CREAT}.
     *
     * @throws VerbsException if the file cannot be read
     */
    public static XrcDomain open(Device device, Path file) throws VerbsException {
        return open(device, file, OpenMode.OPEN_OR_CREATE);
    }

    /**
     * Opens the XRC domain of a file if the domain already exists. In C: {@code ibv_open_xrcd}.
     *
     * @throws VerbsException if the file cannot be read; with EAGAIN if the file has no domain on
     *     this device
     */
    public static XrcDomain join(Device device, Path file) throws VerbsException {
        return open(device, file, OpenMode.OPEN_EXISTING);
    }

    private static XrcDomain open(Device device, Path path, OpenMode mode) throws VerbsException {
        OpenFile file;
        try {
            file = OpenFile.forReading(path);
        } catch (FabricException e) {
            throw new VerbsException("ibv_open_xrcd", e.getMessage());
        }
        try {
            var handle = VerbsAccess.get().handle(device);
            return new XrcDomain(
                    device, handle.call(() -> create(handle, file, " of " + path, mode)));
        } catch (VerbsException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /**
     * Opens or creates a domain. Closing the returned resource also closes the file.
     *
     * @param file the file, or null for a domain without a file
     * @param ofFile the description of the file in messages; empty for a domain without a file
     */
    private static NativeResource create(
            DeviceHandle device, @Nullable OpenFile file, String ofFile, OpenMode mode)
            throws VerbsException {
        var context = device.context();
        var address =
                XrcFunctions.open(
                        context,
                        file == null ? NO_FILE : file.number(),
                        mode.flags,
                        new CheckedCall(
                                "ibv_open_xrcd",
                                () ->
                                        "for the %s XRC domain%s on %s"
                                                .formatted(
                                                        mode == OpenMode.OPEN_EXISTING
                                                                ? "existing"
                                                                : "new",
                                                        ofFile,
                                                        device.name()),
                                errno -> advice(errno, mode)));
        var name = "XRC domain %x%s of %s".formatted(address.address(), ofFile, device.name());
        return new NativeResource(
                address,
                new Lifetime(
                        name,
                        List.of(device.lifetime()),
                        () -> {
                            try {
                                XrcFunctions.close(
                                        context,
                                        address,
                                        CheckedCall.to("ibv_close_xrcd", () -> "for " + name));
                            } finally {
                                if (file != null) {
                                    file.close();
                                }
                            }
                        }));
    }

    private static String advice(int errno, OpenMode mode) {
        if (errno == Errno.EOPNOTSUPP) {
            return "The device does not support extended reliable connections.";
        }
        if (errno == Errno.EAGAIN && mode == OpenMode.OPEN_EXISTING) {
            return "No process has a domain of this file open.";
        }
        return errno == Errno.EINVAL && mode == OpenMode.CREATE_NEW
                ? "The file may already have a domain. Open it with XrcDomain.open()."
                : "";
    }

    /** The device that owns the domain. */
    public Device device() {
        return device;
    }

    /**
     * Creates a queue pair at port 1 that receives messages for the shared receive queues of this
     * domain. In C: {@code ibv_create_qp_ex} with {@code IBV_QPT_XRC_RECV}.
     */
    public XrcReceiveQueuePair newReceiveQueuePair() throws VerbsException {
        return newReceiveQueuePair(1);
    }

    /**
     * Creates a queue pair that receives messages for the shared receive queues of this domain.
     *
     * @param port the number of the device port, starting at 1
     */
    public XrcReceiveQueuePair newReceiveQueuePair(int port) throws VerbsException {
        return XrcReceiveQueuePair.create(this, port, OptionalInt.empty());
    }

    /**
     * Creates a queue pair that receives messages for the shared receive queues of this domain.
     *
     * @param port the number of the device port, starting at 1
     * @param gidIndex the index of the GID table entry whose GID is the source address
     */
    public XrcReceiveQueuePair newReceiveQueuePair(int port, int gidIndex) throws VerbsException {
        return XrcReceiveQueuePair.create(this, port, OptionalInt.of(gidIndex));
    }

    /**
     * Opens a queue pair that another process created in this domain. The queue pair then continues
     * to exist after the other process has closed it, and its asynchronous events are also
     * delivered to this process. In C: {@code ibv_open_qp}.
     *
     * @param number the number of the queue pair
     * @throws VerbsException if this domain has no receiving queue pair with this number
     */
    public XrcReceiveQueuePair openReceiveQueuePair(int number) throws VerbsException {
        return XrcReceiveQueuePair.open(this, number);
    }

    /**
     * Creates a polled shared receive queue of this domain. Senders select the queue by its
     * {@linkplain org.jrdma.verbs.SharedReceiveQueue#number number}. The queue is closed with its
     * protection domain, this XRC domain or its completion queue, whichever is closed first. In C:
     * {@code ibv_create_srq_ex} with {@code IBV_SRQT_XRC}.
     *
     * @param protectionDomain the protection domain of the queue. Senders that select the queue can
     *     access memory in this protection domain
     * @param completions the completion queue in which the receives complete
     * @param capacity the number of receives that the queue must be able to hold
     * @throws VerbsException if the device cannot create the queue, or the queue could overrun its
     *     completion queue
     */
    public PolledSharedReceiveQueue newSharedReceiveQueue(
            ProtectionDomain protectionDomain, CompletionQueue completions, int capacity)
            throws VerbsException {
        return newSharedReceiveQueue(protectionDomain, completions, capacity, 1);
    }

    /**
     * Creates a polled shared receive queue as {@link #newSharedReceiveQueue(ProtectionDomain,
     * CompletionQueue, int)} does, for receives that scatter a message to several slices.
     *
     * @param elements the maximum number of slices of a receive
     */
    public PolledSharedReceiveQueue newSharedReceiveQueue(
            ProtectionDomain protectionDomain,
            CompletionQueue completions,
            int capacity,
            int elements)
            throws VerbsException {
        var access = VerbsAccess.get();
        var owner = access.handle(protectionDomain);
        var binding = binding(owner, access.nativeQueue(completions), completions);
        return access.sharedReceiveQueue(owner, capacity, elements, binding);
    }

    /**
     * Creates an asynchronous shared receive queue of this domain; see {@link
     * #newSharedReceiveQueue(ProtectionDomain, CompletionQueue, int)}. A receive waits up to 10
     * seconds for a free slot.
     */
    public AsyncSharedReceiveQueue newSharedReceiveQueue(
            ProtectionDomain protectionDomain, CompletionDispatcher completions, int capacity)
            throws VerbsException {
        return newSharedReceiveQueue(protectionDomain, completions, capacity, 1, SLOT_TIMEOUT);
    }

    /**
     * Creates an asynchronous shared receive queue of this domain, for receives that scatter a
     * message to several slices; see {@link #newSharedReceiveQueue(ProtectionDomain,
     * CompletionQueue, int)}.
     *
     * @param elements the maximum number of slices of a receive
     * @param slotTimeout the maximum time that a receive waits for a free slot
     */
    public AsyncSharedReceiveQueue newSharedReceiveQueue(
            ProtectionDomain protectionDomain,
            CompletionDispatcher completions,
            int capacity,
            int elements,
            Duration slotTimeout)
            throws VerbsException {
        var access = VerbsAccess.get();
        var owner = access.handle(protectionDomain);
        var binding = binding(owner, access.nativeQueue(completions), completions);
        return access.sharedReceiveQueue(owner, capacity, elements, slotTimeout, binding);
    }

    private <W extends WorkQueue> NativeSharedReceiveQueue.XrcBinding<W> binding(
            DomainHandle owner, NativeCompletionQueue<W> queue, NativeObject completions) {
        var device = owner.device();
        if (handle != device || !queue.isOf(device)) {
            throw new IllegalArgumentException(
                    "%s and %s must belong to %s".formatted(this, completions, device));
        }
        return new NativeSharedReceiveQueue.XrcBinding<>(domain, queue, List.of(this, completions));
    }

    DeviceHandle handle() {
        return handle;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
