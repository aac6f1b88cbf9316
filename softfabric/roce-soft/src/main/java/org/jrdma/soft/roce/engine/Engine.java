package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.random.RandomGenerator;
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
 * The queue pairs of one device and their scheduling. For one thread at a time; see the package.
 *
 * <p>A round of its caller: {@link #advance} the time, {@link #receive} what came in, {@link
 * #expireTimers}, and then {@link #transmit} once, so that acknowledgements of one round travel as
 * one. The {@link #doorbell} of queue pairs with new work is rung by any thread at any time, and
 * answered with {@link #transmit}.
 */
public final class Engine {

    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

    /** The destination of a datagram to a group. */
    private static final int MULTICAST = 0xff_ffff;

    /** Numbers 0 and 1 are those of management. */
    private static final int FIRST_INDEX = 2;

    private final Transmitter transmitter;
    private final MemoryRegistry memory;
    private final EngineOptions options;
    private final FailureListener failures;
    private final InvariantCrc checksum = new InvariantCrc();
    private final IncomingPacket incoming = new IncomingPacket();
    private final Completion completion = new Completion();
    private final TimerQueue timers = new TimerQueue();

    private final NumberTable<QueuePair> queuePairs;
    private final NumberTable<ExtendedReceiveQueue> extendedReceives;

    /** Those that may have something to send, in the order of their turns. */
    private final ArrayDeque<Schedulable> active = new ArrayDeque<>();

    private final PathTable paths;

    private final PriorityQueue<Alarm> alarms = new PriorityQueue<>();

    private final List<GroupMember> groups = new ArrayList<>();
    private final Doorbells doorbells = new Doorbells();
    private @Nullable ManagementQueuePair management;
    private long now;

    private record GroupMember(Address group, QueuePair queuePair) {}

    /**
     * @param random where the high bits of numbers come from
     */
    public Engine(
            PacketLink link, MemoryRegistry memory, EngineOptions options, RandomGenerator random) {
        this(link, memory, options, random, Engine::log);
    }

    /** As the other, and notifies {@code failures} instead of writing to the log. */
    Engine(
            PacketLink link,
            MemoryRegistry memory,
            EngineOptions options,
            RandomGenerator random,
            FailureListener failures) {
        this.transmitter = new Transmitter(link, checksum);
        this.paths = new PathTable(options.pathBytes());
        this.memory = memory;
        this.options = options;
        this.failures = failures;
        this.queuePairs = new NumberTable<>(random, FIRST_INDEX);
        this.extendedReceives = new NumberTable<>(random, 1);
    }

    /**
     * Makes a queue pair, in state RESET.
     *
     * @param queues made for the same options, and for no other queue pair
     * @return null if there are 65,534 already
     */
    public @Nullable QueuePair newQueuePair(QueuePairOptions wanted, WorkQueues queues) {
        var number = queuePairs.claim();
        if (number == NumberTable.NONE) {
            return null;
        }
        var queuePair = new QueuePair(this, number, wanted, queues);
        queuePairs.put(number, queuePair);
        return queuePair;
    }

    /** Removes a queue pair, with no further completions. */
    public void destroy(QueuePair queuePair) {
        queuePair.reset();
        memory.unbindAll(queuePair);
        active.remove(queuePair);
        groups.removeIf(member -> member.queuePair() == queuePair);
        queuePairs.remove(queuePair.number());
    }

    /** Gives datagrams of management that come for {@code address} to {@code wanted}. */
    public void management(Address address, ManagementAgent wanted) {
        management = new ManagementQueuePair(transmitter, address, wanted);
    }

    /**
     * Sends a datagram of management when this next {@linkplain #transmit transmits}. Needs {@link
     * #management}.
     *
     * @param datagram not copied before; its length is a multiple of 4
     */
    public void sendManagement(Address remote, MemorySegment datagram) {
        if (management == null) {
            throw new IllegalStateException("no management agent");
        }
        management.post(remote, datagram);
    }

    /**
     * Makes a receive queue that requests over extended connections of the domain name.
     *
     * @return null if there are 65,535 already
     */
    public @Nullable ExtendedReceiveQueue newExtendedReceives(
            ExtendedDomain domain, ReceiveQueue queue, CompletionSink completions) {
        var number = extendedReceives.claim();
        if (number == NumberTable.NONE) {
            return null;
        }
        var made = new ExtendedReceiveQueue(number, domain, queue, completions);
        extendedReceives.put(number, made);
        return made;
    }

    /**
     * Removes a receive queue, with no further completions. A message that comes to it meanwhile
     * fails.
     */
    public void destroy(ExtendedReceiveQueue receives) {
        extendedReceives.remove(receives.number());
        receives.destroy();
    }

    @Nullable ExtendedReceiveQueue extendedReceives(int number) {
        return extendedReceives.find(number);
    }

    /** Lets datagrams to {@code group} reach a queue pair. */
    public void joinGroup(QueuePair queuePair, Address group) {
        groups.add(new GroupMember(group, queuePair));
    }

    /** Takes back one {@link #joinGroup}. */
    public void leaveGroup(QueuePair queuePair, Address group) {
        groups.remove(new GroupMember(group, queuePair));
    }

    /**
     * Takes a packet that came in, whose buffer is free again on return. Whatever is not a packet,
     * damaged, or for nobody here is dropped.
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
                LOG.error("The management agent failed and continues", e);
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
     * Tells that work was posted to a queue pair, which {@link #transmit} then looks at. From any
     * thread.
     */
    public void doorbell(QueuePair queuePair) {
        doorbells.ring(queuePair);
    }

    /** Whether a doorbell was rung that nobody has answered. From any thread. */
    public boolean isRung() {
        return !doorbells.areSilent();
    }

    private void answerDoorbells() {
        for (var rung = doorbells.takeAll(); rung != null; ) {
            var next = doorbells.next(rung);
            try {
                rung.flush();
                activate(rung);
            } catch (Throwable e) {
                failed(rung, e);
            }
            rung = next;
        }
    }

    /**
     * Turns the clock.
     *
     * @param nanos the time since some start; never less than before
     */
    public void advance(long nanos) {
        now = nanos;
    }

    /**
     * Does what was to be done by now. After all that came in was {@linkplain #receive received}:
     * what is late for the thread is not late for the peer.
     */
    public void expireTimers() {
        if (now >= paths.deadline()) {
            paths.age(now);
        }
        while (nextAlarm() <= now) {
            alarms.remove().action.run();
        }
        if (management != null && management.management().nextDeadline() <= now) {
            expire(management.management());
        }
        for (var due = timers.poll(now); due != null; due = timers.poll(now)) {
            try {
                due.timerExpired();
            } catch (Throwable e) {
                failed(due, e);
            }
        }
    }

    /** Something that somebody else wants done at a moment. */
    private record Alarm(long deadline, Runnable action) implements Comparable<Alarm> {

        @Override
        public int compareTo(Alarm other) {
            return Long.compare(deadline, other.deadline);
        }
    }

    /** Does something once, so much later, as {@link #expireTimers} does. It must not throw. */
    public void alarm(long nanos, Runnable action) {
        alarms.add(new Alarm(now + nanos, action));
    }

    private void expire(ManagementAgent due) {
        try {
            due.expire(now);
        } catch (Throwable e) {
            LOG.error("The management agent failed and continues", e);
        }
    }

    private long managementDeadline() {
        return management == null ? TimerQueue.NEVER : management.management().nextDeadline();
    }

    private long nextAlarm() {
        return alarms.isEmpty() ? TimerQueue.NEVER : alarms.peek().deadline;
    }

    /** How many completions there were so far. */
    public long completions() {
        return completion.count();
    }

    /**
     * When to {@link #expireTimers} next though nothing came in; {@link Long#MAX_VALUE} for never.
     */
    public long nextDeadline() {
        return Math.min(
                Math.min(nextAlarm(), managementDeadline()),
                Math.min(timers.next(), paths.deadline()));
    }

    /** Notes that a queue pair waits for room on a path. */
    void awaitRoom(Path path) {
        paths.awaitRoom(path);
    }

    /**
     * Sends what there is to send, in turns.
     *
     * @return false if the link had no buffer for some of it
     */
    public boolean transmit() {
        answerDoorbells();
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

    /** Lets a queue pair send until its turn is over. */
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
     * Something went wrong at a queue pair that nobody foresaw: here, in who is told of completions
     * and events, or for want of memory. It fails, and the others go on.
     */
    private void failed(Schedulable queuePair, Throwable cause) {
        try {
            queuePair.failOnce();
        } catch (Throwable again) {
            failures.failed(queuePair.number(), again);
        }
        failures.failed(queuePair.number(), cause);
    }

    private static void log(int queuePair, Throwable cause) {
        try {
            LOG.error("Queue pair {} failed", queuePair, cause);
        } catch (OutOfMemoryError untold) {
            // The others go on all the same.
        }
    }

    /** The next queue pair with a turn; otherwise one that waited for its path and finds room. */
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

    /** Adds a user to the path to an address. */
    Path enterPath(Address remote) {
        return paths.enter(remote, now);
    }

    void leavePath(QueuePair queuePair, Path path) {
        paths.leave(queuePair, path);
    }

    void activate(Schedulable queuePair) {
        if (!queuePair.active) {
            active.addLast(queuePair);
            queuePair.active = true; // after what may find no memory
        }
    }

    void schedule(QueuePair queuePair, long deadline) {
        timers.schedule(queuePair, deadline);
    }

    void cancelTimer(QueuePair queuePair) {
        timers.remove(queuePair);
    }

    Transmitter transmitter() {
        return transmitter;
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
