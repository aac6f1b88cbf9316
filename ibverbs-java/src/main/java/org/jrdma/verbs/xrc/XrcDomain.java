package org.jrdma.verbs.xrc;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.verbs.AsyncSharedReceiveQueue;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledSharedReceiveQueue;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.access.VerbsAccess;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.XrcFunctions;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jrdma.verbs.queue.WorkQueue;
import org.jspecify.annotations.Nullable;

/**
 * An XRC domain: it ties extended reliable connections to shared receive queues. A queue pair that
 * receives in a domain does so for every shared receive queue of the domain, whichever process made
 * the queue. Processes that open the domain of one file share it, so that one connection to a
 * machine serves all of them.
 *
 * <p>Owned by its {@link Device}. Safe for use by multiple threads. The domain exists until the
 * last process has closed it. In C: {@code struct ibv_xrcd}; {@link #close()} is {@code
 * ibv_close_xrcd}.
 */
public final class XrcDomain extends NativeObject {

    private static final int NO_FILE = -1;
    private static final Duration SLOT_TIMEOUT = Duration.ofSeconds(10);

    private final Device device;
    private final DeviceHandle handle;
    private final NativeResource domain;

    /** Which domain of a file is meant. */
    private enum Choice {
        /** One that does not exist yet. */
        NEW(Linux.O_CREAT | Linux.O_EXCL),
        /** The one that exists, or otherwise a new one. */
        ANY(Linux.O_CREAT),
        /** The one that exists. */
        PRESENT(0);

        private final int flags;

        Choice(int flags) {
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
     * Makes an XRC domain that no other process can open. In C: {@code ibv_open_xrcd} without a
     * file.
     *
     * @throws VerbsException with EOPNOTSUPP if the device has none: see {@link
     *     org.jrdma.verbs.model.DeviceCapability#EXTENDED_RELIABLE_CONNECTION}
     */
    public static XrcDomain create(Device device) throws VerbsException {
        var handle = VerbsAccess.get().handle(device);
        return new XrcDomain(device, handle.call(() -> make(handle, null, "", Choice.ANY)));
    }

    /**
     * Makes the XRC domain of a file. The content of the file does not matter; a process that can
     * read the file can open the domain. In C: {@code ibv_open_xrcd} with {@code O_CREAT} and
     * {@code O_EXCL}.
     *
     * @throws VerbsException if the file cannot be read, or a domain of it exists on this device
     */
    public static XrcDomain create(Device device, Path file) throws VerbsException {
        return open(device, file, Choice.NEW);
    }

    /**
     * Opens the XRC domain of a file, or makes it if there is none. In C: {@code ibv_open_xrcd}
     * with {@code O_CREAT}.
     *
     * @throws VerbsException if the file cannot be read
     */
    public static XrcDomain open(Device device, Path file) throws VerbsException {
        return open(device, file, Choice.ANY);
    }

    /**
     * Opens the XRC domain of a file that a process has open. In C: {@code ibv_open_xrcd}.
     *
     * @throws VerbsException if the file cannot be read; with EAGAIN if there is no domain of it on
     *     this device
     */
    public static XrcDomain join(Device device, Path file) throws VerbsException {
        return open(device, file, Choice.PRESENT);
    }

    /** The file stays open as long as the domain. */
    private static XrcDomain open(Device device, Path path, Choice choice) throws VerbsException {
        OpenFile file;
        try {
            file = OpenFile.forReading(path);
        } catch (FabricException e) {
            throw new VerbsException("ibv_open_xrcd", e.getMessage());
        }
        try {
            var handle = VerbsAccess.get().handle(device);
            return new XrcDomain(
                    device, handle.call(() -> make(handle, file, " of " + path, choice)));
        } catch (VerbsException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private static NativeResource make(
            DeviceHandle device, @Nullable OpenFile file, String ofFile, Choice choice)
            throws VerbsException {
        var context = device.context();
        var address =
                XrcFunctions.open(
                        context,
                        file == null ? NO_FILE : file.number(),
                        choice.flags,
                        new Attempt(
                                "ibv_open_xrcd",
                                () ->
                                        "for the %s XRC domain%s on %s"
                                                .formatted(
                                                        choice == Choice.PRESENT
                                                                ? "present"
                                                                : "new",
                                                        ofFile,
                                                        device.name()),
                                errno -> advice(errno, choice)));
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
                                        Attempt.to("ibv_close_xrcd", () -> "for " + name));
                            } finally {
                                if (file != null) {
                                    file.close();
                                }
                            }
                        }));
    }

    private static String advice(int errno, Choice choice) {
        if (errno == Errno.EOPNOTSUPP) {
            return "The device has no extended reliable connections.";
        }
        if (errno == Errno.EAGAIN && choice == Choice.PRESENT) {
            return "Nobody has a domain of this file open.";
        }
        return errno == Errno.EINVAL && choice == Choice.NEW
                ? "There may be a domain of this file already; XrcDomain.open() takes it."
                : "";
    }

    /** The device that the domain was made from. */
    public Device device() {
        return device;
    }

    /**
     * Makes a queue pair that receives for the shared receive queues of this domain, at the first
     * port. In C: {@code ibv_create_qp_ex} with {@code IBV_QPT_XRC_RECV}.
     */
    public XrcReceiveQueuePair newReceiveQueuePair() throws VerbsException {
        return newReceiveQueuePair(1);
    }

    /** Makes a queue pair that receives at a port, which counts from 1. */
    public XrcReceiveQueuePair newReceiveQueuePair(int port) throws VerbsException {
        return XrcReceiveQueuePair.make(this, port, OptionalInt.empty());
    }

    /** Makes a queue pair that receives at a row of the GID table of a port. */
    public XrcReceiveQueuePair newReceiveQueuePair(int port, int gidIndex) throws VerbsException {
        return XrcReceiveQueuePair.make(this, port, OptionalInt.of(gidIndex));
    }

    /**
     * Opens a queue pair that another process made in this domain, so that the queue pair stays
     * when that process closes it, and its events are delivered here too. In C: {@code
     * ibv_open_qp}.
     *
     * @param number its number
     * @throws VerbsException if there is no such queue pair in this domain
     */
    public XrcReceiveQueuePair openReceiveQueuePair(int number) throws VerbsException {
        return XrcReceiveQueuePair.open(this, number);
    }

    /**
     * Makes a shared receive queue of this domain, which senders name by its {@linkplain
     * org.jrdma.verbs.SharedReceiveQueue#number number}. What senders read and write is memory of
     * {@code protection}. The queue is closed with that domain, with this XRC domain and with its
     * completion queue. In C: {@code ibv_create_srq_ex} with {@code IBV_SRQT_XRC}.
     *
     * @param completions where its receives complete
     * @param capacity how many receives it must have room for
     * @throws VerbsException if the device refuses it, or the queue could overrun its completion
     *     queue
     */
    public PolledSharedReceiveQueue newSharedReceiveQueue(
            ProtectionDomain protection, CompletionQueue completions, int capacity)
            throws VerbsException {
        return newSharedReceiveQueue(protection, completions, capacity, 1);
    }

    /**
     * Makes a shared receive queue of this domain, for receives that scatter.
     *
     * @param elements how many pieces of memory a receive can scatter to
     */
    public PolledSharedReceiveQueue newSharedReceiveQueue(
            ProtectionDomain protection, CompletionQueue completions, int capacity, int elements)
            throws VerbsException {
        return VerbsAccess.get()
                .sharedReceiveQueue(
                        VerbsAccess.get().handle(protection),
                        capacity,
                        elements,
                        named(protection, VerbsAccess.get().nativeQueue(completions), completions));
    }

    /**
     * Makes a shared receive queue of this domain whose receives are awaited; like {@link
     * #newSharedReceiveQueue(ProtectionDomain, CompletionQueue, int)}.
     */
    public AsyncSharedReceiveQueue newSharedReceiveQueue(
            ProtectionDomain protection, CompletionDispatcher completions, int capacity)
            throws VerbsException {
        return newSharedReceiveQueue(protection, completions, capacity, 1, SLOT_TIMEOUT);
    }

    /**
     * Makes a shared receive queue of this domain whose receives are awaited, for receives that
     * scatter.
     *
     * @param elements how many pieces of memory a receive can scatter to
     * @param slotTimeout how long a receive waits for a free slot before it is posted
     */
    public AsyncSharedReceiveQueue newSharedReceiveQueue(
            ProtectionDomain protection,
            CompletionDispatcher completions,
            int capacity,
            int elements,
            Duration slotTimeout)
            throws VerbsException {
        return VerbsAccess.get()
                .sharedReceiveQueue(
                        VerbsAccess.get().handle(protection),
                        capacity,
                        elements,
                        slotTimeout,
                        named(protection, VerbsAccess.get().nativeQueue(completions), completions));
    }

    private <W extends WorkQueue> NativeSharedReceiveQueue.Named<W> named(
            ProtectionDomain protection, NativeCompletionQueue<W> queue, NativeObject completions) {
        var wanted = VerbsAccess.get().handle(protection).device();
        if (handle != wanted || !queue.isOf(wanted)) {
            throw new IllegalArgumentException(
                    "%s and %s are not of %s".formatted(this, completions, wanted));
        }
        return new NativeSharedReceiveQueue.Named<>(domain, queue, List.of(this, completions));
    }

    DeviceHandle handle() {
        return handle;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
