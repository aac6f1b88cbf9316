package org.jrdma.verbs.flow.model;

import static org.jrdma.verbs.flow.model.FlowField.*;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.linkage.FieldRangeChecks;

/**
 * A part of a flow rule: a protocol header that packets must have, with conditions on the fields of
 * the header. Fields without a condition match any value. Immutable: each {@code match} method
 * returns a copy with an additional condition. In C: {@code struct ibv_flow_spec} and its members.
 */
@CheckReturnValue
public final class FlowHeaderMatch {

    /** A kind of protocol header. */
    @SuppressWarnings("ImmutableEnumChecker") // The sets are immutable.
    public enum Kind {
        /** Ethernet, with or without a VLAN tag. */
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
        VXLAN(VXLAN_NETWORK_IDENTIFIER),
        /** GRE. */
        GRE(GRE_FLAGS, GRE_PROTOCOL, GRE_KEY),
        /** An entry of an MPLS label stack. */
        MPLS(MPLS_LABEL),
        /** ESP. */
        ESP(ESP_SECURITY_PARAMETERS_INDEX, ESP_SEQUENCE_NUMBER);

        private final Set<FlowField> fields;

        Kind(FlowField... fields) {
            this.fields = Set.of(fields);
        }

        /** The fields of this header that can be matched. */
        public Set<FlowField> fields() {
            return fields;
        }
    }

    private final Kind kind;
    private final boolean inner;
    private final Map<FlowField, FlowFieldMatch> matches;

    private FlowHeaderMatch(Kind kind, boolean inner, Map<FlowField, FlowFieldMatch> matches) {
        this.kind = kind;
        this.inner = inner;
        this.matches = Collections.unmodifiableMap(matches);
    }

    /** Returns a layer that matches every header of a kind. */
    public static FlowHeaderMatch of(Kind kind) {
        return new FlowHeaderMatch(kind, false, new EnumMap<>(FlowField.class));
    }

    /** Returns a layer that matches every header of a kind inside a tunnel, such as VXLAN. */
    public static FlowHeaderMatch inTunnel(Kind kind) {
        return new FlowHeaderMatch(kind, true, new EnumMap<>(FlowField.class));
    }

    /** Returns a copy of this layer that also requires that a field has a given value. */
    public FlowHeaderMatch match(FlowField field, long value) {
        return match(field, value, -1L >>> Math.max(0, Long.SIZE - field.bits()));
    }

    /**
     * Returns a copy of this layer that also requires that some bits of a field have given values.
     *
     * @param mask a mask whose bits are 1 for the bits to compare
     * @throws IllegalArgumentException if the header has no such field, the field is an address of
     *     more than 64 bits, or the value or mask exceeds the length of the field
     */
    public FlowHeaderMatch match(FlowField field, long value, long mask) {
        if (field.bits() > Long.SIZE) {
            throw new IllegalArgumentException(
                    "%s is an address. Pass the value as an InetAddress.".formatted(field));
        }
        var max = -1L >>> (Long.SIZE - field.bits());
        FieldRangeChecks.check(field.name(), value, 0, max);
        FieldRangeChecks.check("mask of " + field, mask, 0, max);
        return put(field, new FlowFieldMatch(bytes(field, value), bytes(field, mask)));
    }

    /** Returns a copy of this layer that also requires that a field has a given IP address. */
    public FlowHeaderMatch match(FlowField field, InetAddress address) {
        return match(field, address, field.bits());
    }

    /**
     * Returns a copy of this layer that also requires that the address in a field has a given
     * prefix.
     *
     * @param prefixBits the number of leading bits to compare
     * @throws IllegalArgumentException if the header has no such field, or the field cannot contain
     *     this kind of address
     */
    public FlowHeaderMatch match(FlowField field, InetAddress address, int prefixBits) {
        var value = address.getAddress();
        if (!field.isAddress() || value.length != field.bytes()) {
            throw new IllegalArgumentException(
                    "%s cannot match the address %s".formatted(field, address.getHostAddress()));
        }
        FieldRangeChecks.check("prefix of " + field, prefixBits, 0, field.bits());
        var mask = new byte[value.length];
        Arrays.fill(mask, 0, prefixBits / Byte.SIZE, (byte) 0xff);
        if (prefixBits % Byte.SIZE != 0) {
            mask[prefixBits / Byte.SIZE] = (byte) (0xff00 >> prefixBits % Byte.SIZE);
        }
        return put(field, new FlowFieldMatch(value, mask));
    }

    private FlowHeaderMatch put(FlowField field, FlowFieldMatch match) {
        if (!kind.fields.contains(field)) {
            throw new IllegalArgumentException(
                    "%s has no field %s; its fields are %s".formatted(kind, field, kind.fields));
        }
        var all = new EnumMap<FlowField, FlowFieldMatch>(FlowField.class);
        all.putAll(matches);
        all.put(field, match);
        return new FlowHeaderMatch(kind, inner, all);
    }

    private static byte[] bytes(FlowField field, long value) {
        var all = ByteBuffer.allocate(Long.BYTES).putLong(value).array();
        return Arrays.copyOfRange(all, Long.BYTES - field.bytes(), Long.BYTES);
    }

    /** The kind of protocol header that this layer matches. */
    public Kind kind() {
        return kind;
    }

    /** Returns true if this layer matches a header inside a tunnel. */
    public boolean isInTunnel() {
        return inner;
    }

    /** The fields on which this layer has conditions. */
    public Set<FlowField> fields() {
        return matches.keySet();
    }

    /** The conditions of this layer, by field. */
    public Map<FlowField, FlowFieldMatch> matches() {
        return matches;
    }

    @Override
    public String toString() {
        return kind + (inner ? " in a tunnel " : " ") + matches.keySet();
    }
}
