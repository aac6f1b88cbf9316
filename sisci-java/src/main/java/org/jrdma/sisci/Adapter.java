package org.jrdma.sisci;

import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.sisci.internal.NodeFunctions;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.model.DmaCapabilities;
import org.jrdma.sisci.model.SisciException;

/**
 * An adapter of this machine, which connects the machine to the fabric.
 *
 * <p>An adapter can be used while the {@link Node} that returned it is open. Safe for use by
 * multiple threads.
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

    /** The properties of an adapter. */
    public enum Query {
        SERIAL_NUMBER(sisci_query.SCI_Q_ADAPTER_SERIAL_NUMBER),
        CARD_TYPE(sisci_query.SCI_Q_ADAPTER_CARD_TYPE),
        NODE_ID(sisci_query.SCI_Q_ADAPTER_NODEID),
        /** 1 if the adapter is part of the fabric's configuration. */
        CONFIGURED(sisci_query.SCI_Q_ADAPTER_CONFIGURED),
        DMA_MTU(sisci_query.SCI_Q_ADAPTER_DMA_MTU),
        MULTICAST_GROUPS(sisci_query.SCI_Q_ADAPTER_MCAST_MAX_GROUPS),
        /** The bus number times 256, plus the device number times 8, plus the function number. */
        BUS_DEVICE_FUNCTION(sisci_query.SCI_Q_ADAPTER_BDF),
        LINKS(sisci_query.SCI_Q_ADAPTER_NUMBER_OF_LINKS);

        private final sisci_query constant;

        Query(sisci_query constant) {
            this.constant = constant;
        }
    }

    /** The properties of a link of an adapter. */
    public enum LinkQuery {
        /** 1 if the link is operational. */
        OPERATIONAL(sisci_query.SCI_Q_ADAPTER_LINK_OPERATIONAL),
        /** The width of the link, in PCIe lanes. */
        WIDTH(sisci_query.SCI_Q_ADAPTER_LINK_WIDTH),
        /** The PCIe generation of the link. */
        SPEED(sisci_query.SCI_Q_ADAPTER_LINK_SPEED),
        /** The uptime of the link, in seconds. */
        UPTIME(sisci_query.SCI_Q_ADAPTER_LINK_UPTIME),
        /** The downtime of the link, in seconds. */
        DOWNTIME(sisci_query.SCI_Q_ADAPTER_LINK_DOWNTIME),
        /** 1 if a cable is inserted into the port of the link. */
        CABLE_INSERTED(sisci_query.SCI_Q_ADAPTER_LINK_CABLE_INSERTED),
        /** 1 if the link is enabled. */
        ENABLED(sisci_query.SCI_Q_ADAPTER_LINK_ENABLED),
        /** The number of the port at the other end of the link. */
        PARTNER_PORT(sisci_query.SCI_Q_ADAPTER_LINK_PARTNER_PORT_NO);

        private final sisci_query constant;

        LinkQuery(sisci_query constant) {
            this.constant = constant;
        }
    }

    /** Returns the number of this adapter. The adapters of a machine are numbered from 0. */
    public int number() {
        return number;
    }

    /** Returns the node id that this adapter has in the fabric. */
    public int nodeId() {
        return nodeId;
    }

    /**
     * Queries a property of this adapter. In C: {@code SCIQuery} with {@code SCI_Q_ADAPTER}.
     *
     * @throws UnsupportedOperationException if the library does not export the query's number
     */
    public int query(Query query) throws SisciException {
        return query(query.constant, 0);
    }

    /**
     * Queries a property of a link of this adapter. In C: {@code SCIQuery} with {@code
     * SCI_Q_ADAPTER}.
     *
     * @param link the number of the link, from 0
     * @throws UnsupportedOperationException if the library does not export the query's number
     */
    public int query(LinkQuery query, int link) throws SisciException {
        return query(query.constant, link);
    }

    private int query(sisci_query subcommand, int link) throws SisciException {
        return inCall(() -> nodes().queryAdapter(number, link, subcommand));
    }

    /**
     * Returns true if a link of this adapter is operational.
     *
     * @param link the number of the link, from 0
     */
    public boolean isLinkOperational(int link) throws SisciException {
        return query(LinkQuery.OPERATIONAL, link) != 0;
    }

    /**
     * Reads a control register of this adapter. The type of the adapter determines the registers.
     * In C: {@code SCIGetLocalCSR}.
     *
     * @throws UnsupportedOperationException if the library does not have the function
     */
    public int readRegister(int offset) throws SisciException {
        return inCall(
                () -> nodes().register(node.address(), number, offset, register(offset, nodeId)));
    }

    /**
     * Writes a control register of this adapter. In C: {@code SCISetLocalCSR}.
     *
     * @throws UnsupportedOperationException if the library does not have the function
     */
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
     * Reads a control register of an adapter in another node. In C: {@code SCIGetCSRRegister}.
     *
     * @param peer the id of the other node
     * @throws UnsupportedOperationException if the library does not have the function
     */
    public int readRemoteRegister(int peer, int offset) throws SisciException {
        return inCall(() ->
                nodes().remoteRegister(
                                node.address(), number, peer, offset, register(offset, peer)));
    }

    /**
     * Writes a control register of an adapter in another node. In C: {@code SCISetCSRRegister}.
     *
     * @param peer the id of the other node
     * @throws UnsupportedOperationException if the library does not have the function
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

    private static String register(int offset, int ofNodeId) {
        return "register 0x%X of node %d".formatted(offset, ofNodeId);
    }

    /**
     * Returns true if this adapter has a DMA engine of the given kind. In C: {@code SCIQuery} with
     * {@code SCI_Q_DMA}.
     */
    public boolean isDmaAvailable(DmaEngineKind engine) throws SisciException {
        return inCall(() -> nodes().isDmaAvailable(number, flags(engine)));
    }

    /**
     * Returns the capabilities of a DMA engine of this adapter. In C: {@code SCIQuery} with {@code
     * SCI_Q_DMA}.
     */
    public DmaCapabilities dmaCapabilities(DmaEngineKind engine) throws SisciException {
        return inCall(() -> nodes().dmaCapabilities(number, flags(engine)));
    }

    private int flags(DmaEngineKind engine) {
        return engine.flags(node.functions().library());
    }

    private NodeFunctions nodes() {
        return node.functions().nodes();
    }

    private <T> T inCall(SisciObject.Call<T, SisciException> call) throws SisciException {
        return SisciObject.inCall(node.lifetime(), call);
    }

    /** Returns the numbers of the adapter and its node. */
    @Override
    public String toString() {
        return "adapter %d of node %d".formatted(number, nodeId);
    }
}
