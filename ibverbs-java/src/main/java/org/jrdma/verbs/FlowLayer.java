package org.jrdma.verbs;

import static org.jrdma.verbs.FlowField.*;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.jrdma.ffi.linkage.FieldRange;
import org.jrdma.verbs.internal.FlowFunctions;
import org.jrdma.verbs.internal.FlowFunctions.Match;

/**
 * What a {@link FlowRule} demands of one header: of fields that are not named, nothing. Built by
 * its own methods. In C: {@code struct ibv_flow_spec} and those in it.
 */
public final class FlowLayer {

    /** A header. */
    @SuppressWarnings("ImmutableEnumChecker") // the sets are immutable
    public enum Kind {
        /** Ethernet, with a VLAN or without. */
        ETHERNET(ETHERNET_DESTINATION, ETHERNET_SOURCE, ETHER_TYPE, VLAN_TAG),
        /** IPv4. */
        IPV4(
                IPV4_SOURCE,
                IPV4_DESTINATION,
                IPV4_PROTOCOL,
                IPV4_TYPE_OF_SERVICE,
                IPV4_TIME_TO_LIVE,
                IPV4_FLAGS),
        /** IPv6. */
        IPV6(
                IPV6_SOURCE,
                IPV6_DESTINATION,
                IPV6_FLOW_LABEL,
                IPV6_NEXT_HEADER,
                IPV6_TRAFFIC_CLASS,
                IPV6_HOP_LIMIT),
        /** TCP. */
        TCP(DESTINATION_PORT, SOURCE_PORT),
        /** UDP. */
        UDP(DESTINATION_PORT, SOURCE_PORT),
        /** VXLAN. */
        VXLAN(VXLAN_NUMBER),
        /** GRE. */
        GRE(GRE_FLAGS, GRE_PROTOCOL, GRE_KEY),
        /** An entry of an MPLS stack. */
        MPLS(MPLS_LABEL),
        /** ESP. */
        ESP(ESP_ASSOCIATION, ESP_SEQUENCE);

        private final Set<FlowField> fields;

        Kind(FlowField... fields) {
            this.fields = Set.of(fields);
        }

        /** What it has. */
        public Set<FlowField> fields() {
            return fields;
        }
    }

    private final Kind kind;
    private final boolean inner;
    private final Map<FlowField, Match> matches = new EnumMap<>(FlowField.class);

    private FlowLayer(Kind kind, boolean inner) {
        this.kind = kind;
        this.inner = inner;
    }

    /** A header, whatever is in it. */
    public static FlowLayer of(Kind kind) {
        return new FlowLayer(kind, false);
    }

    /** A header within a tunnel, whatever is in it. */
    public static FlowLayer inTunnel(Kind kind) {
        return new FlowLayer(kind, true);
    }

    /** Demands a value of a field. */
    public FlowLayer match(FlowField field, long value) {
        return match(field, value, -1L >>> Math.max(0, Long.SIZE - field.bits()));
    }

    /**
     * Demands a value of some bits of a field.
     *
     * @param mask which bits count
     * @throws IllegalArgumentException if the header has no such field, or that has fewer bits
     */
    public FlowLayer match(FlowField field, long value, long mask) {
        if (field.bits() > Long.SIZE) {
            throw new IllegalArgumentException(field + " is an address");
        }
        var most = -1L >>> (Long.SIZE - field.bits());
        FieldRange.check(field.name(), value, 0, most);
        FieldRange.check("mask of " + field, mask, 0, most);
        return put(field, new Match(bytes(field, value), bytes(field, mask)));
    }

    /** Demands an address. */
    public FlowLayer match(FlowField field, InetAddress address) {
        return match(field, address, field.bits());
    }

    /**
     * Demands that an address begins as another.
     *
     * @param prefixBits how many bits count
     * @throws IllegalArgumentException if the field is not for such an address
     */
    public FlowLayer match(FlowField field, InetAddress address, int prefixBits) {
        var value = address.getAddress();
        if (!field.isAddress() || value.length != field.bytes()) {
            throw new IllegalArgumentException("%s is not %s".formatted(field, address));
        }
        FieldRange.check("prefix of " + field, prefixBits, 0, field.bits());
        var mask = new byte[value.length];
        Arrays.fill(mask, 0, prefixBits / Byte.SIZE, (byte) 0xff);
        if (prefixBits % Byte.SIZE != 0) {
            mask[prefixBits / Byte.SIZE] = (byte) (0xff00 >> prefixBits % Byte.SIZE);
        }
        return put(field, new Match(value, mask));
    }

    private FlowLayer put(FlowField field, Match match) {
        if (!kind.fields.contains(field)) {
            throw new IllegalArgumentException(
                    "%s has no %s; it has %s".formatted(kind, field, kind.fields));
        }
        matches.put(field, match);
        return this;
    }

    private static byte[] bytes(FlowField field, long value) {
        var all = ByteBuffer.allocate(Long.BYTES).putLong(value).array();
        return Arrays.copyOfRange(all, Long.BYTES - field.bytes(), Long.BYTES);
    }

    /** As it is now. */
    FlowLayer copy() {
        var copy = new FlowLayer(kind, inner);
        copy.matches.putAll(matches);
        return copy;
    }

    /** For the floor below. */
    FlowFunctions.Header header() {
        return new FlowFunctions.Header(kind, inner, Map.copyOf(matches));
    }

    /** Which header. */
    public Kind kind() {
        return kind;
    }

    /** Whether it is within a tunnel. */
    public boolean isInTunnel() {
        return inner;
    }

    /** Which fields something is demanded of. */
    public Set<FlowField> fields() {
        return Collections.unmodifiableSet(matches.keySet());
    }

    /** As in a message. */
    @Override
    public String toString() {
        return kind + (inner ? " in a tunnel " : " ") + matches.keySet();
    }
}
