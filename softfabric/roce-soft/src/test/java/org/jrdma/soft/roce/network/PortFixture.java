package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.Completion;
import org.jrdma.soft.roce.engine.CompletionKind;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.QueuePairOptions;
import org.jrdma.soft.roce.engine.ReceiveParameters;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.jrdma.soft.roce.engine.SendParameters;
import org.jrdma.soft.roce.engine.WorkQueues;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.Transport;

/** A port at an address that no other test uses, with a registered memory region. */
final class PortFixture implements AutoCloseable {

    static final long REGION = 4 << 20;
    static final long START = 0x10_0000;

    private static final int ALL =
            Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC;

    /** A copy of a {@link Completion}. */
    record Done(int queuePair, long id, CompletionStatus status, CompletionKind kind, long bytes) {}

    final Port port;
    final ProtectionDomain domain = new ProtectionDomain();
    final MemorySegment memory = Arena.ofAuto().allocate(REGION, 64);
    final MemoryRegion region;
    final Queue<Done> done = new ConcurrentLinkedQueue<>();

    /** The number of completions, for tests that must not allocate memory. */
    final AtomicLong completions = new AtomicLong();

    /**
     * True if completions are added to {@link #done}; false for tests that must not allocate
     * memory.
     */
    boolean keepsCompletions = true;

    // The following fields are written only by the thread that drives the port.
    private final AtomicLong receives = new AtomicLong();
    volatile CompletionStatus lastFailure = CompletionStatus.SUCCESS;

    private PortFixture(Port port) {
        this.port = port;
        this.region = port.memory().register(domain, memory, START, ALL);
    }

    /**
     * Opens a port at a random loopback address. The address is random because several builds may
     * run on one machine.
     */
    static PortFixture anywhere() throws FabricException {
        return anywhere(true);
    }

    /**
     * Opens a port at a random loopback address.
     *
     * @param sharesMemory whether the port exchanges packets with other ports through shared memory
     */
    static PortFixture anywhere(boolean sharesMemory) throws FabricException {
        return anywhere(PortOptions.at(RoceGid.ipv4(0)).socketBuffer(), sharesMemory);
    }

    /**
     * Opens a port at a random loopback address.
     *
     * @param socketBuffer the size of its socket buffers in bytes
     * @param sharesMemory whether the port exchanges packets with other ports through shared memory
     */
    static PortFixture anywhere(int socketBuffer, boolean sharesMemory) throws FabricException {
        while (true) {
            try {
                var options = PortOptions.at(randomAddress()).socketBuffer(socketBuffer);
                return new PortFixture(Port.open(options.sharesMemory(sharesMemory)));
            } catch (FabricException e) {
                if (e.code() != Errno.EADDRINUSE) {
                    throw e;
                }
            }
        }
    }

    static PortFixture at(RoceGid address) throws FabricException {
        return new PortFixture(Port.open(PortOptions.at(address)));
    }

    /**
     * Opens a socket at a random loopback address, for tests that need no port.
     *
     * @param buffer the size of its socket buffers in bytes
     */
    static UdpSocket openSocket(int buffer, SystemCalls calls) throws FabricException {
        while (true) {
            try {
                var address = randomAddress();
                return UdpSocket.at(address, LocalInterface.of(address), buffer, calls);
            } catch (FabricException e) {
                if (e.code() != Errno.EADDRINUSE) {
                    throw e;
                }
            }
        }
    }

    static RoceGid randomAddress() {
        return RoceGid.ipv4(0x7f01_0000 + ThreadLocalRandom.current().nextInt(1, 0xfd_ffff));
    }

    QueuePair newQueuePair(Transport transport) {
        var options =
                new QueuePairOptions(
                        transport, domain, this::add, this::add, _ -> {}, 256, 256, 2, 2, 64, null,
                        null);
        return port.control(engine ->
                Objects.requireNonNull(
                        engine.newQueuePair(options, WorkQueues.of(options)), "no free number"));
    }

    private boolean add(Completion completion) {
        if (keepsCompletions) {
            done.add(
                    new Done(
                            completion.queuePair(),
                            completion.id(),
                            completion.status(),
                            completion.kind(),
                            completion.bytes()));
        }
        if (completion.status() != CompletionStatus.SUCCESS) {
            lastFailure = completion.status();
        }
        if (completion.kind() == CompletionKind.RECEIVE) {
            receives.setRelease(receives.getPlain() + 1);
        }
        completions.setRelease(completions.getPlain() + 1);
        return true;
    }

    /** Returns the number of receives that have completed. */
    long received() {
        return receives.getAcquire();
    }

    void connect(QueuePair queuePair, PortFixture peer, QueuePair other, int mtu, int timeout) {
        connect(queuePair, peer.port.address(), other.number(), mtu, timeout);
    }

    void connect(QueuePair queuePair, RoceGid peer, int number, int mtu, int timeout) {
        port.control(_ -> {
            queuePair.initialize(ALL, 0xffff, 0x1234);
            queuePair.readyToReceive(
                    new ReceiveParameters(port.address(), peer, number, mtu, 0xfffff0, 4, 12));
            queuePair.readyToSend(new SendParameters(0xfffff0, timeout, 7, 7, 4));
            return queuePair;
        });
    }

    /** Creates a queue pair at each of two stations, connects the queue pairs, and returns both. */
    static QueuePair[] connected(PortFixture left, PortFixture right, int mtu) {
        return connected(left, right, mtu, 14);
    }

    static QueuePair[] connected(PortFixture left, PortFixture right, int mtu, int timeout) {
        var one = left.newQueuePair(Transport.RELIABLE);
        var other = right.newQueuePair(Transport.RELIABLE);
        left.connect(one, right, other, mtu, timeout);
        right.connect(other, left, one, mtu, timeout);
        return new QueuePair[] {one, other};
    }

    void receive(QueuePair queuePair, long id, long offset, int bytes) {
        queuePair.receives().claim().begin(id).buffer(START + offset, bytes, region.key());
        queuePair
                .receives()
                .post(); // needs no doorbell: the engine reads the queue when a message arrives
    }

    void send(QueuePair queuePair, long id, long offset, int bytes) {
        queuePair
                .sends()
                .claim()
                .begin(id, SendOperationKind.SEND)
                .signaled()
                .buffer(START + offset, bytes, region.key());
        queuePair.sends().post();
        port.ring(queuePair);
    }

    /**
     * Posts a WRITE or READ between memory at an offset and memory at the same offset of the peer.
     */
    void move(
            QueuePair queuePair,
            long id,
            SendOperationKind operation,
            long offset,
            int bytes,
            PortFixture peer) {
        queuePair
                .sends()
                .claim()
                .begin(id, operation)
                .signaled()
                .buffer(START + offset, bytes, region.key())
                .remote(START + offset, peer.region.key());
        queuePair.sends().post();
        port.ring(queuePair);
    }

    /** Waits for the next completion without polling the port, and returns it. */
    Done await() throws InterruptedException {
        var deadline = System.nanoTime() + 20_000_000_000L;
        while (done.isEmpty()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("no completion within 20 s");
            }
            Thread.sleep(0, 50_000);
        }
        return done.remove();
    }

    @Override
    public void close() {
        port.close();
    }
}
