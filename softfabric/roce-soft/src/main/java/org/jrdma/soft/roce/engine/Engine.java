package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.MalformedPacketException;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The RoCE protocol of one device: its queue pairs, their timers, and the order in which they send.
 * Confined to one thread at a time; see the package description.
 *
 * <p>In each round, the caller {@linkplain #advance advances} the clock, passes incoming packets to
 * {@link #receive}, calls {@link #expireTimers}, and then calls {@link #transmit} once. Because
 * {@link #transmit} runs only after all packets of the round were received, their acknowledgements
 * are merged. Any thread may ring the {@link #doorbell} of a queue pair at any time after posting
 * work to it; the next {@link #transmit} processes the doorbell.
 */
public final class Engine {

    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

    /** The number that a multicast datagram carries as its destination queue pair. */
    private static final int MULTICAST = 0xff_ffff;

    /** The maximum number of queue pairs, and of XRC receive queues. */
    private static final int MAX_NUMBERS = 65_534;

    private static final long FLUSH_RETRY_NANOS = 10_000_000;

    private final NetworkPacketSender sender;
    private final MemoryRegistry memory;
    private final EngineOptions options;
    private final FailureListener failures;
    private final InvariantCrc checksum = new InvariantCrc();
    private final IncomingPacket incoming = new IncomingPacket();
    private final Completion completion = new Completion();
    private final TimerQueue timers = new TimerQueue();

    private final NumberTable<QueuePair> queuePairs;
    private final NumberTable<XrcReceiveQueue> extendedReceives;

    /** The queue pairs that may have packets to send, in the order of their turns. */
    private final ArrayQueue<Schedulable> active = new ArrayQueue<>();

    private final CongestionWindows paths;

    private final Alarms alarms = new Alarms();

    private final List<GroupMember> groups = new ArrayList<>();
    private final Doorbells doorbells = new Doorbells();
    private @Nullable ManagementQueuePair management;
    private long now;

    private record GroupMember(RoceGid group, QueuePair queuePair) {}

    /**
     * @param random the random generator for queue pair numbers, which must be unpredictable to
     *     peers
     */
    public Engine(
            NetworkPacketSender link,
            MemoryRegistry memory,
            EngineOptions options,
            RandomGenerator random) {
        this(link, memory, options, random, Engine::log);
    }

    /** Creates an engine that reports failures to {@code failures} instead of logging them. */
    Engine(
            NetworkPacketSender link,
            MemoryRegistry memory,
            EngineOptions options,
            RandomGenerator random,
            FailureListener failures) {
        this.sender = link;
        this.paths = new CongestionWindows(link, options.pathBytes());
        this.memory = memory;
        this.options = options;
        this.failures = failures;
        this.queuePairs = new NumberTable<>(random, MAX_NUMBERS);
        this.extendedReceives = new NumberTable<>(random, MAX_NUMBERS);
    }

    /**
     * Creates a queue pair in the RESET state.
     *
     * @param queues the work queues, which must have been created for {@code options} and must not
     *     be used by another queue pair
     * @return the queue pair, or null if all 65,534 queue pairs exist
     */
    public @Nullable QueuePair newQueuePair(QueuePairOptions options, WorkQueues queues) {
        var number = queuePairs.choose();
        if (number == NumberTable.NONE) {
            return null;
        }
        // Reserved now, so that the queue pair can be scheduled even if memory is exhausted later.
        active.reserve(queuePairs.size() + 1);
        timers.reserve(queuePairs.size() + 1);
        var queuePair = new QueuePair(this, number, options, queues);
        queuePairs.put(number, queuePair);
        return queuePair;
    }

    public @Nullable QueuePair queuePair(int number) {
        return queuePairs.find(number);
    }

    /** Destroys a queue pair. No further completions are reported for it. */
    public void destroy(QueuePair queuePair) {
        queuePair.reset();
        memory.unbindAll(queuePair);
        active.remove(queuePair);
        groups.removeIf(member -> member.queuePair() == queuePair);
        queuePairs.remove(queuePair.number());
    }

    /**
     * Sets the agent that receives management datagrams.
     *
     * @param address the source address of management datagrams that this engine sends
     */
    public void management(RoceGid address, ManagementAgent agent) {
        management = new ManagementQueuePair(sender, address, agent);
    }

    /**
     * Queues a management datagram; the next {@link #transmit} sends it. An {@linkplain #management
     * agent} must have been set.
     *
     * @param datagram the datagram, whose length is a multiple of 4. It is not copied before it is
     *     sent, so the caller must not change it
     */
    public void sendManagement(RoceGid remote, MemorySegment datagram) {
        if (management == null) {
            throw new IllegalStateException(
                    "Cannot send a management datagram: the engine has no management agent.");
        }
        management.post(remote, datagram);
    }

    /**
     * Creates an XRC receive queue. Requests that arrive over extended connections of {@code
     * domain} can name the queue by its number.
     *
     * @return the receive queue, or null if all 65,534 exist
     */
    public @Nullable XrcReceiveQueue newExtendedReceives(
            XrcDomainIdentity domain, ReceiveQueue queue, CompletionSink completions) {
        var number = extendedReceives.choose();
        if (number == NumberTable.NONE) {
            return null;
        }
        var receives = new XrcReceiveQueue(number, domain, queue, completions);
        extendedReceives.put(number, receives);
        return receives;
    }

    /**
     * Destroys an XRC receive queue. No further completions are reported for it, and requests that
     * name it are rejected.
     */
    public void destroy(XrcReceiveQueue receives) {
        extendedReceives.remove(receives.number());
        receives.destroy();
    }

    @Nullable XrcReceiveQueue extendedReceives(int number) {
        return extendedReceives.find(number);
    }

    /**
     * Adds a queue pair to a multicast group: the queue pair then receives datagrams sent to the
     * group.
     */
    public void joinGroup(QueuePair queuePair, RoceGid group) {
        groups.add(new GroupMember(group, queuePair));
    }

    /** Removes a queue pair from a multicast group. Reverts one call of {@link #joinGroup}. */
    public void leaveGroup(QueuePair queuePair, RoceGid group) {
        groups.remove(new GroupMember(group, queuePair));
    }

    /**
     * Processes an incoming packet. The caller may reuse the buffer after the call. Drops packets
     * that are malformed or have a wrong checksum, and packets for which no queue pair of this
     * engine exists.
     */
    public void receive(PacketBuffer packet) {
        try {
            incoming.decode(packet);
        } catch (MalformedPacketException dropped) {
            return;
        }
        if (incoming.destinationQueuePair() == MULTICAST) {
            receiveForGroup(packet);
            return;
        }
        if (incoming.destinationQueuePair() == ManagementAgent.QUEUE_PAIR) {
            receiveForManagement(packet);
            return;
        }
        var queuePair = queuePairs.find(incoming.destinationQueuePair());
        if (queuePair != null && queuePair.expects(incoming) && checksum.matches(packet)) {
            deliver(queuePair);
        }
    }

    private void deliver(QueuePair queuePair) {
        try {
            queuePair.receive(incoming);
        } catch (Throwable e) {
            failed(queuePair, e);
        }
    }

    private void receiveForManagement(PacketBuffer packet) {
        if (management != null && management.expects(incoming) && checksum.matches(packet)) {
            try {
                management.receive(incoming);
            } catch (Throwable e) {
                failures.failed(ManagementAgent.QUEUE_PAIR, e);
            }
        }
    }

    private void receiveForGroup(PacketBuffer packet) {
        if (incoming.opCode().transport() != Transport.DATAGRAM || !checksum.matches(packet)) {
            return;
        }
        for (var i = 0; i < groups.size(); i++) {
            var member = groups.get(i);
            if (member.group().high() == packet.destinationHigh()
                    && member.group().low() == packet.destinationLow()
                    && member.queuePair().expects(incoming)) {
                deliver(member.queuePair());
            }
        }
    }

    /**
     * Rings the doorbell of a queue pair: announces that work was posted to it, which the next
     * {@link #transmit} processes. May be called by any thread.
     */
    public void doorbell(QueuePair queuePair) {
        doorbells.ring(queuePair);
    }

    /**
     * Returns true if the doorbell of a queue pair was rung and {@link #transmit} has not processed
     * it yet. May be called by any thread.
     */
    public boolean hasRungDoorbells() {
        return !doorbells.isEmpty();
    }

    private void processDoorbells() {
        for (var queuePair = doorbells.takeAll(); queuePair != null; ) {
            var next = doorbells.next(queuePair);
            if (queuePairs.find(queuePair.number()) == queuePair) { // not destroyed
                try {
                    queuePair.flush();
                    activate(queuePair);
                } catch (Throwable e) {
                    failed(queuePair, e);
                }
            }
            queuePair = next;
        }
    }

    /**
     * Advances the clock of this engine.
     *
     * @param nanos the time in nanoseconds since an arbitrary origin, not less than in an earlier
     *     call
     */
    public void advance(long nanos) {
        now = nanos;
    }

    /**
     * Handles the timers that have expired. The caller must first pass all available packets to
     * {@link #receive}, because the answer that a timer waits for may already be in the socket if
     * this thread was late.
     */
    public void expireTimers() {
        if (now >= paths.deadline()) {
            paths.age(now);
        }
        for (var due = alarms.poll(now); due != null; due = alarms.poll(now)) {
            run(0, due);
        }
        var agent = management == null ? null : management.management();
        if (agent != null && agent.nextDeadline() <= now) {
            run(ManagementAgent.QUEUE_PAIR, () -> agent.expire(now));
        }
        for (var due = timers.poll(now); due != null; due = timers.poll(now)) {
            try {
                due.timerExpired();
            } catch (Throwable e) {
                failed(due, e);
            }
        }
    }

    /**
     * Schedules an action that {@link #expireTimers} runs once, after a delay of {@code nanos}
     * nanoseconds. The action must not throw.
     */
    public void alarm(long nanos, Runnable action) {
        alarms.set(now + nanos, action);
    }

    private void run(int queuePair, Runnable action) {
        try {
            action.run();
        } catch (Throwable e) {
            failures.failed(queuePair, e);
        }
    }

    private long managementDeadline() {
        return management == null ? TimerQueue.NEVER : management.management().nextDeadline();
    }

    public long completions() {
        return completion.count();
    }

    /**
     * Returns the time at which {@link #expireTimers} must be called if no packet arrives until
     * then, or {@link Long#MAX_VALUE} if no timer is running.
     */
    public long nextDeadline() {
        return Math.min(
                Math.min(alarms.next(), managementDeadline()),
                Math.min(timers.next(), paths.deadline()));
    }

    /**
     * Records that a queue pair waits for free capacity on a path, and may send when capacity
     * becomes available.
     */
    void awaitCapacity(PathCongestionWindow path) {
        paths.awaitCapacity(path);
    }

    /**
     * Processes doorbells and sends all pending packets. The queue pairs take turns, each sending
     * at most {@link EngineOptions#burst} packets per turn.
     *
     * @return false if the link ran out of packet buffers before all pending packets were sent
     */
    public boolean transmit() {
        processDoorbells();
        if (management != null && !management.send()) {
            return false;
        }
        for (var next = nextActive(); next != null; next = nextActive()) {
            switch (turn(next)) {
                case SENT -> active.addLast(next);
                case IDLE -> next.active = false;
                case LINK_FULL -> {
                    active.addFirst(next);
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Sends packets of a queue pair until the queue pair has none left, the link has no buffer, or
     * the queue pair has sent a burst.
     */
    private TransmitResult turn(Schedulable queuePair) {
        var outcome = TransmitResult.SENT;
        try {
            for (var i = 0; i < options.burst() && outcome == TransmitResult.SENT; i++) {
                outcome = queuePair.send();
            }
            return outcome;
        } catch (Throwable e) {
            failed(queuePair, e);
            return TransmitResult.IDLE;
        }
    }

    /**
     * Handles an exception that was thrown while the engine processed a queue pair. The queue pair
     * enters the error state; the other queue pairs continue. If there is too little memory to
     * flush the work requests, that is repeated later.
     */
    private void failed(Schedulable queuePair, Throwable cause) {
        var repeats = cause instanceof VirtualMachineError;
        try {
            queuePair.failOnce();
        } catch (Throwable again) {
            repeats |= again instanceof VirtualMachineError;
            failures.failed(queuePair.number(), again);
        }
        if (repeats) {
            timers.schedule(queuePair, now + FLUSH_RETRY_NANOS);
        }
        failures.failed(queuePair.number(), cause);
    }

    private static void log(int queuePair, Throwable cause) {
        try {
            LOG.error("Queue pair 0x{} failed", "%06x".formatted(queuePair), cause);
        } catch (Throwable unlogged) {
            // If logging fails, the other queue pairs must continue.
        }
    }

    /**
     * Returns the next queue pair that has packets, or one that has waited for its path and may
     * send now; null if there is none.
     */
    private @Nullable Schedulable nextActive() {
        paths.endTurn();
        var next = active.pollFirst();
        if (next == null) {
            next = paths.next();
        }
        if (next != null) {
            next.active = true;
        }
        return next;
    }

    /** Returns the congestion window of a path and counts one more user of it. */
    PathCongestionWindow enterPath(RoceGid remote) {
        return paths.enter(remote, now);
    }

    /** Applies the current capacities of all paths after the sender has changed one of them. */
    public void updatePaths() {
        paths.updateCapacities();
    }

    void leavePath(QueuePair queuePair, PathCongestionWindow path) {
        paths.leave(queuePair, path);
    }

    void activate(Schedulable queuePair) {
        if (!queuePair.active) {
            queuePair.active = true;
            active.addLast(queuePair);
        }
    }

    void schedule(QueuePair queuePair, long deadline) {
        timers.schedule(queuePair, deadline);
    }

    void cancelTimer(QueuePair queuePair) {
        timers.remove(queuePair);
    }

    NetworkPacketSender sender() {
        return sender;
    }

    Completion completion() {
        return completion;
    }

    MemoryRegistry memory() {
        return memory;
    }

    EngineOptions options() {
        return options;
    }

    public long now() {
        return now;
    }
}
