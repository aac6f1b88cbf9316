package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.ConnectionManager;
import org.jrdma.soft.sisci.control.Entry;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The access of a process to the directory and to the other processes of its fabric, whose failures
 * are error codes of SISCI. Safe for use by multiple threads.
 *
 * @param directory the directory
 * @param connections the connections to other processes
 * @param node the id of the node
 * @param number the number of the process among those of the node
 */
record FabricClient(
        FabricDirectory directory, ConnectionManager connections, int node, int number) {

    private static final Logger LOG = LoggerFactory.getLogger(FabricClient.class);

    List<Entry> entries() {
        return SciException.translate(() -> directory.entries());
    }

    List<Integer> nodes() {
        return entries().stream()
                .filter(entry -> entry.kind() == Entry.Kind.MEMBER)
                .map(Entry::node)
                .distinct()
                .sorted()
                .toList();
    }

    Optional<Entry> find(int ofNode, Entry.Kind kind, int itsNumber) {
        return SciException.translate(() -> directory.find(ofNode, kind, itsNumber));
    }

    /** Finds a file of a node that must exist. */
    Entry require(int ofNode, Entry.Kind kind, int itsNumber) {
        var found = find(ofNode, kind, itsNumber);
        if (found.isPresent()) {
            return found.get();
        }
        throwIf(!nodes().contains(ofNode), SCI_ERR_NO_SUCH_NODEID());
        throw new SciException(SCI_ERR_NO_SUCH_SEGMENT()); // and NO_SUCH_INTNO
    }

    /** The number of the segment of a node that starts at an address there. */
    int findSpace(int ofNode, long address) {
        throwIf(!nodes().contains(ofNode), SCI_ERR_NO_SUCH_NODEID());
        for (var entry : entries()) {
            if (entry.node() == ofNode && entry.kind() == Entry.Kind.MEMBER) {
                try {
                    var request = Message.of(Kind.FIND_SPACE, 0, 0, 0, address);
                    return (int) request(connect(entry), request).value();
                } catch (SciException e) {
                    LOG.debug("Process {} has nothing at 0x{}", entry, Long.toHexString(address));
                }
            }
        }
        throw new SciException(SCI_ERR_CONNECTION_REFUSED());
    }

    /** The connection to the process that an entry belongs to. */
    Connection connect(Entry entry) {
        return find(entry).orElseThrow(() -> new SciException(SCI_ERR_NO_SUCH_SEGMENT()));
    }

    /** The connection to the process that an entry belongs to; empty if the process has ended. */
    Optional<Connection> find(Entry entry) {
        return SciException.translate(() -> connections.connect(entry.node(), entry.member()));
    }

    /** Deletes a file of this process. */
    void delete(Entry entry) {
        var _ =
                SciException.translate(() -> {
                    directory.delete(entry);
                    return true;
                });
    }

    /** Opens the file of a segment that must be as long as its owner says. */
    int openMemory(Entry entry, long bytes) {
        try {
            return directory.openMemory(entry, bytes);
        } catch (FabricException e) {
            throw new SciException(SCI_ERR_NO_SUCH_SEGMENT(), String.valueOf(e.getMessage()));
        }
    }

    /** Sends a request to another process, and fails with the error that it answers. */
    Message request(Connection connection, Message request) {
        var answer =
                connections
                        .request(connection, request)
                        .orElseThrow(() -> new SciException(SCI_ERR_NODE_NOT_RESPONDING()));
        throwIf(answer.subject() != SCI_ERR_OK(), answer.subject());
        return answer;
    }

    /** Answers a request with a value, or with the error that its computation throws. */
    static void answer(Connection to, Message request, LongSupplier value) {
        try {
            to.answer(request, SCI_ERR_OK(), value.getAsLong());
        } catch (SciException e) {
            to.answer(request, e.code(), 0);
        }
    }
}
