package org.jrdma.soft.sisci.fabric;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Entry;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Switchboard;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process as one of those that make up a node of a fabric: what it has made, what it is connected
 * to, and what others ask of it. Safe for use by several threads.
 */
public final class Member implements Switchboard.Listener {

    /** How many multicast groups there are. */
    public static final int MOST_GROUPS = 16;

    private static final Logger LOG = LoggerFactory.getLogger(Member.class);
    private static final int FIRST_NODE = 4;
    private static final int NODE_STEP = 4;
    private static final int BEYOND_NODES = 252;
    private static final int ADAPTER_NUMBERS = 4;
    private static final int MOST_EVENTS = 4096;
    private static final int MOST_SWEEPS = 100;
    private static final long SWEEP_PAUSE_NANOS = 20_000_000;

    private final SoftSisciOptions options;
    private final FabricDirectory directory;
    private final int node;
    private final int number;
    private final Switchboard switchboard;
    private final CallbackThread callbacks;
    private final Pump pump = new Pump();

    /** For what must wait, and is nobody's thread to. */
    private final ExecutorService workers =
            Executors.newCachedThreadPool(
                    Thread.ofPlatform().daemon().name("sisci-soft-worker-", 0).factory());

    /** Others know these by id. */
    private final Map<Integer, OwnSegment> ownSegments = new ConcurrentHashMap<>();

    /** Others know these by a number that this process has given them. */
    private final Map<Integer, RemoteSegment> targets = new ConcurrentHashMap<>();

    private final Map<Integer, SharedSegment> shares = new ConcurrentHashMap<>();
    private final Map<Integer, RemoteInterrupt> remoteInterrupts = new ConcurrentHashMap<>();
    private final Collection<RemoteSegment> remoteSegments = ConcurrentHashMap.newKeySet();
    private final LocalInterrupts interrupts = new LocalInterrupts(this);
    private final Channels channels = new Channels();
    private final AtomicInteger lastNumber = new AtomicInteger();
    private final AtomicInteger refusals;
    private final AtomicLong windowLeft;
    private final Object looking = new Object();
    private volatile Collection<Entry> cuts = List.of();

    private Member(SoftSisciOptions options, FabricDirectory directory, int node, int number)
            throws FabricException {
        this.options = options;
        this.directory = directory;
        this.node = node;
        this.number = number;
        this.refusals = new AtomicInteger(options.trouble().refusals());
        this.windowLeft = new AtomicLong(options.trouble().mapBytes());
        this.callbacks = new CallbackThread(options.trouble().delay());
        this.switchboard = new Switchboard(directory, node, number, this);
    }

    /** Joins a fabric. */
    public static Member join(SoftSisciOptions options) {
        try {
            var directory = FabricDirectory.open(options.fabric(), options.isOfThisUser());
            try {
                return directory.locked(() -> {
                    directory.sweep();
                    var members =
                            directory.entries().stream()
                                    .filter(entry -> entry.kind() == Entry.Kind.MEMBER)
                                    .toList();
                    var node =
                            options.node() == SoftSisciOptions.ANY_NODE
                                    ? freeNode(members)
                                    : options.node();
                    var number = 0;
                    while (members.contains(new Entry(node, Entry.Kind.MEMBER, number, number))) {
                        number++;
                    }
                    var member = new Member(options, directory, node, number);
                    member.look();
                    LOG.info("Process {} of node {} in {}", number, node, directory);
                    return member;
                });
            } catch (FabricException | RuntimeException e) {
                directory.close();
                throw e;
            }
        } catch (FabricException e) {
            throw Refusal.of(e);
        }
    }

    private static int freeNode(List<Entry> members) {
        var used = members.stream().map(Entry::node).collect(Collectors.toSet());
        return IntStream.iterate(FIRST_NODE, id -> id < BEYOND_NODES, id -> id + NODE_STEP)
                .filter(id -> !used.contains(id))
                .findFirst()
                .orElseThrow(() ->
                        new Refusal(
                                sisci_h.SCI_ERR_HW_NOSPC(), "The fabric has no room for a node"));
    }

    /** Leaves the fabric, whatever is still there. */
    public void leave() {
        switchboard.close();
        callbacks.close();
        workers.shutdownNow();
        remoteSegments.forEach(RemoteSegment::abandon);
        try {
            directory.locked(() -> {
                for (var entry : directory.entries()) {
                    if (entry.node() == node
                            && entry.member() == number
                            && entry.kind() != Entry.Kind.CUT) {
                        directory.delete(entry);
                    }
                }
                directory.sweep(); // what others left, who were killed
                return true;
            });
        } catch (FabricException e) {
            LOG.warn("Files stay behind in {}: {}", directory, e.getMessage());
        }
        directory.close();
    }

    /** A new descriptor. In C: {@code SCIOpen}. */
    public Descriptor open() {
        return new Descriptor(this);
    }

    /** The id of its node. */
    public int node() {
        return node;
    }

    int number() {
        return number;
    }

    FabricDirectory directory() {
        return directory;
    }

    Pump pump() {
        return pump;
    }

    /** The local interrupts. */
    public LocalInterrupts interrupts() {
        return interrupts;
    }

    Channels channels() {
        return channels;
    }

    /** What this process has stored is where it belongs afterwards. */
    public void drainAll() {
        pump.drainAll();
    }

    ExecutorService workers() {
        return workers;
    }

    SoftSisciOptions options() {
        return options;
    }

    boolean hasWeakMemory() {
        return options.trouble().weakMemory();
    }

    /** Whether the next who wants to connect is refused, for trouble's sake. */
    boolean refusesNext() {
        return refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }

    /** For what happens to a segment, or a transfer: a program need not want to know. */
    <E> Outlet<E> newOutlet(Outlet.@Nullable Callback<E> callback) {
        return new Outlet<>(callbacks, callback, MOST_EVENTS);
    }

    /** For triggers, of which none may be lost: senders see to it that they are not too many. */
    Outlet<LocalInterrupt.Triggered> newTriggerOutlet(
            Outlet.@Nullable Callback<LocalInterrupt.Triggered> callback) {
        return new Outlet<>(callbacks, callback, Integer.MAX_VALUE);
    }

    void takeWindow(long bytes) {
        if (windowLeft.addAndGet(-bytes) < 0) {
            windowLeft.addAndGet(bytes);
            throw new Refusal(
                    sisci_h.SCI_ERR_HW_NOSPC(),
                    "The window of the adapters is full; jrdma.sisci.mapbytes says how large it is.");
        }
    }

    void giveWindow(long bytes) {
        windowLeft.addAndGet(bytes);
    }

    /** Refuses the number of an adapter that is not there. */
    public void checkAdapter(int adapter) {
        Refusal.when(
                Integer.compareUnsigned(adapter, ADAPTER_NUMBERS) >= 0,
                sisci_h.SCI_ERR_ILLEGAL_ADAPTERNO());
        Refusal.when(adapter >= options.adapters(), sisci_h.SCI_ERR_NO_SUCH_ADAPTERNO());
    }

    /** Refuses what can be no node. */
    public void checkNode(int id) {
        Refusal.when(
                id <= 0 || id >= BEYOND_NODES || id % NODE_STEP != 0,
                sisci_h.SCI_ERR_ILLEGAL_NODEID());
    }

    /** Why nothing goes to a node by an adapter: an error code, or 0 where it does. */
    public int linkError(int peer, int adapter) {
        if (peer == node) {
            return 0;
        }
        if (isCut(node, adapter)) {
            return sisci_h.SCI_ERR_NO_LINK_ACCESS();
        }
        return isCut(peer, adapter) ? sisci_h.SCI_ERR_NO_REMOTE_LINK_ACCESS() : 0;
    }

    /** Whether a node's link by an adapter is cut. */
    public boolean isCut(int id, int adapter) {
        return cuts.contains(cut(id, adapter));
    }

    private static Entry cut(int node, int adapter) {
        return new Entry(node, Entry.Kind.CUT, adapter, 0);
    }

    /**
     * Cuts or mends this node's link. Everyone has taken note when this returns.
     *
     * @throws Refusal if a process does not answer; the others have taken note
     */
    public void setLink(int adapter, boolean mended) {
        checkAdapter(adapter);
        try {
            directory.locked(() -> {
                var entry = cut(node, adapter);
                if (mended) {
                    directory.delete(entry);
                } else if (!directory.entries().contains(entry)) {
                    directory.mark(entry);
                }
                return true;
            });
        } catch (FabricException e) {
            throw Refusal.of(e);
        }
        var silent = tellAllToLook();
        if (!silent.isEmpty()) {
            throw new Refusal(
                    sisci_h.SCI_ERR_NODE_NOT_RESPONDING(),
                    "The link is %s, but who does not answer may not know of it: %s"
                            .formatted(mended ? "mended" : "cut", silent));
        }
    }

    /** Everyone has looked at the directory when this returns, but those who do not answer. */
    List<Entry> tellAllToLook() {
        var silent = new ArrayList<Entry>();
        for (var entry : entries()) {
            if (entry.kind() != Entry.Kind.MEMBER) {
                continue;
            }
            if (entry.node() == node && entry.number() == number) {
                look();
                continue;
            }
            try {
                var connection = switchboard.dial(entry.node(), entry.member());
                if (connection.isPresent()
                        && switchboard
                                .ask(connection.get(), Message.about(Message.Kind.LOOK, 0))
                                .isEmpty()
                        && !connection.get().isClosed()) {
                    LOG.warn("{} does not answer, and may not know of a link, or a group", entry);
                    silent.add(entry);
                }
            } catch (FabricException e) {
                throw Refusal.of(e);
            }
        }
        return silent;
    }

    private void look() {
        synchronized (looking) {
            cuts =
                    entries().stream()
                            .filter(entry -> entry.kind() == Entry.Kind.CUT)
                            .collect(Collectors.toSet());
            remoteSegments.forEach(RemoteSegment::look);
            ownSegments.values().forEach(OwnSegment::look);
        }
    }

    List<Entry> entries() {
        try {
            return directory.entries();
        } catch (FabricException e) {
            throw Refusal.of(e);
        }
    }

    /** The nodes there are. */
    public List<Integer> nodes() {
        return entries().stream()
                .filter(entry -> entry.kind() == Entry.Kind.MEMBER)
                .map(Entry::node)
                .distinct()
                .sorted()
                .toList();
    }

    Optional<Entry> find(int ofNode, Entry.Kind kind, int itsNumber) {
        try {
            return directory.find(ofNode, kind, itsNumber);
        } catch (FabricException e) {
            throw Refusal.of(e);
        }
    }

    /** The same of another node, with SISCI's reasons. */
    Entry findOrRefuse(int ofNode, Entry.Kind kind, int itsNumber) {
        var found = find(ofNode, kind, itsNumber);
        if (found.isPresent()) {
            return found.get();
        }
        Refusal.when(!nodes().contains(ofNode), sisci_h.SCI_ERR_NO_SUCH_NODEID());
        throw new Refusal(sisci_h.SCI_ERR_NO_SUCH_SEGMENT()); // and NO_SUCH_INTNO
    }

    /** The number of the segment of a node that begins at an address there. */
    int findSpace(int ofNode, long address) {
        Refusal.when(!nodes().contains(ofNode), sisci_h.SCI_ERR_NO_SUCH_NODEID());
        for (var entry : entries()) {
            if (entry.node() == ofNode && entry.kind() == Entry.Kind.MEMBER) {
                try {
                    var question = Message.of(Message.Kind.FIND_SPACE, 0, 0, 0, address);
                    return (int) ask(connect(entry), question).value();
                } catch (Refusal e) {
                    LOG.debug("Process {} has nothing at 0x{}", entry, Long.toHexString(address));
                }
            }
        }
        throw new Refusal(sisci_h.SCI_ERR_CONNECTION_REFUSED());
    }

    /** The connection to the process that an entry belongs to. */
    Connection connect(Entry entry) {
        try {
            return switchboard
                    .dial(entry.node(), entry.member())
                    .orElseThrow(() -> new Refusal(sisci_h.SCI_ERR_NO_SUCH_SEGMENT()));
        } catch (FabricException e) {
            throw Refusal.of(e);
        }
    }

    /** The file of a segment that is as long as its owner says. */
    int openMemory(Entry entry, long bytes) {
        try {
            return directory.openMemory(entry, bytes);
        } catch (FabricException e) {
            throw new Refusal(sisci_h.SCI_ERR_NO_SUCH_SEGMENT(), String.valueOf(e.getMessage()));
        }
    }

    /** Asks another process, and refuses what it refuses. */
    Message ask(Connection connection, Message question) {
        var answer =
                switchboard
                        .ask(connection, question)
                        .orElseThrow(() -> new Refusal(sisci_h.SCI_ERR_NODE_NOT_RESPONDING()));
        Refusal.when(answer.subject() != sisci_h.SCI_ERR_OK(), answer.subject());
        return answer;
    }

    /** A number for something that another process is to speak of. */
    int newNumber() {
        return lastNumber.incrementAndGet();
    }

    void add(OwnSegment segment) {
        ownSegments.put(segment.id(), segment);
    }

    void remove(OwnSegment segment) {
        ownSegments.remove(segment.id(), segment);
    }

    void add(RemoteSegment segment) {
        remoteSegments.add(segment);
    }

    void remove(RemoteSegment segment) {
        remoteSegments.remove(segment);
    }

    void add(int target, RemoteSegment segment) {
        targets.put(target, segment);
    }

    void removeTarget(int target) {
        targets.remove(target);
    }

    void add(int share, SharedSegment segment) {
        shares.put(share, segment);
    }

    void removeShare(int share) {
        shares.remove(share);
    }

    void add(int connected, RemoteInterrupt interrupt) {
        remoteInterrupts.put(connected, interrupt);
    }

    void removeInterrupt(int connected) {
        remoteInterrupts.remove(connected);
    }

    @Override
    public void received(Connection from, Message message) {
        switch (message.kind()) {
            case HELLO, ANSWER -> throw new AssertionError("the switchboard's own: " + message);
            case CONNECT_SEGMENT ->
                    answer(
                            from,
                            message,
                            () ->
                                    ownSegment(message)
                                            .connect(
                                                    from,
                                                    message.second(),
                                                    message.first(),
                                                    message.value() != 0));
            case FIND_SPACE -> answer(from, message, () -> segmentAt(message.value()));
            case DISCONNECT_SEGMENT, DETACH_SEGMENT ->
                    ownSegments
                            .values()
                            .forEach(segment -> segment.forget(from, message.subject()));
            case SEGMENT_GONE -> segmentGone(message);
            case ATTACH_SEGMENT ->
                    answer(from, message, () -> ownSegment(message).attach(from, message.first()));
            case SEGMENT_STEP ->
                    workers.execute(
                            () -> // may tell others, and wait for them
                            answer(
                                            from,
                                            message,
                                            () -> {
                                                ownSegment(message)
                                                        .step(
                                                                LocalSegment.Step.of(
                                                                        message.first()),
                                                                message.second(),
                                                                (int) message.value());
                                                return 0;
                                            }));
            case SEGMENT_EVENT -> {
                var share = shares.get(message.subject());
                if (share != null) {
                    share.events()
                            .put(
                                    new SegmentEvent(
                                            message.first(),
                                            message.second(),
                                            (int) message.value()));
                }
            }
            case CONNECT_INTERRUPT ->
                    answer(from, message, () -> interrupts.connect(from, message));
            case DISCONNECT_INTERRUPT -> interrupts.forget(from, message.subject());
            case TRIGGER, TRIGGER_WITH_DATA -> interrupts.trigger(from, message);
            case FLAG_STORED ->
                    ownSegments
                            .values()
                            .forEach(segment ->
                                    segment.stored(
                                            from,
                                            message.subject(),
                                            message.value(),
                                            message.first() != 0));
            case INTERRUPT_GONE -> {
                var interrupt = remoteInterrupts.get(message.subject());
                if (interrupt != null) {
                    interrupt.lost();
                }
            }
            case TAKEN -> {
                var interrupt = remoteInterrupts.get(message.subject());
                if (interrupt != null) {
                    interrupt.taken();
                }
            }
            case LOOK ->
                    workers.execute(() -> { // may connect to new members of a group
                        look();
                        from.answer(message, sisci_h.SCI_ERR_OK(), 0);
                    });
        }
    }

    private long segmentAt(long address) {
        return ownSegments.values().stream()
                .filter(segment -> segment.isAt(address))
                .findFirst()
                .orElseThrow(() -> new Refusal(sisci_h.SCI_ERR_CONNECTION_REFUSED()))
                .id();
    }

    private void segmentGone(Message message) {
        var remote = targets.get(message.subject());
        if (remote != null) {
            remote.gone(message.subject(), message.first() != 0);
        }
        var share = shares.get(message.subject());
        if (share != null) {
            share.lost();
        }
    }

    private OwnSegment ownSegment(Message message) {
        var segment = ownSegments.get(message.subject());
        Refusal.when(segment == null, sisci_h.SCI_ERR_NO_SUCH_SEGMENT());
        return segment;
    }

    @FunctionalInterface
    private interface Reply {
        long value();
    }

    private static void answer(Connection to, Message question, Reply reply) {
        try {
            to.answer(question, sisci_h.SCI_ERR_OK(), reply.value());
        } catch (Refusal e) {
            to.answer(question, e.code(), 0);
        }
    }

    @Override
    public void lost(Connection connection) {
        remoteSegments.forEach(segment -> segment.lost(connection));
        ownSegments.values().forEach(segment -> segment.lost(connection));
        interrupts.lost(connection);
        remoteInterrupts.values().stream()
                .filter(interrupt -> interrupt.connection() == connection)
                .forEach(RemoteInterrupt::lost);
        shares.values().stream()
                .filter(share -> share.owner() == connection)
                .forEach(SharedSegment::lost);
        workers.execute(() -> sweepAfter(connection));
    }

    /**
     * A process that was killed may hang up a moment before the socket by which it is known is
     * closed: the system closes what it had open one by one.
     */
    private void sweepAfter(Connection lost) {
        var gone = new Entry(lost.node(), Entry.Kind.MEMBER, lost.member(), lost.member());
        try {
            for (var sweeps = 0; sweeps < MOST_SWEEPS; sweeps++) {
                directory.sweep();
                if (!directory.entries().contains(gone) || Thread.interrupted()) {
                    return;
                }
                LockSupport.parkNanos(SWEEP_PAUSE_NANOS);
            }
        } catch (FabricException e) {
            LOG.debug("{} was not swept: {}", directory, e.getMessage());
        }
    }
}
