package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.MappedAddressCheck;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.host.Mapping;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.jspecify.annotations.Nullable;

/** A segment that this process has created: its memory, its state and the connected processes. */
public final class CreatedSegment implements LocalSegment, Topology.Listener {

    private final SciDescriptor descriptor;
    private final LocalSegments segments;
    private final ProcessContext context;
    private final ObjectAnnouncementFile entry;
    private final int file;
    private final int flags;
    private final EventQueue<SegmentEvent> events;

    /** The flags with which the segment was prepared, by the number of the adapter. */
    private final Map<Integer, Integer> prepared = new HashMap<>();

    private final Set<Integer> available = new HashSet<>();
    private final List<Peer> peers = new ArrayList<>();
    private final List<Peer> sharers = new ArrayList<>();
    private final Map<Long, InterruptingWord> interruptFlags = new HashMap<>();
    private @Nullable Mapping memory;
    private long foreignMemory;
    private long bytes;
    private int users;
    private boolean shared;
    private boolean removed;

    /**
     * A process that is connected or attached to the segment, with the number that the process has
     * chosen for the connection.
     */
    private static final class Peer {

        final Connection connection;
        final int number;
        final int adapter;
        final boolean toGroup;
        boolean linked = true;

        Peer(Connection connection, int number, int adapter, boolean toGroup) {
            this.connection = connection;
            this.number = number;
            this.adapter = adapter;
            this.toGroup = toGroup;
        }

        void send(Message.Kind kind, int first) {
            connection.send(Message.of(kind, number, first, 0, 0));
        }
    }

    CreatedSegment(
            LocalSegments segments,
            SciDescriptor descriptor,
            ObjectAnnouncementFile entry,
            int file,
            int flags,
            EventQueue<SegmentEvent> events) {
        this.segments = segments;
        this.descriptor = descriptor;
        this.context = descriptor.context();
        this.entry = entry;
        this.file = file;
        this.flags = flags;
        this.events = events;
    }

    synchronized void map(long length) throws FabricException {
        try {
            memory = Mapping.of(file, 0, length, true);
            bytes = length;
        } catch (Throwable e) {
            SystemCalls.close(file);
            context.fabric().directory().delete(entry);
            throw e;
        }
    }

    /**
     * Uses memory of the program as the memory of this segment. In C: {@code
     * SCIRegisterSegmentMemory}.
     */
    public synchronized void register(long address, long length, int registerFlags) {
        FlagChecks.checkAllowed(registerFlags, SCI_FLAG_LOCK_USER_MEM());
        throwIf(
                !FlagChecks.has(flags, SCI_FLAG_EMPTY()) || memory != null || removed,
                SCI_ERR_ILLEGAL_OPERATION());
        throwIf(length <= 0 || !Mapping.isPageAligned(length), SCI_ERR_SIZE_ALIGNMENT());
        throwIf(
                !Mapping.isPageAligned(address)
                        || !MappedAddressCheck.isMapped(address, length, true),
                SCI_ERR_ILLEGAL_ADDRESS());
        try {
            var directory = context.fabric().directory();
            var _ =
                    directory.locked(() -> {
                        directory.reserve(entry, file, length);
                        return true;
                    });
            memory = Mapping.of(file, 0, length, true);
            Mapping.shareInPlace(file, address, length);
            foreignMemory = address;
            bytes = length;
        } catch (FabricException e) {
            throw SciException.of(e);
        }
    }

    @Override
    public int id() {
        return entry.number();
    }

    @Override
    public synchronized long bytes() {
        return bytes;
    }

    @Override
    public EventQueue<SegmentEvent> events() {
        return events;
    }

    @Override
    public void apply(Operation operation, int adapter, int operationFlags) {
        context.topology().checkAdapter(adapter);
        var joinsGroup = false;
        synchronized (this) {
            throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
            switch (operation) {
                case PREPARE -> prepare(adapter, operationFlags);
                case MAKE_AVAILABLE -> {
                    makeAvailable(adapter, operationFlags);
                    joinsGroup = FlagChecks.has(flags, SCI_FLAG_BROADCAST());
                }
                case MAKE_UNAVAILABLE -> makeUnavailable(adapter, operationFlags);
                case SHARE -> {
                    FlagChecks.checkAllowed(operationFlags, SCI_FLAG_SHARE_EXTERNAL());
                    throwIf(memory == null, SCI_ERR_ILLEGAL_OPERATION());
                    shared = true;
                }
                case REQUIRE_PREPARED, REQUIRE_PREPARED_AS_TARGET -> {
                    var prepareFlags = prepared.get(adapter);
                    throwIf(prepareFlags == null, SCI_ERR_SEGMENT_NOT_PREPARED());
                    throwIf(
                            operation == Operation.REQUIRE_PREPARED_AS_TARGET
                                    && prepareFlags == SCI_FLAG_DMA_SOURCE_ONLY(),
                            SCI_ERR_ILLEGAL_OPERATION());
                }
            }
        }
        if (joinsGroup) {
            context.topology().refreshEverywhere();
        }
    }

    private void prepare(int adapter, int operationFlags) {
        FlagChecks.checkAllowed(operationFlags, SCI_FLAG_DMA_SOURCE_ONLY());
        throwIf(memory == null || prepared.containsKey(adapter), SCI_ERR_ILLEGAL_OPERATION());
        prepared.put(adapter, operationFlags);
    }

    private void makeAvailable(int adapter, int operationFlags) {
        FlagChecks.checkNone(operationFlags);
        throwIf(FlagChecks.has(flags, SCI_FLAG_PRIVATE()), SCI_ERR_ILLEGAL_OPERATION());
        throwIf(!prepared.containsKey(adapter), SCI_ERR_SEGMENT_NOT_PREPARED());
        throwIf(!available.add(adapter), SCI_ERR_ILLEGAL_OPERATION());
    }

    private void makeUnavailable(int adapter, int operationFlags) {
        FlagChecks.checkAllowed(
                operationFlags, UnpublishedFlags.FORCE_DISCONNECT | UnpublishedFlags.NOTIFY);
        throwIf(!available.remove(adapter), SCI_ERR_ILLEGAL_OPERATION());
        if (FlagChecks.has(operationFlags, UnpublishedFlags.FORCE_DISCONNECT)) {
            disconnect(adapter);
        } else if (FlagChecks.has(operationFlags, UnpublishedFlags.NOTIFY)) {
            sendGone(adapter, 0);
        }
    }

    private void disconnect(int adapter) {
        sendGone(adapter, 1);
        removePeers(peer -> peer.adapter == adapter, SCI_CB_DISCONNECT());
    }

    private void sendGone(int adapter, int disconnected) {
        for (var peer : peers) {
            if (peer.adapter == adapter) {
                peer.send(Kind.SEGMENT_GONE, disconnected);
            }
        }
    }

    private void removePeers(Predicate<Peer> which, int reason) {
        for (var peer : List.copyOf(peers)) {
            if (which.test(peer)) {
                peers.remove(peer);
                report(reason, peer);
            }
        }
    }

    /**
     * Returns true if {@code address} is the I/O address of the segment, which is the address of
     * its memory in this process.
     */
    synchronized boolean isAt(long address) {
        return memory != null && memory.address() == address;
    }

    /** Connects a process, and sends it a descriptor of the memory in response to its request. */
    synchronized void connect(
            Connection from, Message request, int number, int adapter, boolean toGroup) {
        throwIf(
                removed || !available.contains(adapter) || !offers(toGroup),
                SCI_ERR_NO_SUCH_SEGMENT());
        throwIf(context.faults().refusesConnect(), SCI_ERR_CONNECTION_REFUSED());
        var peer = new Peer(from, number, adapter, toGroup);
        peers.add(peer);
        try {
            respondWithMemory(from, request);
            report(SCI_CB_CONNECT(), peer);
        } catch (Throwable e) {
            peers.remove(peer);
            throw e;
        }
    }

    private void respondWithMemory(Connection to, Message request) {
        int duplicate = SciException.translate(() -> LinuxCalls.duplicate(file));
        to.respondWithDescriptor(request, bytes, duplicate);
    }

    private boolean offers(boolean toGroup) {
        return toGroup
                ? FlagChecks.has(flags, SCI_FLAG_BROADCAST())
                : !FlagChecks.has(flags, SCI_FLAG_BROADCAST())
                        || FlagChecks.has(flags, SCI_FLAG_ALLOW_UNICAST());
    }

    /** Attaches a process, and sends it a descriptor of the memory in response to its request. */
    synchronized void attach(Connection from, Message request, int number) {
        throwIf(removed, SCI_ERR_NO_SUCH_SEGMENT());
        throwIf(!shared, SCI_ERR_ACCESS());
        var sharer = new Peer(from, number, 0, false);
        sharers.add(sharer);
        try {
            respondWithMemory(from, request);
        } catch (Throwable e) {
            sharers.remove(sharer);
            throw e;
        }
    }

    /** Disconnects or detaches a process. */
    synchronized void forget(Connection from, int number) {
        forget(peer -> peer.connection == from && peer.number == number, SCI_CB_DISCONNECT());
    }

    synchronized void lost(Connection connection) {
        forget(peer -> peer.connection == connection, SCI_CB_LOST());
    }

    private void forget(Predicate<Peer> which, int reason) {
        sharers.removeIf(which);
        removePeers(which, reason);
    }

    ProcessContext context() {
        return context;
    }

    synchronized void add(InterruptingWord flag) {
        throwIf(
                interruptFlags.putIfAbsent(flag.offset(), flag) != null,
                SCI_ERR_ILLEGAL_OPERATION());
        descriptor.add();
    }

    synchronized void remove(InterruptingWord flag) {
        interruptFlags.remove(flag.offset());
        descriptor.remove();
    }

    /** Triggers the interrupt flag at an offset, because a device has signaled an interrupt. */
    synchronized void signaled(long offset) {
        var flag = interruptFlags.get(offset);
        if (flag != null) {
            flag.stored(false);
        }
    }

    /**
     * Triggers the interrupt flag at an offset, because a connected process has stored into it.
     * Does nothing if that process is not connected.
     */
    synchronized void stored(Connection from, int number, long offset, boolean counted) {
        var flag = interruptFlags.get(offset);
        if (flag != null
                && peers.stream()
                        .anyMatch(peer -> peer.connection == from && peer.number == number)) {
            flag.stored(counted);
        }
    }

    @Override
    public synchronized void topologyChanged() {
        for (var peer : peers) {
            var linked = context.topology().isLinked(peer.connection.node(), peer.adapter);
            if (linked != peer.linked) {
                peer.linked = linked;
                report(linked ? SCI_CB_OPERATIONAL() : SCI_CB_NOT_OPERATIONAL(), peer);
            }
        }
    }

    private void report(int reason, Peer peer) {
        var node = peer.connection.node();
        events.put(new SegmentEvent(reason, node, peer.adapter));
        for (var sharer : sharers) {
            sharer.connection.send(
                    Message.of(Kind.SEGMENT_EVENT, sharer.number, reason, node, peer.adapter));
        }
    }

    @Override
    public SegmentMap map(long offset, long length, int mapFlags) {
        return SegmentMap.ofLocal(this, file, offset, length, mapFlags);
    }

    @Override
    public synchronized long hold() {
        throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(memory == null, SCI_ERR_ILLEGAL_OPERATION());
        users++;
        return memory.address();
    }

    @Override
    public int file() {
        return file;
    }

    @Override
    public synchronized void release() {
        users--;
    }

    @Override
    public void remove(int removeFlags) {
        FlagChecks.checkAllowed(removeFlags, SCI_FLAG_FORCE_REMOVE());
        synchronized (this) {
            throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
            if (!FlagChecks.has(removeFlags, SCI_FLAG_FORCE_REMOVE())) {
                throwIf(isInUse(), SCI_ERR_BUSY());
            }
            throwIf(users > 0, SCI_ERR_BUSY());
            removed = true;
            for (var adapter : prepared.keySet()) {
                disconnect(adapter);
            }
            for (var sharer : sharers) {
                sharer.send(Kind.SEGMENT_GONE, 1);
            }
            deleteFile();
        }
        segments.remove(this);
        events.close();
        descriptor.remove();
    }

    /**
     * Returns true if a process is attached or connected. Connections to a group do not count,
     * because the group continues without this member.
     */
    private boolean isInUse() {
        return !sharers.isEmpty() || peers.stream().anyMatch(peer -> !peer.toGroup);
    }

    private void deleteFile() {
        try {
            if (foreignMemory != 0) {
                Mapping.unshareInPlace(foreignMemory, bytes);
                foreignMemory = 0;
            }
            context.fabric().directory().delete(entry);
        } catch (FabricException e) {
            throw SciException.of(e);
        } finally {
            if (memory != null) {
                memory.close();
            }
            SystemCalls.close(file);
        }
    }
}
