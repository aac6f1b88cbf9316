package org.jrdma.verbs.flow.model;

import static org.jrdma.verbs.flow.model.FlowField.*;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.jrdma.ffi.linkage.FieldRange;

/**
 * The fields of one header that a flow rule matches; other fields may have any value. Immutable:
 * each {@code match} method returns a layer that matches one more field. In C: {@code struct
 * ibv_flow_spec} and its members.
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
    private final Map<FlowField, FlowMatch> matches;

    private FlowLayer(Kind kind, boolean inner, Map<FlowField, FlowMatch> matches) {
        this.kind = kind;
        this.inner = inner;
        this.matches = Collections.unmodifiableMap(matches);
    }

    /** A header, whatever is in it. */
    public static FlowLayer of(Kind kind) {
        return new FlowLayer(kind, false, new EnumMap<>(FlowField.class));
    }

    /** A header within a tunnel, whatever is in it. */
    public static FlowLayer inTunnel(Kind kind) {
        return new FlowLayer(kind, true, new EnumMap<>(FlowField.class));
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
        return put(field, new FlowMatch(bytes(field, value), bytes(field, mask)));
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
        return put(field, new FlowMatch(value, mask));
    }

    private FlowLayer put(FlowField field, FlowMatch match) {
        if (!kind.fields.contains(field)) {
            throw new IllegalArgumentException(
                    "%s has no %s; it has %s".formatted(kind, field, kind.fields));
        }
        var all = new EnumMap<FlowField, FlowMatch>(FlowField.class);
        all.putAll(matches);
        all.put(field, match);
        return new FlowLayer(kind, inner, all);
    }

    private static byte[] bytes(FlowField field, long value) {
        var all = ByteBuffer.allocate(Long.BYTES).putLong(value).array();
        return Arrays.copyOfRange(all, Long.BYTES - field.bytes(), Long.BYTES);
    }

    /** Which header. */
    public Kind kind() {
        return kind;
    }

    /** Whether it is within a tunnel. */
    public boolean isInTunnel() {
        return inner;
    }

    /** The fields that are matched. */
    public Set<FlowField> fields() {
        return matches.keySet();
    }

    /** The fields that are matched, with their values. */
    public Map<FlowField, FlowMatch> matches() {
        return matches;
    }

    /** As in a message. */
    @Override
    public String toString() {
        return kind + (inner ? " in a tunnel " : " ") + matches.keySet();
    }
}
