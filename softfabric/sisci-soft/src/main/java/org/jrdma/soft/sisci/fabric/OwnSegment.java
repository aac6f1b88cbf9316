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

/** A segment that this process has made: its state, and who is connected. */
public final class OwnSegment implements LocalSegment {

    private static final int CREATE_FLAGS =
            sisci_h.SCI_FLAG_USE_CALLBACK()
                    | sisci_h.SCI_FLAG_EMPTY()
                    | sisci_h.SCI_FLAG_PRIVATE()
                    | sisci_h.SCI_FLAG_BROADCAST()
                    | sisci_h.SCI_FLAG_ALLOW_UNICAST()
                    | sisci_h.SCI_FLAG_AUTO_ID()
                    | sisci_h.SCI_FLAG_DMA_GLOBAL();

    private final Descriptor descriptor;
    private final Member member;
    private final Entry entry;
    private final int file;
    private final int flags;
    private final Outlet<SegmentEvent> events;

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

    /** Who has connected, or attached: by a connection's number of its own choice. */
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

    private OwnSegment(
            Descriptor descriptor,
            Entry entry,
            int file,
            int flags,
            Outlet.@Nullable Callback<SegmentEvent> callback) {
        this.descriptor = descriptor;
        this.member = descriptor.member();
        this.entry = entry;
        this.file = file;
        this.flags = flags;
        this.events = member.newOutlet(callback);
    }

    /** Makes a segment. In C: {@code SCICreateSegment}. */
    public static OwnSegment create(
            Descriptor descriptor,
            int id,
            long bytes,
            Outlet.@Nullable Callback<SegmentEvent> callback,
            int flags) {
        Refusal.when((flags & ~CREATE_FLAGS) != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
        var empty = has(flags, sisci_h.SCI_FLAG_EMPTY());
        var automatic = has(flags, sisci_h.SCI_FLAG_AUTO_ID());
        var inGroup = has(flags, sisci_h.SCI_FLAG_BROADCAST());
        Refusal.when(
                inGroup && (automatic || has(flags, sisci_h.SCI_FLAG_PRIVATE())),
                sisci_h.SCI_ERR_ILLEGAL_FLAG());
        Refusal.when(
                has(flags, sisci_h.SCI_FLAG_ALLOW_UNICAST()) && !inGroup,
                sisci_h.SCI_ERR_ILLEGAL_FLAG());
        Refusal.when(
                inGroup && Integer.compareUnsigned(id, Member.MOST_GROUPS) >= 0,
                sisci_h.SCI_ERR_OUT_OF_RANGE());
        Refusal.when(!empty && bytes <= 0, sisci_h.SCI_ERR_SIZE_ALIGNMENT());
        var member = descriptor.member();
        descriptor.add();
        try {
            var segment =
                    member.directory()
                            .locked(() -> {
                                var entry = freeEntry(member, id, automatic);
                                var length = empty ? 0 : Mapping.wholePages(bytes);
                                var file = member.directory().create(entry, length);
                                return new OwnSegment(descriptor, entry, file, flags, callback);
                            });
            if (!empty) {
                segment.takeMemory(bytes);
            }
            member.add(segment);
            return segment;
        } catch (FabricException e) {
            descriptor.remove();
            throw Refusal.of(e);
        } catch (RuntimeException e) {
            descriptor.remove();
            throw e;
        }
    }

    private static Entry freeEntry(Member member, int id, boolean automatic)
            throws FabricException {
        var free = id;
        while (isUsed(member, free)) {
            if (automatic) {
                free++;
            } else {
                member.directory().sweep(); // its owner may have been killed
                Refusal.when(isUsed(member, free), sisci_h.SCI_ERR_SEGMENTID_USED());
            }
        }
        return new Entry(member.node(), Entry.Kind.SEGMENT, free, member.number());
    }

    private static boolean isUsed(Member member, int id) throws FabricException {
        return member.directory().find(member.node(), Entry.Kind.SEGMENT, id).isPresent();
    }

    private synchronized void takeMemory(long length) throws FabricException {
        try {
            memory = Mapping.of(file, 0, length, true);
            bytes = length;
        } catch (FabricException e) {
            Host.close(file);
            member.directory().delete(entry);
            throw e;
        }
    }

    static boolean has(int flags, int flag) {
        return (flags & flag) == flag;
    }

    /** Gives it memory of the program's. In C: {@code SCIRegisterSegmentMemory}. */
    public synchronized void register(long address, long length, int registerFlags) {
        Refusal.when(
                (registerFlags & ~sisci_h.SCI_FLAG_LOCK_USER_MEM()) != 0,
                sisci_h.SCI_ERR_ILLEGAL_FLAG());
        Refusal.when(
                !has(flags, sisci_h.SCI_FLAG_EMPTY()) || memory != null || removed,
                sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        Refusal.when(length <= 0 || !Mapping.isAtPage(length), sisci_h.SCI_ERR_SIZE_ALIGNMENT());
        Refusal.when(
                !Mapping.isAtPage(address) || !MappedMemory.isThere(address, length, true),
                sisci_h.SCI_ERR_ILLEGAL_ADDRESS());
        try {
            Host.reserve(file, length);
            memory = Mapping.of(file, 0, length, true);
            Mapping.shareInPlace(file, address, length);
            foreignMemory = address;
            bytes = length;
        } catch (FabricException e) {
            throw Refusal.of(e);
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
    public Outlet<SegmentEvent> events() {
        return events;
    }

    @Override
    public void step(Step step, int adapter, int stepFlags) {
        member.checkAdapter(adapter);
        var isNewInGroup = false;
        synchronized (this) {
            Refusal.when(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            switch (step) {
                case PREPARE -> prepare(adapter, stepFlags);
                case MAKE_AVAILABLE -> {
                    makeAvailable(adapter, stepFlags);
                    isNewInGroup = has(flags, sisci_h.SCI_FLAG_BROADCAST());
                }
                case MAKE_UNAVAILABLE -> makeUnavailable(adapter, stepFlags);
                case SHARE -> {
                    Refusal.when(
                            (stepFlags & ~sisci_h.SCI_FLAG_SHARE_EXTERNAL()) != 0,
                            sisci_h.SCI_ERR_ILLEGAL_FLAG());
                    Refusal.when(memory == null, sisci_h.SCI_ERR_ILLEGAL_OPERATION());
                    shared = true;
                }
                case REQUIRE_PREPARED, REQUIRE_PREPARED_AS_TARGET -> {
                    var how = prepared.get(adapter);
                    Refusal.when(how == null, sisci_h.SCI_ERR_SEGMENT_NOT_PREPARED());
                    Refusal.when(
                            step == Step.REQUIRE_PREPARED_AS_TARGET
                                    && how == sisci_h.SCI_FLAG_DMA_SOURCE_ONLY(),
                            sisci_h.SCI_ERR_ILLEGAL_OPERATION());
                }
            }
        }
        if (isNewInGroup) {
            member.tellAllToLook();
        }
    }

    private void prepare(int adapter, int stepFlags) {
        Refusal.when(
                (stepFlags & ~sisci_h.SCI_FLAG_DMA_SOURCE_ONLY()) != 0,
                sisci_h.SCI_ERR_ILLEGAL_FLAG());
        Refusal.when(
                memory == null || prepared.containsKey(adapter),
                sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        prepared.put(adapter, stepFlags);
    }

    private void makeAvailable(int adapter, int stepFlags) {
        Refusal.when(stepFlags != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
        Refusal.when(has(flags, sisci_h.SCI_FLAG_PRIVATE()), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        Refusal.when(!prepared.containsKey(adapter), sisci_h.SCI_ERR_SEGMENT_NOT_PREPARED());
        Refusal.when(!available.add(adapter), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
    }

    private void makeUnavailable(int adapter, int stepFlags) {
        Refusal.when(
                (stepFlags & ~(Unpublished.FORCE_DISCONNECT | Unpublished.NOTIFY)) != 0,
                sisci_h.SCI_ERR_ILLEGAL_FLAG());
        Refusal.when(!available.remove(adapter), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        if (has(stepFlags, Unpublished.FORCE_DISCONNECT)) {
            disconnect(adapter);
        } else if (has(stepFlags, Unpublished.NOTIFY)) {
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
                tell(sisci_h.SCI_CB_DISCONNECT(), peer.connection.node(), adapter);
            }
        }
    }

    /** Whether its I/O address is that: where its memory is in this process. */
    synchronized boolean isAt(long address) {
        return memory != null && memory.address() == address;
    }

    /** A process connects; returns the size. */
    synchronized long connect(Connection from, int number, int adapter, boolean toGroup) {
        Refusal.when(
                removed || !available.contains(adapter) || !offers(toGroup),
                sisci_h.SCI_ERR_NO_SUCH_SEGMENT());
        Refusal.when(member.refusesNext(), sisci_h.SCI_ERR_CONNECTION_REFUSED());
        peers.add(new Peer(from, number, adapter, toGroup));
        tell(sisci_h.SCI_CB_CONNECT(), from.node(), adapter);
        return bytes;
    }

    private boolean offers(boolean toGroup) {
        return toGroup
                ? has(flags, sisci_h.SCI_FLAG_BROADCAST())
                : !has(flags, sisci_h.SCI_FLAG_BROADCAST())
                        || has(flags, sisci_h.SCI_FLAG_ALLOW_UNICAST());
    }

    /** A process attaches; returns the size. */
    synchronized long attach(Connection from, int number) {
        Refusal.when(removed, sisci_h.SCI_ERR_NO_SUCH_SEGMENT());
        Refusal.when(!shared, sisci_h.SCI_ERR_ACCESS());
        sharers.add(new Peer(from, number, 0, false));
        return bytes;
    }

    /** A process disconnects, or detaches, if it was there. */
    synchronized void forget(Connection from, int number) {
        sharers.removeIf(sharer -> sharer.connection == from && sharer.number == number);
        for (var peer : List.copyOf(peers)) {
            if (peer.connection == from && peer.number == number) {
                peers.remove(peer);
                tell(sisci_h.SCI_CB_DISCONNECT(), from.node(), peer.adapter);
            }
        }
    }

    /** A process has ended. */
    synchronized void lost(Connection connection) {
        sharers.removeIf(sharer -> sharer.connection == connection);
        for (var peer : List.copyOf(peers)) {
            if (peer.connection == connection) {
                peers.remove(peer);
                tell(sisci_h.SCI_CB_LOST(), connection.node(), peer.adapter);
            }
        }
    }

    Member member() {
        return member;
    }

    synchronized void add(InterruptFlag flag) {
        Refusal.when(
                interruptFlags.putIfAbsent(flag.offset(), flag) != null,
                sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        descriptor.add();
    }

    synchronized void remove(InterruptFlag flag) {
        interruptFlags.remove(flag.offset());
        descriptor.remove();
    }

    /** A store of a process that is connected is to interrupt, if there is a flag. */
    synchronized void stored(Connection from, int number, long offset, boolean counted) {
        var flag = interruptFlags.get(offset);
        if (flag != null
                && peers.stream()
                        .anyMatch(peer -> peer.connection == from && peer.number == number)) {
            flag.stored(counted);
        }
    }

    /** Links may have been cut or mended. */
    synchronized void look() {
        for (var peer : peers) {
            var linked = member.linkError(peer.connection.node(), peer.adapter) == 0;
            if (linked != peer.linked) {
                peer.linked = linked;
                tell(
                        linked ? sisci_h.SCI_CB_OPERATIONAL() : sisci_h.SCI_CB_NOT_OPERATIONAL(),
                        peer.connection.node(),
                        peer.adapter);
            }
        }
    }

    private void tell(int reason, int node, int adapter) {
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
        Refusal.when(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        Refusal.when(memory == null, sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        users++;
        return memory.address();
    }

    @Override
    public synchronized void release() {
        users--;
    }

    @Override
    public void remove(int removeFlags) {
        Refusal.when(
                (removeFlags & ~sisci_h.SCI_FLAG_FORCE_REMOVE()) != 0,
                sisci_h.SCI_ERR_ILLEGAL_FLAG());
        synchronized (this) {
            Refusal.when(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            if (!has(removeFlags, sisci_h.SCI_FLAG_FORCE_REMOVE())) {
                Refusal.when(isInUse(), sisci_h.SCI_ERR_BUSY());
            }
            Refusal.when(users > 0, sisci_h.SCI_ERR_BUSY());
            removed = true;
            for (var adapter : prepared.keySet()) {
                disconnect(adapter);
            }
            for (var sharer : sharers) {
                sharer.send(Message.Kind.SEGMENT_GONE, 1);
            }
            letGo();
        }
        member.remove(this);
        events.close();
        descriptor.remove();
    }

    /** Who stores to a group goes on without a member that leaves. */
    private boolean isInUse() {
        return !sharers.isEmpty() || peers.stream().anyMatch(peer -> !peer.toGroup);
    }

    /** Its file goes; what a program of another node maps of it is cut off there. */
    synchronized void letGo() {
        try {
            if (foreignMemory != 0) {
                Mapping.unshareInPlace(foreignMemory, bytes);
                foreignMemory = 0;
            }
            member.directory().delete(entry);
        } catch (FabricException e) {
            throw Refusal.of(e);
        } finally {
            if (memory != null) {
                memory.close();
            }
            Host.close(file);
        }
    }
}
