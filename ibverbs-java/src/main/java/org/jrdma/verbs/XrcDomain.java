package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.XrcFunctions;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * What ties extended reliable connections to shared receive queues: a queue pair that receives in a
 * domain does so for every {@linkplain PolledXrcSharedReceiveQueue queue} of it, whoever has made
 * that. Processes that open the domain of one file share it, so that one connection to a machine
 * serves all of them.
 *
 * <p>Owned by its {@link Device}. Safe for use by several threads. The domain is there until the
 * last has closed it. In C: {@code struct ibv_xrcd}; {@link #close()} is {@code ibv_close_xrcd}.
 */
public final class XrcDomain extends NativeObject {

    private static final int NO_FILE = -1;

    private final Device device;

    /** Which domain of a file is meant. */
    enum Choice {
        /** One that is not there yet. */
        NEW(Linux.O_CREAT | Linux.O_EXCL),
        /** The one that there is, or else a new one. */
        ANY(Linux.O_CREAT),
        /** The one that there is. */
        PRESENT(0);

        private final int flags;

        Choice(int flags) {
            this.flags = flags;
        }
    }

    private XrcDomain(Device device, Made made) {
        super(made.address, made.lifetime);
        this.device = device;
    }

    private record Made(MemorySegment address, Lifetime lifetime) {}

    /** One that nobody else finds. */
    static XrcDomain make(Device device) throws VerbsException {
        return new XrcDomain(device, device.inCall(() -> make(device, null, "", Choice.ANY)));
    }

    /** One that others find by a file, which stays open as long. */
    static XrcDomain open(Device device, Path path, Choice choice) throws VerbsException {
        OpenFile file;
        try {
            file = OpenFile.forReading(path);
        } catch (FabricException e) {
            throw new VerbsException("ibv_open_xrcd", e.getMessage());
        }
        try {
            return new XrcDomain(
                    device, device.inCall(() -> make(device, file, " of " + path, choice)));
        } catch (VerbsException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private static Made make(Device device, @Nullable OpenFile file, String ofFile, Choice choice)
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
        return new Made(
                address,
                new Lifetime(
                        name,
                        List.of(device.ownLifetime()),
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
                ? "There may be a domain of this file already; openXrcDomain() takes it."
                : "";
    }

    /** The device it was made from. */
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

    /** The same at a port, which counts from 1. */
    public XrcReceiveQueuePair newReceiveQueuePair(int port) throws VerbsException {
        return XrcReceiveQueuePair.make(this, port, OptionalInt.empty());
    }

    /** The same at a row of the port's GID table. */
    public XrcReceiveQueuePair newReceiveQueuePair(int port, int gidIndex) throws VerbsException {
        return XrcReceiveQueuePair.make(this, port, OptionalInt.of(gidIndex));
    }

    /**
     * Opens a queue pair that another has made in this domain, so that it stays when that one
     * closes it, and its events are heard here too. In C: {@code ibv_open_qp}.
     *
     * @param number its number
     * @throws VerbsException if there is no such queue pair in this domain
     */
    public XrcReceiveQueuePair openReceiveQueuePair(int number) throws VerbsException {
        return XrcReceiveQueuePair.open(this, number);
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
