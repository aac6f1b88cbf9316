package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A subsystem, or a referral to another discovery subsystem, and the address at which a host can
 * reach it.
 *
 * @param transport the transport, such as {@link #RDMA}
 * @param family the address family, such as {@link #IPV4}
 * @param kind the kind of the subsystem, such as {@link #NVM_SUBSYSTEM}
 * @param portId the id of the port of the target
 * @param controllerId the id of the controller, or {@link ConnectData#ANY_CONTROLLER}
 * @param adminEntries the number of entries of the admin queue
 * @param service the port number of the transport, at most 32 characters
 * @param subsystemName the qualified name of the subsystem
 * @param address the address, at most 256 characters
 */
public record DiscoveryEntry(
        int transport,
        int family,
        int kind,
        int portId,
        int controllerId,
        int adminEntries,
        String service,
        String subsystemName,
        String address) {

    /** The size in bytes. */
    public static final int BYTES = 1024;

    /** The transport RDMA. */
    public static final int RDMA = 1;

    /** The transport TCP. */
    public static final int TCP = 3;

    /** The address family IPv4. */
    public static final int IPV4 = 1;

    /** The address family IPv6. */
    public static final int IPV6 = 2;

    /** A referral to another discovery subsystem. */
    public static final int REFERRAL = 1;

    /** A subsystem with namespaces. */
    public static final int NVM_SUBSYSTEM = 2;

    /** The discovery subsystem itself. */
    public static final int THIS_DISCOVERY = 3;

    private static final Pattern PORT = Pattern.compile("[1-9][0-9]{0,4}");
    private static final int MAX_PORT = 65_535;
    private static final int SERVICE_BYTES = 32;
    private static final int ADDRESS_BYTES = 256;
    private static final int SERVICE = 32;
    private static final int NAME = 256;
    private static final int ADDRESS = 512;
    private static final int QUEUE_PAIR_TYPE = 768;
    private static final int RELIABLE_CONNECTED = 1;
    private static final int ANY_PROVIDER = 1;
    private static final int RDMA_CM = 1;

    /**
     * Returns the address as an IP address and a port; empty for another transport, and if the
     * texts of the entry are no such address. Names are not resolved, because the texts are those
     * of another machine.
     */
    public Optional<InetSocketAddress> rdmaAddress() {
        if (transport != RDMA || !PORT.matcher(service).matches()) {
            return Optional.empty();
        }
        var port = Integer.parseInt(service);
        try {
            return port > MAX_PORT
                    ? Optional.empty()
                    : Optional.of(new InetSocketAddress(InetAddress.ofLiteral(address), port));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    /** Decodes an entry. An invalid name is decoded as an empty one. */
    public static DiscoveryEntry decode(MemorySegment data, long offset) {
        var entry = data.asSlice(offset, BYTES);
        return new DiscoveryEntry(
                Fields.unsignedByte(entry, 0),
                Fields.unsignedByte(entry, 1),
                Fields.unsignedByte(entry, 2),
                Fields.unsignedShort(entry, 4),
                Fields.unsignedShort(entry, 6),
                Fields.unsignedShort(entry, 8),
                Fields.text(entry, SERVICE, SERVICE_BYTES),
                QualifiedName.decode(entry, NAME).orElse(""),
                Fields.text(entry, ADDRESS, ADDRESS_BYTES));
    }

    /** Encodes an entry for RDMA into zeroed memory. */
    public void encode(MemorySegment data, long offset) {
        var entry = data.asSlice(offset, BYTES);
        Fields.putByte(entry, 0, transport);
        Fields.putByte(entry, 1, family);
        Fields.putByte(entry, 2, kind);
        Fields.putShort(entry, 4, portId);
        Fields.putShort(entry, 6, controllerId);
        Fields.putShort(entry, 8, adminEntries);
        Fields.putText(entry, SERVICE, SERVICE_BYTES, service);
        QualifiedName.encode(entry, NAME, subsystemName);
        Fields.putText(entry, ADDRESS, ADDRESS_BYTES, address);
        Fields.putByte(entry, QUEUE_PAIR_TYPE, RELIABLE_CONNECTED);
        Fields.putByte(entry, QUEUE_PAIR_TYPE + 1, ANY_PROVIDER);
        Fields.putByte(entry, QUEUE_PAIR_TYPE + 2, RDMA_CM);
    }
}
