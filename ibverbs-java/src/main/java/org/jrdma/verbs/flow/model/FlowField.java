package org.jrdma.verbs.flow.model;

/** A field of a header that a {@link FlowHeaderMatch} can match. */
public enum FlowField {
    /** The destination MAC address. */
    ETHERNET_DESTINATION(48),
    /** The source MAC address. */
    ETHERNET_SOURCE(48),
    /** The EtherType. */
    ETHER_TYPE(16),
    /** The VLAN tag of IEEE 802.1Q: priority, drop eligible indicator and VLAN ID. */
    VLAN_TAG(16),
    /** The IPv4 source address. */
    IPV4_SOURCE(32),
    /** The IPv4 destination address. */
    IPV4_DESTINATION(32),
    /** The protocol number of the IPv4 payload. */
    IPV4_PROTOCOL(8),
    /** The IPv4 type of service. */
    IPV4_TYPE_OF_SERVICE(8),
    /** The IPv4 time to live. */
    IPV4_TIME_TO_LIVE(8),
    /** The IPv4 fragmentation flags. */
    IPV4_FLAGS(8),
    /** The IPv6 source address. */
    IPV6_SOURCE(128),
    /** The IPv6 destination address. */
    IPV6_DESTINATION(128),
    /** The IPv6 flow label. */
    IPV6_FLOW_LABEL(20, 4),
    /** The type of the header that follows the IPv6 header. */
    IPV6_NEXT_HEADER(8),
    /** The IPv6 traffic class. */
    IPV6_TRAFFIC_CLASS(8),
    /** The IPv6 hop limit. */
    IPV6_HOP_LIMIT(8),
    /** The TCP or UDP destination port. */
    DESTINATION_PORT(16),
    /** The TCP or UDP source port. */
    SOURCE_PORT(16),
    /** The VXLAN network identifier (VNI). */
    VXLAN_NETWORK_IDENTIFIER(24, 4),
    /** The first two bytes of a GRE header: flags and version. */
    GRE_FLAGS(16),
    /** The EtherType of the GRE payload. */
    GRE_PROTOCOL(16),
    /** The GRE key. In NVGRE, its upper 24 bits are the virtual subnet ID. */
    GRE_KEY(32),
    /** An entry of the MPLS label stack. Its upper 20 bits are the label. */
    MPLS_LABEL(32),
    /** The security parameters index (SPI) of ESP. */
    ESP_SECURITY_PARAMETERS_INDEX(32),
    /** The sequence number of ESP. */
    ESP_SEQUENCE_NUMBER(32);

    private final int bits;
    private final int bytes;

    FlowField(int bits) {
        this(bits, bits / Byte.SIZE);
    }

    /**
     * @param bytes the length of the field in the C structure in bytes. If it exceeds the length of
     *     the value, the value is right-aligned
     */
    FlowField(int bits, int bytes) {
        this.bits = bits;
        this.bytes = bytes;
    }

    /** The length of the field's value in bits. */
    public int bits() {
        return bits;
    }

    int bytes() {
        return bytes;
    }

    boolean isAddress() {
        return switch (this) {
            case IPV4_SOURCE, IPV4_DESTINATION, IPV6_SOURCE, IPV6_DESTINATION -> true;
            default -> false;
        };
    }
}
