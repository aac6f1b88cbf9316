package org.jrdma.sisci;

import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.sisci.internal.NodeFunctions;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.model.DmaCapabilities;
import org.jrdma.sisci.model.SisciException;

/**
 * One of this machine's adapters: a way into the fabric.
 *
 * <p>Usable as long as the {@link Node} is open that it was asked of. Safe for use by several
 * threads.
 */
public final class Adapter {

    private final NodeHandle node;
    private final int number;
    private final int nodeId;

    Adapter(NodeHandle node, int number, int nodeId) {
        this.node = node;
        this.number = number;
        this.nodeId = nodeId;
    }

    /** What can be asked of an adapter. */
    public enum Query {
        SERIAL_NUMBER(sisci_query.SCI_Q_ADAPTER_SERIAL_NUMBER),
        CARD_TYPE(sisci_query.SCI_Q_ADAPTER_CARD_TYPE),
        NODE_ID(sisci_query.SCI_Q_ADAPTER_NODEID),
        /** 1 where the fabric's configuration knows it. */
        CONFIGURED(sisci_query.SCI_Q_ADAPTER_CONFIGURED),
        DMA_MTU(sisci_query.SCI_Q_ADAPTER_DMA_MTU),
        MULTICAST_GROUPS(sisci_query.SCI_Q_ADAPTER_MCAST_MAX_GROUPS),
        /** The bus number times 256, the device number times 8, and the function. */
        BUS_DEVICE_FUNCTION(sisci_query.SCI_Q_ADAPTER_BDF),
        LINKS(sisci_query.SCI_Q_ADAPTER_NUMBER_OF_LINKS);

        private final sisci_query constant;

        Query(sisci_query constant) {
            this.constant = constant;
        }
    }

    /** What can be asked of a link of an adapter. */
    public enum LinkQuery {
        /** 1 where it works. */
        OPERATIONAL(sisci_query.SCI_Q_ADAPTER_LINK_OPERATIONAL),
        /** In lanes. */
        WIDTH(sisci_query.SCI_Q_ADAPTER_LINK_WIDTH),
        /** A generation of PCIe. */
        SPEED(sisci_query.SCI_Q_ADAPTER_LINK_SPEED),
        /** In seconds. */
        UPTIME(sisci_query.SCI_Q_ADAPTER_LINK_UPTIME),
        /** In seconds. */
        DOWNTIME(sisci_query.SCI_Q_ADAPTER_LINK_DOWNTIME),
        /** 1 where there is a cable. */
        CABLE_INSERTED(sisci_query.SCI_Q_ADAPTER_LINK_CABLE_INSERTED),
        /** 1 where it is switched on. */
        ENABLED(sisci_query.SCI_Q_ADAPTER_LINK_ENABLED),
        /** The port at the other end. */
        PARTNER_PORT(sisci_query.SCI_Q_ADAPTER_LINK_PARTNER_PORT_NO);

        private final sisci_query constant;

        LinkQuery(sisci_query constant) {
            this.constant = constant;
        }
    }

    /** Its number; they count from 0. */
    public int number() {
        return number;
    }

    /** The id that it gives this node. */
    public int nodeId() {
        return nodeId;
    }

    /**
     * Asks the adapter. In C: {@code SCIQuery} with {@code SCI_Q_ADAPTER}.
     *
     * @throws UnsupportedOperationException if the library does not tell the query's number, which
     *     is not public
     */
    public int query(Query query) throws SisciException {
        return query(query.constant, 0);
    }

    /** Asks one of its links; they count from 0. As {@link #query(Query)}. */
    public int query(LinkQuery query, int link) throws SisciException {
        return query(query.constant, link);
    }

    private int query(sisci_query what, int link) throws SisciException {
        return inCall(() -> nodes().queryAdapter(number, link, what));
    }

    /** Whether a link works. */
    public boolean isLinkOperational(int link) throws SisciException {
        return query(LinkQuery.OPERATIONAL, link) != 0;
    }

    /**
     * Loads a control register; which there are is up to the adapter. In C: {@code SCIGetLocalCSR}.
     *
     * @throws UnsupportedOperationException if the library has none
     */
    public int readRegister(int offset) throws SisciException {
        return inCall(
                () -> nodes().register(node.address(), number, offset, register(offset, nodeId)));
    }

    /** Stores into a control register. As {@link #readRegister}. In C: {@code SCISetLocalCSR}. */
    public void writeRegister(int offset, int value) throws SisciException {
        SisciObject.whileOpen(
                node.lifetime(),
                () ->
                        nodes().setRegister(
                                        node.address(),
                                        number,
                                        offset,
                                        value,
                                        register(offset, nodeId)));
    }

    /**
     * Loads a control register of another node's adapter. As {@link #readRegister}. In C: {@code
     * SCIGetCSRRegister}.
     */
    public int readRemoteRegister(int peer, int offset) throws SisciException {
        return inCall(() ->
                nodes().remoteRegister(
                                node.address(), number, peer, offset, register(offset, peer)));
    }

    /**
     * Stores into a control register of another node's adapter. As {@link #readRegister}. In C:
     * {@code SCISetCSRRegister}.
     */
    public void writeRemoteRegister(int peer, int offset, int value) throws SisciException {
        SisciObject.whileOpen(
                node.lifetime(),
                () ->
                        nodes().setRemoteRegister(
                                        node.address(),
                                        number,
                                        peer,
                                        offset,
                                        value,
                                        register(offset, peer)));
    }

    private static String register(int offset, int ofNode) {
        return "register 0x%X of node %d".formatted(offset, ofNode);
    }

    /** Whether it has such a DMA engine. In C: {@code SCIQuery} with {@code SCI_Q_DMA}. */
    public boolean isDmaAvailable(DmaEngine engine) throws SisciException {
        return inCall(() -> nodes().isDmaAvailable(number, flags(engine)));
    }

    /** What its DMA engine can do. In C: {@code SCIQuery} with {@code SCI_Q_DMA}. */
    public DmaCapabilities dmaCapabilities(DmaEngine engine) throws SisciException {
        return inCall(() -> nodes().dmaCapabilities(number, flags(engine)));
    }

    private int flags(DmaEngine engine) {
        return engine.flags(node.functions().library());
    }

    private NodeFunctions nodes() {
        return node.functions().nodes();
    }

    private <T> T inCall(SisciObject.Call<T, SisciException> call) throws SisciException {
        return SisciObject.inCall(node.lifetime(), call);
    }

    /** The adapter and the node that it belongs to. */
    @Override
    public String toString() {
        return "adapter %d of node %d".formatted(number, nodeId);
    }
}
