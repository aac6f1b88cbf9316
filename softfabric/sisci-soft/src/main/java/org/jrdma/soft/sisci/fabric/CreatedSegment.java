package org.jrdma.soft.sisci.fabric;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.MappedMemory;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Entry;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.host.Host;
import org.jrdma.soft.sisci.host.Mapping;
import org.jspecify.annotations.Nullable;

/** A segment that this process has created: its state, and the processes that are connected. */
public final class CreatedSegment implements LocalSegment, Topology.Listener {

    private final Descriptor descriptor;
    private final LocalSegments segments;
    private final MemberContext context;
    private final Entry entry;
    private final int file;
    private final int flags;
    private final EventQueue<SegmentEvent> events;

    /** By adapter: the flags that it was prepared with. */
    private final Map<Integer, Integer> prepared = new HashMap<>();

    private final Set<Integer> available = new HashSet<>();
    private final List<Peer> peers = new ArrayList<>();
    private final List<Peer> sharers = new ArrayList<>();
    private final Map<Long, InterruptFlag> interruptFlags = new HashMap<>();
    private @Nullable Mapping memory;
    private long foreignMemory;
    private long bytes;
    private int users;
    private boolean shared;
    private boolean removed;

    /** A process that is connected or attached, by a number that it has chosen. */
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
            Descriptor descriptor,
            Entry entry,
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

    /** Maps the memory of the file. */
    synchronized void map(long length) throws FabricException {
        try {
            memory = Mapping.of(file, 0, length, true);
            bytes = length;
        } catch (FabricException e) {
            Host.close(file);
            context.fabric().directory().delete(entry);
            throw e;
        }
    }

    /** Gives it memory of the program's. In C: {@code SCIRegisterSegmentMemory}. */
    public synchronized void register(long address, long length, int registerFlags) {
        Flags.checkAllowed(registerFlags, sisci_h.SCI_FLAG_LOCK_USER_MEM());
        SciException.throwIf(
                !Flags.has(flags, sisci_h.SCI_FLAG_EMPTY()) || memory != null || removed,
                sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        SciException.throwIf(
                length <= 0 || !Mapping.isAtPage(length), sisci_h.SCI_ERR_SIZE_ALIGNMENT());
        SciException.throwIf(
                !Mapping.isAtPage(address) || !MappedMemory.isThere(address, length, true),
                sisci_h.SCI_ERR_ILLEGAL_ADDRESS());
        try {
            Host.reserve(file, length);
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
            SciException.throwIf(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            switch (operation) {
                case PREPARE -> prepare(adapter, operationFlags);
                case MAKE_AVAILABLE -> {
                    makeAvailable(adapter, operationFlags);
                    joinsGroup = Flags.has(flags, sisci_h.SCI_FLAG_BROADCAST());
                }
                case MAKE_UNAVAILABLE -> makeUnavailable(adapter, operationFlags);
                case SHARE -> {
                    Flags.checkAllowed(operationFlags, sisci_h.SCI_FLAG_SHARE_EXTERNAL());
                    SciException.throwIf(memory == null, sisci_h.SCI_ERR_ILLEGAL_OPERATION());
                    shared = true;
                }
                case REQUIRE_PREPARED, REQUIRE_PREPARED_AS_TARGET -> {
                    var how = prepared.get(adapter);
                    SciException.throwIf(how == null, sisci_h.SCI_ERR_SEGMENT_NOT_PREPARED());
                    SciException.throwIf(
                            operation == Operation.REQUIRE_PREPARED_AS_TARGET
                                    && how == sisci_h.SCI_FLAG_DMA_SOURCE_ONLY(),
                            sisci_h.SCI_ERR_ILLEGAL_OPERATION());
                }
            }
        }
        if (joinsGroup) {
            context.topology().refreshEverywhere();
        }
    }

    private void prepare(int adapter, int operationFlags) {
        Flags.checkAllowed(operationFlags, sisci_h.SCI_FLAG_DMA_SOURCE_ONLY());
        SciException.throwIf(
                memory == null || prepared.containsKey(adapter),
                sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        prepared.put(adapter, operationFlags);
    }

    private void makeAvailable(int adapter, int operationFlags) {
        Flags.checkNone(operationFlags);
        SciException.throwIf(
                Flags.has(flags, sisci_h.SCI_FLAG_PRIVATE()), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        SciException.throwIf(
                !prepared.containsKey(adapter), sisci_h.SCI_ERR_SEGMENT_NOT_PREPARED());
        SciException.throwIf(!available.add(adapter), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
    }

    private void makeUnavailable(int adapter, int operationFlags) {
        Flags.checkAllowed(
                operationFlags, UnpublishedFlags.FORCE_DISCONNECT | UnpublishedFlags.NOTIFY);
        SciException.throwIf(!available.remove(adapter), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        if (Flags.has(operationFlags, UnpublishedFlags.FORCE_DISCONNECT)) {
            disconnect(adapter);
        } else if (Flags.has(operationFlags, UnpublishedFlags.NOTIFY)) {
            for (var peer : peers) {
                if (peer.adapter == adapter) {
                    peer.send(Message.Kind.SEGMENT_GONE, 0);
                }
            }
        }
    }

    private void disconnect(int adapter) {
        for (var peer : List.copyOf(peers)) {
            if (peer.adapter == adapter) {
                peers.remove(peer);
                peer.send(Message.Kind.SEGMENT_GONE, 1);
                notify(sisci_h.SCI_CB_DISCONNECT(), peer.connection.node(), adapter);
            }
        }
    }

    /** Whether its I/O address is that: where its memory is in this process. */
    synchronized boolean isAt(long address) {
        return memory != null && memory.address() == address;
    }

    /** A process connects; returns the size. */
    synchronized long connect(Connection from, int number, int adapter, boolean toGroup) {
        SciException.throwIf(
                removed || !available.contains(adapter) || !offers(toGroup),
                sisci_h.SCI_ERR_NO_SUCH_SEGMENT());
        SciException.throwIf(
                context.faults().refusesConnect(), sisci_h.SCI_ERR_CONNECTION_REFUSED());
        peers.add(new Peer(from, number, adapter, toGroup));
        notify(sisci_h.SCI_CB_CONNECT(), from.node(), adapter);
        return bytes;
    }

    private boolean offers(boolean toGroup) {
        return toGroup
                ? Flags.has(flags, sisci_h.SCI_FLAG_BROADCAST())
                : !Flags.has(flags, sisci_h.SCI_FLAG_BROADCAST())
                        || Flags.has(flags, sisci_h.SCI_FLAG_ALLOW_UNICAST());
    }

    /** A process attaches; returns the size. */
    synchronized long attach(Connection from, int number) {
        SciException.throwIf(removed, sisci_h.SCI_ERR_NO_SUCH_SEGMENT());
        SciException.throwIf(!shared, sisci_h.SCI_ERR_ACCESS());
        sharers.add(new Peer(from, number, 0, false));
        return bytes;
    }

    /** A process disconnects, or detaches, if it was there. */
    synchronized void forget(Connection from, int number) {
        sharers.removeIf(sharer -> sharer.connection == from && sharer.number == number);
        for (var peer : List.copyOf(peers)) {
            if (peer.connection == from && peer.number == number) {
                peers.remove(peer);
                notify(sisci_h.SCI_CB_DISCONNECT(), from.node(), peer.adapter);
            }
        }
    }

    /** A process has ended. */
    synchronized void lost(Connection connection) {
        sharers.removeIf(sharer -> sharer.connection == connection);
        for (var peer : List.copyOf(peers)) {
            if (peer.connection == connection) {
                peers.remove(peer);
                notify(sisci_h.SCI_CB_LOST(), connection.node(), peer.adapter);
            }
        }
    }

    MemberContext context() {
        return context;
    }

    synchronized void add(InterruptFlag flag) {
        SciException.throwIf(
                interruptFlags.putIfAbsent(flag.offset(), flag) != null,
                sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        descriptor.add();
    }

    synchronized void remove(InterruptFlag flag) {
        interruptFlags.remove(flag.offset());
        descriptor.remove();
    }

    /** A store of a connected process is to interrupt, if there is a flag. */
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
                notify(
                        linked ? sisci_h.SCI_CB_OPERATIONAL() : sisci_h.SCI_CB_NOT_OPERATIONAL(),
                        peer.connection.node(),
                        peer.adapter);
            }
        }
    }

    private void notify(int reason, int node, int adapter) {
        events.put(new SegmentEvent(reason, node, adapter));
        for (var sharer : sharers) {
            sharer.connection.send(
                    Message.of(Message.Kind.SEGMENT_EVENT, sharer.number, reason, node, adapter));
        }
    }

    @Override
    public SegmentMap map(long offset, long length, int mapFlags) {
        return SegmentMap.ofLocal(this, file, offset, length, mapFlags);
    }

    @Override
    public synchronized long hold() {
        SciException.throwIf(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        SciException.throwIf(memory == null, sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        users++;
        return memory.address();
    }

    @Override
    public synchronized void release() {
        users--;
    }

    @Override
    public void remove(int removeFlags) {
        Flags.checkAllowed(removeFlags, sisci_h.SCI_FLAG_FORCE_REMOVE());
        synchronized (this) {
            SciException.throwIf(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            if (!Flags.has(removeFlags, sisci_h.SCI_FLAG_FORCE_REMOVE())) {
                SciException.throwIf(isInUse(), sisci_h.SCI_ERR_BUSY());
            }
            SciException.throwIf(users > 0, sisci_h.SCI_ERR_BUSY());
            removed = true;
            for (var adapter : prepared.keySet()) {
                disconnect(adapter);
            }
            for (var sharer : sharers) {
                sharer.send(Message.Kind.SEGMENT_GONE, 1);
            }
            deleteFile();
        }
        segments.remove(this);
        events.close();
        descriptor.remove();
    }

    /** A process that stores to a group continues without a member that leaves. */
    private boolean isInUse() {
        return !sharers.isEmpty() || peers.stream().anyMatch(peer -> !peer.toGroup);
    }

    /** Deletes the file; a process that still maps it cuts its maps. */
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
            Host.close(file);
        }
    }
}
