package org.jrdma.soft.sisci.fabric;

import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;

/**
 * An interrupt of another node, or of this one. In C: {@code sci_remote_interrupt_t} and {@code
 * sci_remote_data_interrupt_t}. Safe for use by several threads.
 */
public final class RemoteInterrupt {

    /** The longest data of a trigger. */
    public static final int MOST_DATA = Message.MOST_DATA;

    /** How many triggers with data can be on the way, or wait to be taken. */
    private static final int MOST_UNTAKEN = 64;

    private final Descriptor descriptor;
    private final Member member;
    private final Connection connection;
    private final int number;
    private final int adapter;
    private final boolean carriesData;
    private final AtomicInteger untaken = new AtomicInteger();
    private volatile boolean lost;
    private boolean disconnected;

    private RemoteInterrupt(
            Descriptor descriptor,
            Connection connection,
            int number,
            int adapter,
            boolean carriesData) {
        this.descriptor = descriptor;
        this.member = descriptor.member();
        this.connection = connection;
        this.number = number;
        this.adapter = adapter;
        this.carriesData = carriesData;
    }

    /** Connects, or refuses at once. In C: {@code SCIConnectInterrupt}. */
    public static RemoteInterrupt connect(
            Descriptor descriptor, boolean carriesData, int node, int adapter, int interrupt) {
        var member = descriptor.member();
        member.checkAdapter(adapter);
        member.checkNode(node);
        var linkError = member.linkError(node, adapter);
        Refusal.when(linkError != 0, linkError);
        var entry =
                member.findOrRefuse(
                        node, new InterruptNumber(carriesData, interrupt).kind(), interrupt);
        var connection = member.connect(entry);
        var number = member.newNumber();
        var remote = new RemoteInterrupt(descriptor, connection, number, adapter, carriesData);
        descriptor.add();
        member.add(number, remote);
        try {
            member.ask(
                    connection,
                    Message.of(
                            Message.Kind.CONNECT_INTERRUPT,
                            interrupt,
                            adapter,
                            number,
                            carriesData ? 1 : 0));
            return remote;
        } catch (RuntimeException e) {
            member.removeInterrupt(number);
            descriptor.remove();
            throw e;
        }
    }

    /** Whether triggers carry data. */
    public boolean carriesData() {
        return carriesData;
    }

    Connection connection() {
        return connection;
    }

    void lost() {
        lost = true;
    }

    void taken() {
        untaken.decrementAndGet();
    }

    /** Triggers it. Never waits: triggers that find no room on the way are counted. */
    public void trigger() {
        checkWay();
        connection.trigger(number);
    }

    /**
     * Triggers it with data. Never waits.
     *
     * @throws Refusal if the receiver has not taken enough of what came before
     */
    public void trigger(byte[] data) {
        checkWay();
        Refusal.when(data.length > MOST_DATA, sisci_h.SCI_ERR_OUT_OF_RANGE());
        if (untaken.incrementAndGet() > MOST_UNTAKEN) {
            untaken.decrementAndGet();
            throw new Refusal(sisci_h.SCI_ERR_NOSPC(), "The receiver is behind.");
        }
        connection.send(Message.carrying(Message.Kind.TRIGGER_WITH_DATA, number, data));
    }

    private void checkWay() {
        Refusal.when(lost, sisci_h.SCI_ERR_NOT_CONNECTED());
        var linkError = member.linkError(connection.node(), adapter);
        Refusal.when(linkError != 0, linkError);
    }

    /** Ends it. */
    public void disconnect() {
        synchronized (this) {
            Refusal.when(disconnected, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            disconnected = true;
        }
        connection.send(Message.about(Message.Kind.DISCONNECT_INTERRUPT, number));
        member.removeInterrupt(number);
        descriptor.remove();
    }
}
