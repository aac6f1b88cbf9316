package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_counter_attach_attr;
import org.jrdma.abi.rdma.ibv_counters_init_attr;
import org.jrdma.abi.rdma.ibv_flow_attr;
import org.jrdma.abi.rdma.ibv_flow_esp_filter;
import org.jrdma.abi.rdma.ibv_flow_eth_filter;
import org.jrdma.abi.rdma.ibv_flow_gre_filter;
import org.jrdma.abi.rdma.ibv_flow_ipv4_ext_filter;
import org.jrdma.abi.rdma.ibv_flow_ipv6_filter;
import org.jrdma.abi.rdma.ibv_flow_mpls_filter;
import org.jrdma.abi.rdma.ibv_flow_spec_action_drop;
import org.jrdma.abi.rdma.ibv_flow_spec_action_tag;
import org.jrdma.abi.rdma.ibv_flow_spec_counter_action;
import org.jrdma.abi.rdma.ibv_flow_spec_esp;
import org.jrdma.abi.rdma.ibv_flow_spec_eth;
import org.jrdma.abi.rdma.ibv_flow_spec_gre;
import org.jrdma.abi.rdma.ibv_flow_spec_ipv4;
import org.jrdma.abi.rdma.ibv_flow_spec_ipv4_ext;
import org.jrdma.abi.rdma.ibv_flow_spec_ipv6;
import org.jrdma.abi.rdma.ibv_flow_spec_mpls;
import org.jrdma.abi.rdma.ibv_flow_spec_tcp_udp;
import org.jrdma.abi.rdma.ibv_flow_spec_tunnel;
import org.jrdma.abi.rdma.ibv_flow_tcp_udp_filter;
import org.jrdma.abi.rdma.ibv_flow_tunnel_filter;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.verbs.flow.model.FlowField;
import org.jrdma.verbs.flow.model.FlowHeaderMatch;
import org.jrdma.verbs.flow.model.FlowKind;
import org.jrdma.verbs.flow.model.FlowOption;
import org.jrdma.verbs.flow.model.FlowQuantity;
import org.jrdma.verbs.model.VerbsException;

/**
 * Calls the C functions of flows and flow counters. All of them are function pointers in the {@code
 * verbs_context}, which are read for each call.
 */
public final class FlowFunctions {

    private static final MethodHandle CREATE_FLOW =
            capturingErrno(verbs_context.ibv_create_flow.descriptor());
    private static final MethodHandle DESTROY_FLOW =
            capturingErrno(verbs_context.ibv_destroy_flow.descriptor());
    private static final MethodHandle CREATE_COUNTERS =
            capturingErrno(verbs_context.create_counters.descriptor());
    private static final MethodHandle DESTROY_COUNTERS =
            capturingErrno(verbs_context.destroy_counters.descriptor());
    private static final MethodHandle ATTACH_COUNTERS =
            capturingErrno(verbs_context.attach_counters_point_flow.descriptor());
    private static final MethodHandle READ_COUNTERS =
            capturingErrno(verbs_context.read_counters.descriptor());

    /**
     * A flow rule in the form that this class passes to C.
     *
     * @param counters the native counters that count the matching packets, or NULL
     */
    public record Specification(
            FlowKind kind,
            List<FlowHeaderMatch> layers,
            Set<FlowOption> options,
            int priority,
            OptionalInt tag,
            boolean dropping,
            MemorySegment counters) {}

    /**
     * Creates a flow that steers packets to a queue pair. The C function returns NULL and sets
     * errno on failure.
     */
    public MemorySegment create(
            VerbsContext context,
            MemorySegment queuePair,
            Specification rule,
            int port,
            CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.ibv_create_flow$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = write(rule, port, arena);
            return attempt.pointer(() ->
                    (MemorySegment)
                            CREATE_FLOW.invokeExact(function, segment(), queuePair, attributes));
        }
    }

    /** Destroys a flow. The C function returns 0 or an errno. */
    public void destroy(VerbsContext context, MemorySegment flow, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.ibv_destroy_flow$offset(), attempt);
        attempt.errno(() -> (int) DESTROY_FLOW.invokeExact(function, segment(), flow));
    }

    /** Creates flow counters. The C function returns NULL and sets errno on failure. */
    public MemorySegment createCounters(VerbsContext context, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.create_counters$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_counters_init_attr.allocate(arena);
            return attempt.pointer(() ->
                    (MemorySegment)
                            CREATE_COUNTERS.invokeExact(
                                    function, segment(), context.address(), attributes));
        }
    }

    /** Destroys flow counters. The C function returns 0 or an errno. */
    public void destroyCounters(VerbsContext context, MemorySegment counters, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.destroy_counters$offset(), attempt);
        attempt.errno(() -> (int) DESTROY_COUNTERS.invokeExact(function, segment(), counters));
    }

    /**
     * Selects the quantity that one of the flow counters counts. The C function returns 0 or an
     * errno.
     *
     * @param place the index of the counter
     */
    public void attachCounters(
            VerbsContext context,
            MemorySegment counters,
            FlowQuantity quantity,
            int place,
            CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.attach_counters_point_flow$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_counter_attach_attr.allocate(arena);
            ibv_counter_attach_attr.counter_desc(
                    attributes, VerbsEnumCodes.FLOW_QUANTITY.code(quantity));
            ibv_counter_attach_attr.index(attributes, place);
            attempt.errno(() ->
                    (int)
                            ATTACH_COUNTERS.invokeExact(
                                    function, segment(), counters, attributes, MemorySegment.NULL));
        }
    }

    /**
     * Reads the values of flow counters. The C function returns 0 or an errno.
     *
     * @param places the number of counters
     * @param cached true if values that the device has cached suffice
     */
    public long[] readCounters(
            VerbsContext context,
            MemorySegment counters,
            int places,
            boolean cached,
            CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.read_counters$offset(), attempt);
        var flags = cached ? rdma_h.IBV_READ_COUNTERS_ATTR_PREFER_CACHED() : 0;
        try (var arena = Arena.ofConfined()) {
            var values = arena.allocate(ValueLayout.JAVA_LONG, places);
            attempt.errno(() ->
                    (int)
                            READ_COUNTERS.invokeExact(
                                    function, segment(), counters, values, places, flags));
            return values.toArray(ValueLayout.JAVA_LONG);
        }
    }

    /** Writes an {@link ibv_flow_attr}, immediately followed by the specifications of the rule. */
    private static MemorySegment write(Specification rule, int port, Arena arena) {
        var specifications = new ArrayList<MemorySegment>();
        for (var layer : rule.layers) {
            specifications.add(write(layer, arena));
        }
        rule.tag.ifPresent(tag -> {
            var action = ibv_flow_spec_action_tag.allocate(arena);
            head(action, rdma_h.IBV_FLOW_SPEC_ACTION_TAG());
            ibv_flow_spec_action_tag.tag_id(action, tag);
            specifications.add(action);
        });
        if (rule.dropping) {
            var action = ibv_flow_spec_action_drop.allocate(arena);
            head(action, rdma_h.IBV_FLOW_SPEC_ACTION_DROP());
            specifications.add(action);
        }
        if (rule.counters.address() != 0) {
            var action = ibv_flow_spec_counter_action.allocate(arena);
            head(action, rdma_h.IBV_FLOW_SPEC_ACTION_COUNT());
            ibv_flow_spec_counter_action.counters(action, rule.counters);
            specifications.add(action);
        }
        var place = ibv_flow_attr.sizeof();
        var bytes = place + specifications.stream().mapToLong(MemorySegment::byteSize).sum();
        var attributes = arena.allocate(bytes, ValueLayout.ADDRESS.byteAlignment());
        ibv_flow_attr.type(attributes, VerbsEnumCodes.FLOW_KIND.code(rule.kind));
        ibv_flow_attr.size(attributes, (short) bytes);
        ibv_flow_attr.priority(attributes, (short) rule.priority);
        ibv_flow_attr.num_of_specs(attributes, (byte) specifications.size());
        ibv_flow_attr.port(attributes, (byte) port);
        ibv_flow_attr.flags(attributes, VerbsEnumCodes.FLOW_OPTION.bits(rule.options));
        for (var specification : specifications) {
            MemorySegment.copy(specification, 0, attributes, place, specification.byteSize());
            place += specification.byteSize();
        }
        return attributes;
    }

    /** Writes the type and the size, with which every flow specification begins. */
    private static void head(MemorySegment specification, int type) {
        ibv_flow_spec_action_drop.type(specification, type);
        ibv_flow_spec_action_drop.size(specification, (short) specification.byteSize());
    }

    /**
     * The type of a flow specification, its size in bytes, and the offsets of its value and its
     * mask.
     */
    private record Shape(int type, long bytes, long value, long mask) {}

    private static MemorySegment write(FlowHeaderMatch layer, Arena arena) {
        var shape = shape(layer);
        var specification = arena.allocate(shape.bytes, Integer.BYTES);
        head(specification, shape.type | (layer.isInTunnel() ? rdma_h.IBV_FLOW_SPEC_INNER() : 0));
        layer.matches()
                .forEach((field, match) -> {
                    put(specification, shape.value + offset(field), match.value());
                    put(specification, shape.mask + offset(field), match.mask());
                });
        return specification;
    }

    private static void put(MemorySegment target, long offset, byte[] bytes) {
        MemorySegment.copy(bytes, 0, target, ValueLayout.JAVA_BYTE, offset, bytes.length);
    }

    private static Shape shape(FlowHeaderMatch layer) {
        return switch (layer.kind()) {
            case ETHERNET ->
                    new Shape(
                            rdma_h.IBV_FLOW_SPEC_ETH(),
                            ibv_flow_spec_eth.sizeof(),
                            ibv_flow_spec_eth.val$offset(),
                            ibv_flow_spec_eth.mask$offset());
            case IPV4 ->
                    hasAddressesOnly(layer) // More devices support IPV4 than IPV4_EXT.
                            ? new Shape(
                                    rdma_h.IBV_FLOW_SPEC_IPV4(),
                                    ibv_flow_spec_ipv4.sizeof(),
                                    ibv_flow_spec_ipv4.val$offset(),
                                    ibv_flow_spec_ipv4.mask$offset())
                            : new Shape(
                                    rdma_h.IBV_FLOW_SPEC_IPV4_EXT(),
                                    ibv_flow_spec_ipv4_ext.sizeof(),
                                    ibv_flow_spec_ipv4_ext.val$offset(),
                                    ibv_flow_spec_ipv4_ext.mask$offset());
            case IPV6 ->
                    new Shape(
                            rdma_h.IBV_FLOW_SPEC_IPV6(),
                            ibv_flow_spec_ipv6.sizeof(),
                            ibv_flow_spec_ipv6.val$offset(),
                            ibv_flow_spec_ipv6.mask$offset());
            case TCP, UDP ->
                    new Shape(
                            layer.kind() == FlowHeaderMatch.Kind.TCP
                                    ? rdma_h.IBV_FLOW_SPEC_TCP()
                                    : rdma_h.IBV_FLOW_SPEC_UDP(),
                            ibv_flow_spec_tcp_udp.sizeof(),
                            ibv_flow_spec_tcp_udp.val$offset(),
                            ibv_flow_spec_tcp_udp.mask$offset());
            case VXLAN ->
                    new Shape(
                            rdma_h.IBV_FLOW_SPEC_VXLAN_TUNNEL(),
                            ibv_flow_spec_tunnel.sizeof(),
                            ibv_flow_spec_tunnel.val$offset(),
                            ibv_flow_spec_tunnel.mask$offset());
            case GRE ->
                    new Shape(
                            rdma_h.IBV_FLOW_SPEC_GRE(),
                            ibv_flow_spec_gre.sizeof(),
                            ibv_flow_spec_gre.val$offset(),
                            ibv_flow_spec_gre.mask$offset());
            case MPLS ->
                    new Shape(
                            rdma_h.IBV_FLOW_SPEC_MPLS(),
                            ibv_flow_spec_mpls.sizeof(),
                            ibv_flow_spec_mpls.val$offset(),
                            ibv_flow_spec_mpls.mask$offset());
            case ESP ->
                    new Shape(
                            rdma_h.IBV_FLOW_SPEC_ESP(),
                            ibv_flow_spec_esp.sizeof(),
                            ibv_flow_spec_esp.val$offset(),
                            ibv_flow_spec_esp.mask$offset());
        };
    }

    /**
     * Returns true if the layer matches IPv4 addresses only. {@code ibv_flow_ipv4_filter} has these
     * addresses at the same offsets as {@code ibv_flow_ipv4_ext_filter}, which {@link #offset}
     * uses.
     */
    private static boolean hasAddressesOnly(FlowHeaderMatch layer) {
        return layer.fields().stream()
                .allMatch(field ->
                        field == FlowField.IPV4_SOURCE || field == FlowField.IPV4_DESTINATION);
    }

    private static long offset(FlowField field) {
        return switch (field) {
            case ETHERNET_DESTINATION -> ibv_flow_eth_filter.dst_mac$offset();
            case ETHERNET_SOURCE -> ibv_flow_eth_filter.src_mac$offset();
            case ETHER_TYPE -> ibv_flow_eth_filter.ether_type$offset();
            case VLAN_TAG -> ibv_flow_eth_filter.vlan_tag$offset();
            case IPV4_SOURCE -> ibv_flow_ipv4_ext_filter.src_ip$offset();
            case IPV4_DESTINATION -> ibv_flow_ipv4_ext_filter.dst_ip$offset();
            case IPV4_PROTOCOL -> ibv_flow_ipv4_ext_filter.proto$offset();
            case IPV4_TYPE_OF_SERVICE -> ibv_flow_ipv4_ext_filter.tos$offset();
            case IPV4_TIME_TO_LIVE -> ibv_flow_ipv4_ext_filter.ttl$offset();
            case IPV4_FLAGS -> ibv_flow_ipv4_ext_filter.flags$offset();
            case IPV6_SOURCE -> ibv_flow_ipv6_filter.src_ip$offset();
            case IPV6_DESTINATION -> ibv_flow_ipv6_filter.dst_ip$offset();
            case IPV6_FLOW_LABEL -> ibv_flow_ipv6_filter.flow_label$offset();
            case IPV6_NEXT_HEADER -> ibv_flow_ipv6_filter.next_hdr$offset();
            case IPV6_TRAFFIC_CLASS -> ibv_flow_ipv6_filter.traffic_class$offset();
            case IPV6_HOP_LIMIT -> ibv_flow_ipv6_filter.hop_limit$offset();
            case DESTINATION_PORT -> ibv_flow_tcp_udp_filter.dst_port$offset();
            case SOURCE_PORT -> ibv_flow_tcp_udp_filter.src_port$offset();
            case VXLAN_NETWORK_IDENTIFIER -> ibv_flow_tunnel_filter.tunnel_id$offset();
            case GRE_FLAGS -> ibv_flow_gre_filter.c_ks_res0_ver$offset();
            case GRE_PROTOCOL -> ibv_flow_gre_filter.protocol$offset();
            case GRE_KEY -> ibv_flow_gre_filter.key$offset();
            case MPLS_LABEL -> ibv_flow_mpls_filter.label$offset();
            case ESP_SECURITY_PARAMETERS_INDEX -> ibv_flow_esp_filter.spi$offset();
            case ESP_SEQUENCE_NUMBER -> ibv_flow_esp_filter.seq$offset();
        };
    }
}
