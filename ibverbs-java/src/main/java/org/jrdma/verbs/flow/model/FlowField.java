package org.jrdma.verbs.flow.model;

/** A field of a header that a {@link FlowLayer} can match. */
public enum FlowField {
    /** Where a frame goes. */
    ETHERNET_DESTINATION(48),
    /** Where a frame comes from. */
    ETHERNET_SOURCE(48),
    /** What a frame carries. */
    ETHER_TYPE(16),
    /** Priority, drop eligibility and number of a VLAN, as in IEEE 802.1Q. */
    VLAN_TAG(16),
    /** Where an IPv4 packet comes from. */
    IPV4_SOURCE(32),
    /** Where an IPv4 packet goes. */
    IPV4_DESTINATION(32),
    /** What an IPv4 packet carries. */
    IPV4_PROTOCOL(8),
    /** Its priority. */
    IPV4_TYPE_OF_SERVICE(8),
    /** How many routers it may still pass. */
    IPV4_TIME_TO_LIVE(8),
    /** Its flags about fragments. */
    IPV4_FLAGS(8),
    /** Where an IPv6 packet comes from. */
    IPV6_SOURCE(128),
    /** Where an IPv6 packet goes. */
    IPV6_DESTINATION(128),
    /** A hint to routers. */
    IPV6_FLOW_LABEL(20, 4),
    /** What an IPv6 packet carries. */
    IPV6_NEXT_HEADER(8),
    /** Its priority. */
    IPV6_TRAFFIC_CLASS(8),
    /** How many routers it may still pass. */
    IPV6_HOP_LIMIT(8),
    /** Of TCP or UDP. */
    DESTINATION_PORT(16),
    /** Of TCP or UDP. */
    SOURCE_PORT(16),
    /** The number of a VXLAN. */
    VXLAN_NUMBER(24, 4),
    /** The first two bytes of a GRE header. */
    GRE_FLAGS(16),
    /** What GRE carries. */
    GRE_PROTOCOL(16),
    /** The key of a GRE tunnel; where it is a NVGRE's number, that is its upper 24 bits. */
    GRE_KEY(32),
    /** A whole entry of an MPLS stack, of which the label is the upper 20 bits. */
    MPLS_LABEL(32),
    /** The security association of ESP. */
    ESP_ASSOCIATION(32),
    /** The sequence number of ESP. */
    ESP_SEQUENCE(32);

    private final int bits;
    private final int bytes;

    FlowField(int bits) {
        this(bits, bits / Byte.SIZE);
    }

    /**
     * @param bytes how long C's is, in which values are right-aligned
     */
    FlowField(int bits, int bytes) {
        this.bits = bits;
        this.bytes = bytes;
    }

    /** How long it is. */
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
