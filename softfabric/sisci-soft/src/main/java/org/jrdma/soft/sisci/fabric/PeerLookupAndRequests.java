package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.ffi.linkage.SeqPacketSocket.Packet.NO_DESCRIPTOR;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.SealedMemory;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.FabricConnections;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the objects of other processes in the directory of a fabric, and sends requests to these
 * processes. Failures are reported as SISCI error codes. Safe for use by multiple threads.
 *
 * @param directory the directory
 * @param connections the connections to other processes
 * @param node the id of the node
 * @param number the number of the process among the processes of the node
 */
record PeerLookupAndRequests(
        FabricDirectory directory, FabricConnections connections, int node, int number) {

    private static final Logger LOG = LoggerFactory.getLogger(PeerLookupAndRequests.class);

    List<ObjectAnnouncementFile> entries() {
        return SciException.translate(() -> directory.entries());
    }

    List<Integer> nodes() {
        return entries().stream()
                .filter(entry -> entry.kind() == ObjectAnnouncementFile.Kind.MEMBER)
                .map(ObjectAnnouncementFile::node)
                .distinct()
                .sorted()
                .toList();
    }

    Optional<ObjectAnnouncementFile> find(
            int nodeId, ObjectAnnouncementFile.Kind kind, int objectNumber) {
        return SciException.translate(() -> directory.find(nodeId, kind, objectNumber));
    }

    /** Finds the file of an object of a node. Fails if the node or the object does not exist. */
    ObjectAnnouncementFile require(int nodeId, ObjectAnnouncementFile.Kind kind, int objectNumber) {
        var found = find(nodeId, kind, objectNumber);
        if (found.isPresent()) {
            return found.get();
        }
        throwIf(!nodes().contains(nodeId), SCI_ERR_NO_SUCH_NODEID());
        throw new SciException(
                // This constant has the same value as SCI_ERR_NO_SUCH_INTNO.
                SCI_ERR_NO_SUCH_SEGMENT());
    }

    /** Asks the processes of a node for the id of the segment that starts at an address. */
    int findSpace(int nodeId, long address) {
        throwIf(!nodes().contains(nodeId), SCI_ERR_NO_SUCH_NODEID());
        for (var entry : entries()) {
            if (entry.node() == nodeId && entry.kind() == ObjectAnnouncementFile.Kind.MEMBER) {
                try {
                    var request = Message.of(Kind.FIND_SPACE, 0, 0, 0, address);
                    return (int) request(connect(entry), request).value();
                } catch (SciException e) {
                    LOG.debug(
                            "Process {} has no segment at 0x{}", entry, Long.toHexString(address));
                }
            }
        }
        throw new SciException(SCI_ERR_CONNECTION_REFUSED());
    }

    /**
     * Returns the devices of the fabric whose lenders respond, sorted by their fabric device ids.
     */
    List<LentDeviceDescription> devices() {
        var found = new ArrayList<LentDeviceDescription>();
        var unresponsive = new HashSet<Connection>();
        for (var entry : entries()) {
            if (entry.kind() == ObjectAnnouncementFile.Kind.DEVICE) {
                find(entry)
                        .filter(lender -> !unresponsive.contains(lender))
                        .ifPresent(lender -> {
                            var request = Message.about(Kind.IDENTIFY_DEVICE, entry.number());
                            var response = connections.request(lender, request);
                            if (response.isEmpty()) {
                                // Each further request to this process would time out, too.
                                unresponsive.add(lender);
                            }
                            response.flatMap(identity -> device(entry, identity))
                                    .ifPresent(found::add);
                        });
            }
        }
        found.sort(Comparator.comparingLong(LentDeviceDescription::id));
        return found;
    }

    private static Optional<LentDeviceDescription> device(
            ObjectAnnouncementFile entry, Message response) {
        return DeviceDescriptionMessage.decode(response)
                .map(description ->
                        new LentDeviceDescription(
                                entry.node(),
                                entry.number(),
                                description.identity(),
                                description.state()));
    }

    /** Finds the file of a device. Fails if the fabric has no device with this id. */
    ObjectAnnouncementFile requireDevice(long fabricDeviceId) {
        var nodeId = LentDeviceDescription.nodeOf(fabricDeviceId);
        throwIf(nodeId <= 0 || nodeId >= Topology.END_OF_NODES, UnpublishedErrors.NO_SUCH_FDID);
        return find(
                        (int) nodeId,
                        ObjectAnnouncementFile.Kind.DEVICE,
                        LentDeviceDescription.slotOf(fabricDeviceId))
                .orElseThrow(() -> new SciException(UnpublishedErrors.NO_SUCH_FDID));
    }

    /** Asks the lender of a device to permit or to refuse new borrows. */
    void makeAvailable(long fabricDeviceId, boolean isAvailable) {
        var entry = requireDevice(fabricDeviceId);
        var lender = find(entry).orElseThrow(() -> new SciException(SCI_ERR_NOT_AVAILABLE()));
        var _ =
                request(
                        lender,
                        Message.of(
                                Kind.MAKE_DEVICE_AVAILABLE,
                                entry.number(),
                                isAvailable ? 1 : 0,
                                0,
                                0));
    }

    /** Returns the connection to the process that owns a file. Fails if the process has ended. */
    Connection connect(ObjectAnnouncementFile entry) {
        return find(entry).orElseThrow(() -> new SciException(SCI_ERR_NO_SUCH_SEGMENT()));
    }

    /** Returns the connection to the process that owns a file; empty if the process has ended. */
    Optional<Connection> find(ObjectAnnouncementFile entry) {
        return SciException.translate(() -> connections.connect(entry.node(), entry.member()));
    }

    void delete(ObjectAnnouncementFile entry) {
        var _ =
                SciException.translate(() -> {
                    directory.delete(entry);
                    return true;
                });
    }

    /**
     * Sends a request to another process and returns the response. Fails if the response contains
     * an error code.
     */
    Message request(Connection connection, Message request) {
        var response = send(connection, request);
        throwIf(response.subject() != SCI_ERR_OK(), response.subject());
        return response;
    }

    /**
     * Sends a request whose response may carry a descriptor, which the caller must close. Fails if
     * the response contains an error code.
     */
    Message requestDescriptor(Connection connection, Message request) {
        var response = send(connection, request);
        if (response.subject() != SCI_ERR_OK() && response.descriptor() != NO_DESCRIPTOR) {
            SystemCalls.close(response.descriptor());
        }
        throwIf(response.subject() != SCI_ERR_OK(), response.subject());
        return response;
    }

    private Message send(Connection connection, Message request) {
        return connections
                .request(connection, request)
                .orElseThrow(() -> new SciException(SCI_ERR_NODE_NOT_RESPONDING()));
    }

    /**
     * The memory of a segment of another process.
     *
     * @param descriptor the descriptor, which the caller must close
     * @param bytes the size, which is positive
     */
    record SharedMemory(int descriptor, long bytes) {}

    /**
     * Sends a request whose response carries the memory of a segment. Fails if the response
     * contains an error code, or memory that could raise SIGBUS.
     */
    SharedMemory requestMemory(Connection connection, Message request) {
        var response = send(connection, request);
        var descriptor = response.descriptor();
        try {
            throwIf(response.subject() != SCI_ERR_OK(), response.subject());
            // This process has too many open files.
            throwIf(descriptor == NO_DESCRIPTOR, SCI_ERR_NOSPC());
            throwIf(response.value() <= 0, SCI_ERR_NO_SUCH_SEGMENT());
            SealedMemory.check(descriptor, response.value());
            return new SharedMemory(descriptor, response.value());
        } catch (FabricException e) {
            SystemCalls.close(descriptor);
            throw new SciException(SCI_ERR_NO_SUCH_SEGMENT(), String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            if (descriptor != NO_DESCRIPTOR) {
                SystemCalls.close(descriptor);
            }
            throw e;
        }
    }

    /**
     * Responds to a request with the result of {@code value}, or with its error code if it fails.
     */
    static void respond(Connection to, Message request, LongSupplier value) {
        handle(to, request, () -> to.respond(request, SCI_ERR_OK(), value.getAsLong()));
    }

    /**
     * Runs {@code action}, which responds to a request. If the action fails, responds with an error
     * code, because otherwise the requester would wait for a response until its timeout.
     */
    static void handle(Connection from, Message request, Runnable action) {
        try {
            action.run();
        } catch (SciException e) {
            from.respond(request, e.code(), 0);
        } catch (Throwable e) {
            from.respond(request, SciException.codeOf(e), 0);
            FailureLog.error(LOG, "A request of another process failed", e);
        }
    }
}
