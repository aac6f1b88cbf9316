package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.ffi.linkage.SeqPacketSocket.Packet.NO_DESCRIPTOR;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.host.SignalSocket;
import org.jrdma.soft.sisci.host.SystemCalls;

/**
 * A connection to an interrupt of another node, or of this node. In C: {@code
 * sci_remote_interrupt_t} and {@code sci_remote_data_interrupt_t}. Safe for use by multiple
 * threads.
 */
public final class RemoteInterrupt implements IncomingPeerMessageDispatcher.ConnectedObject {

    /** The maximum number of bytes of data that a trigger can carry. */
    public static final int MAX_DATA = Message.MAX_DATA;

    /** The maximum number of triggers with data that the receiver has not taken yet. */
    private static final int MAX_UNTAKEN = 64;

    private final SciDescriptor descriptor;
    private final ProcessContext context;
    private final Connection connection;
    private final int number;
    private final int adapter;
    private final boolean carriesData;
    private final AtomicInteger untaken = new AtomicInteger();
    private volatile boolean lost;

    // Guarded by this
    private int socket = NO_DESCRIPTOR;
    private boolean disconnected;

    /** True after this process has left the fabric, which may happen while it connects. */
    private boolean abandoned;

    private RemoteInterrupt(
            SciDescriptor descriptor,
            Connection connection,
            int number,
            int adapter,
            boolean carriesData) {
        this.descriptor = descriptor;
        this.context = descriptor.context();
        this.connection = connection;
        this.number = number;
        this.adapter = adapter;
        this.carriesData = carriesData;
    }

    /**
     * Connects to an interrupt, and fails if it does not exist. In C: {@code SCIConnectInterrupt}
     * and {@code SCIConnectDataInterrupt}.
     */
    public static RemoteInterrupt connect(
            SciDescriptor descriptor, boolean carriesData, int node, int adapter, int interrupt) {
        var context = descriptor.context();
        context.topology().checkAdapter(adapter);
        context.topology().checkNode(node);
        context.topology().checkLink(node, adapter);
        var fabric = context.fabric();
        var entry =
                fabric.require(
                        node, new TypedInterruptNumber(carriesData, interrupt).kind(), interrupt);
        var connection = fabric.connect(entry);
        var number = context.objects().newNumber();
        var remote = new RemoteInterrupt(descriptor, connection, number, adapter, carriesData);
        descriptor.add();
        context.objects().add(number, connection, remote);
        try {
            var response =
                    fabric.requestDescriptor(
                            connection,
                            Message.of(
                                    Kind.CONNECT_INTERRUPT,
                                    interrupt,
                                    adapter,
                                    number,
                                    carriesData ? 1 : 0));
            remote.signalBy(response.descriptor());
            return remote;
        } catch (Throwable e) {
            context.objects().remove(number);
            descriptor.remove();
            throw e;
        }
    }

    /** Sends signals by a socket from now on, and closes it with this connection. */
    synchronized void signalBy(int newSocket) {
        if (newSocket == NO_DESCRIPTOR) {
            return;
        }
        if (abandoned || !SignalSocket.isSignalSocket(newSocket)) {
            SystemCalls.close(newSocket);
            throwIf(abandoned, SCI_ERR_NOT_CONNECTED());
            throw new SciException(
                    SCI_ERR_CONNECTION_REFUSED(),
                    "The owner of the interrupt has sent a descriptor that is not a UNIX stream socket.");
        }
        socket = newSocket;
    }

    public boolean carriesData() {
        return carriesData;
    }

    @Override
    public void received(Message message) {
        if (message.kind() == Kind.TAKEN) {
            untaken.decrementAndGet();
        } else if (message.kind() == Kind.INTERRUPT_GONE) {
            lost = true;
        }
    }

    @Override
    public void lost(Connection peer) {
        lost = true;
    }

    @Override
    public synchronized void abandon() {
        abandoned = true;
        if (socket != NO_DESCRIPTOR) {
            SystemCalls.close(socket);
            socket = NO_DESCRIPTOR;
        }
    }

    /**
     * Triggers the interrupt without blocking. If the owner of the interrupt has sent a socket, a
     * signal wakes up the thread that waits for the interrupt. Otherwise, or if the kernel has no
     * memory for the signal, a message is sent, which is repeated until the kernel accepts it.
     * Triggers by message that cannot be sent yet are combined into one message, which contains
     * their number.
     */
    public void trigger() {
        checkLink();
        if (!signals()) {
            connection.trigger(number);
        }
    }

    /** Sends a signal. Returns false if a message must be sent instead. */
    private synchronized boolean signals() {
        if (socket == NO_DESCRIPTOR) {
            return false;
        }
        var error = SignalSocket.send(socket);
        throwIf(error != 0 && !SignalSocket.isTemporary(error), SCI_ERR_NOT_CONNECTED());
        return error == 0;
    }

    /**
     * Triggers the interrupt with data, without blocking.
     *
     * @throws SciException if the receiver has too many triggers that it has not taken yet
     */
    public void trigger(byte[] data) {
        checkLink();
        throwIf(data.length > MAX_DATA, SCI_ERR_OUT_OF_RANGE());
        if (untaken.incrementAndGet() > MAX_UNTAKEN) {
            untaken.decrementAndGet();
            throw new SciException(SCI_ERR_NOSPC(), "The receive queue of the peer is full.");
        }
        connection.send(Message.carrying(Kind.TRIGGER_WITH_DATA, number, data));
    }

    private void checkLink() {
        throwIf(lost, SCI_ERR_NOT_CONNECTED());
        context.topology().checkLink(connection.node(), adapter);
    }

    public void disconnect() {
        synchronized (this) {
            throwIf(disconnected, SCI_ERR_ILLEGAL_PARAMETER());
            disconnected = true;
            abandon();
        }
        connection.send(Message.about(Kind.DISCONNECT_INTERRUPT, number));
        context.objects().remove(number);
        descriptor.remove();
    }
}
