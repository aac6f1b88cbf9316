package org.jrdma.verbs;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.XrcFunctions;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jrdma.verbs.queue.WorkQueueSlots;
import org.jspecify.annotations.Nullable;

/**
 * An XRC domain: a group of shared receive queues that extended reliable connections can deliver
 * messages to.
 *
 * <p>A receiving queue pair of the domain can deliver messages to each shared receive queue of the
 * domain, even if another process created the queue. Processes share a domain by opening it with
 * the same file. A sender then needs only one connection to the machine in order to reach all of
 * these processes. {@link ProtectionDomain#newXrcSharedReceiveQueue} creates the shared receive
 * queues.
 *
 * <p>Owned by its {@link Device}. Safe for use by multiple threads. The domain in the kernel exists
 * until the last process has closed it. In C: {@code struct ibv_xrcd}; {@link #close()} is {@code
 * ibv_close_xrcd}.
 */
public final class XrcDomain extends NativeObject {

    private static final int NO_FILE = -1;

    private final DeviceHandle device;
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

    private XrcDomain(DeviceHandle device, NativeResource domain) {
        super(domain.address(), domain.lifetime());
        this.device = device;
        this.domain = domain;
    }

    /** Creates a domain without a file; see {@link Device#newXrcDomain()}. */
    static XrcDomain create(DeviceHandle device) throws VerbsException {
        return new XrcDomain(
                device, device.call(() -> create(device, null, "", OpenMode.OPEN_OR_CREATE)));
    }

    /** Creates the domain that is associated with a file; see {@link Device#newXrcDomain(Path)}. */
    static XrcDomain create(DeviceHandle device, Path file) throws VerbsException {
        return open(device, file, OpenMode.CREATE_NEW);
    }

    /**
     * Opens or creates the domain that is associated with a file; see {@link Device#openXrcDomain}.
     */
    static XrcDomain open(DeviceHandle device, Path file) throws VerbsException {
        return open(device, file, OpenMode.OPEN_OR_CREATE);
    }

    /**
     * Opens the existing domain that is associated with a file; see {@link Device#joinXrcDomain}.
     */
    static XrcDomain join(DeviceHandle device, Path file) throws VerbsException {
        return open(device, file, OpenMode.OPEN_EXISTING);
    }

    private static XrcDomain open(DeviceHandle device, Path path, OpenMode mode)
            throws VerbsException {
        OpenFile file;
        try {
            file = OpenFile.forReading(path);
        } catch (FabricException e) {
            throw new VerbsException("ibv_open_xrcd", e.getMessage());
        }
        try {
            return new XrcDomain(
                    device, device.call(() -> create(device, file, " of " + path, mode)));
        } catch (Throwable e) {
            file.close();
            throw e;
        }
    }

    /**
     * Opens or creates a domain. Closing the returned resource also closes the file.
     *
     * @param file the file, or null for a domain without a file
     * @param ofFile the name of the file as a part of messages; empty for a domain without a file
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
                ? "The file may already have a domain. Open it with Device.openXrcDomain()."
                : "";
    }

    /** The name of the device that owns the domain. */
    public String deviceName() {
        return device.name();
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
     * Returns the XRC arguments for the creation of a shared receive queue of this domain.
     *
     * @param owner the protection domain of the shared receive queue
     */
    <W extends WorkQueueSlots> NativeSharedReceiveQueue.XrcBinding<W> binding(
            DomainHandle owner, NativeCompletionQueue<W> queue, NativeObject completions) {
        if (device != owner.device() || !queue.isOf(device)) {
            throw new IllegalArgumentException(
                    "%s and %s must belong to %s".formatted(this, completions, owner.device()));
        }
        return new NativeSharedReceiveQueue.XrcBinding<>(domain, queue, List.of(this, completions));
    }

    DeviceHandle device() {
        return device;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
