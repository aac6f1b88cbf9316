package org.jrdma.verbs.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.verbs.flow.model.FlowKind;
import org.jrdma.verbs.flow.model.FlowOption;
import org.jrdma.verbs.flow.model.FlowQuantity;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.AtomicCapability;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.DataOrder;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.ForkStatus;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.MigrationState;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.NodeType;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.StaticRate;
import org.jrdma.verbs.model.TransportType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CodesTest {

    /**
     * An enum of the API and the C constants that correspond to it.
     *
     * @param unknown the constants of the enum that represent unknown numbers
     * @param prefix a regular expression that the names of the C constants start with
     * @param except the C constants that the API omits intentionally
     */
    record EnumMapping<E extends Enum<E>>(
            EnumCodes<E> codes, Class<E> type, Set<E> unknown, String prefix, Set<String> except) {

        @Override
        public String toString() {
            return type.getSimpleName();
        }

        Set<E> known() {
            return EnumSet.complementOf(
                    unknown.isEmpty() ? EnumSet.noneOf(type) : EnumSet.copyOf(unknown));
        }
    }

    static Stream<EnumMapping<?>> mappings() {
        return Stream.of(
                mapping(VerbsEnumCodes.ACCESS, Access.class, Set.of(), "IBV_ACCESS_(?!OPTIONAL)"),
                mapping(
                        VerbsEnumCodes.COMPLETION_STATUS,
                        CompletionStatus.class,
                        Set.of(CompletionStatus.UNKNOWN),
                        "IBV_WC_(.*_ERR|SUCCESS|TM_RNDV_INCOMPLETE)$"),
                mapping(
                        VerbsEnumCodes.COMPLETION_FIELD,
                        CompletionField.class,
                        Set.of(),
                        "IBV_WC_EX_",
                        "IBV_WC_EX_WITH_TM_INFO"), // Tag matching is not supported.
                mapping(
                        VerbsEnumCodes.GID_TYPE,
                        GidEntry.Type.class,
                        Set.of(GidEntry.Type.UNKNOWN),
                        "IBV_GID_TYPE_(?!SYSFS)"),
                mapping(
                        VerbsEnumCodes.STATIC_RATE,
                        StaticRate.class,
                        Set.of(StaticRate.UNKNOWN),
                        "IBV_RATE_"),
                mapping(
                        VerbsEnumCodes.DATA_ORDER,
                        DataOrder.class,
                        Set.of(),
                        "IBV_QUERY_QP_DATA_IN_ORDER_(WHOLE|ALIGNED)"),
                mapping(VerbsEnumCodes.MTU, Mtu.class, Set.of(), "IBV_MTU_"),
                mapping(
                        VerbsEnumCodes.NODE_TYPE,
                        NodeType.class,
                        Set.of(NodeType.UNKNOWN),
                        "IBV_NODE_",
                        "IBV_NODE_UNKNOWN"),
                mapping(
                        VerbsEnumCodes.TRANSPORT_TYPE,
                        TransportType.class,
                        Set.of(TransportType.UNKNOWN),
                        "IBV_TRANSPORT_",
                        "IBV_TRANSPORT_UNKNOWN"),
                mapping(
                        VerbsEnumCodes.PORT_STATE,
                        PortAttributes.State.class,
                        Set.of(PortAttributes.State.UNKNOWN),
                        "IBV_PORT_(NOP|DOWN|INIT|ARMED|ACTIVE|ACTIVE_DEFER)$"),
                mapping(
                        VerbsEnumCodes.LINK_LAYER,
                        LinkLayer.class,
                        Set.of(LinkLayer.UNSPECIFIED),
                        "IBV_LINK_LAYER_",
                        "IBV_LINK_LAYER_UNSPECIFIED"),
                mapping(
                        VerbsEnumCodes.ATOMIC_CAPABILITY,
                        AtomicCapability.class,
                        Set.of(AtomicCapability.UNKNOWN),
                        "IBV_ATOMIC_(NONE|HCA|GLOB)$"),
                mapping(
                        VerbsEnumCodes.FORK_STATUS,
                        ForkStatus.class,
                        Set.of(ForkStatus.UNKNOWN),
                        "IBV_FORK_"),
                mapping(
                        VerbsEnumCodes.QUEUE_PAIR_STATE,
                        QueuePairState.class,
                        Set.of(QueuePairState.UNKNOWN),
                        "IBV_QPS_",
                        "IBV_QPS_UNKNOWN"),
                mapping(
                        VerbsEnumCodes.MIGRATION_STATE,
                        MigrationState.class,
                        Set.of(MigrationState.UNKNOWN),
                        "IBV_MIG_"),
                mapping(
                        VerbsEnumCodes.QUEUE_PAIR_ATTRIBUTE,
                        QueuePairAttribute.class,
                        Set.of(),
                        "IBV_QP_(?!EX_|CREATE_|INIT_|OPEN_|DATA_)"),
                mapping(
                        VerbsEnumCodes.QUEUE_PAIR_TYPE,
                        QueuePairType.class,
                        Set.of(),
                        "IBV_QPT_(RC|UC|UD|XRC_SEND|XRC_RECV|RAW_PACKET)$"),
                mapping(
                        VerbsEnumCodes.FLOW_KIND,
                        FlowKind.class,
                        Set.of(),
                        "IBV_FLOW_ATTR_(?!FLAGS)"),
                mapping(
                        VerbsEnumCodes.FLOW_OPTION,
                        FlowOption.class,
                        Set.of(),
                        "IBV_FLOW_ATTR_FLAGS_"),
                mapping(VerbsEnumCodes.FLOW_QUANTITY, FlowQuantity.class, Set.of(), "IBV_COUNTER_"),
                mapping(
                        VerbsEnumCodes.DEVICE_CAPABILITY,
                        DeviceCapability.class,
                        Set.of(),
                        "IBV_DEVICE_"),
                mapping(
                        VerbsEnumCodes.ASYNC_EVENT_TYPE,
                        AsyncEventType.class,
                        Set.of(AsyncEventType.UNKNOWN),
                        "IBV_EVENT_"),
                mapping(
                        VerbsEnumCodes.CONNECTION_EVENT_TYPE,
                        ConnectionEventType.class,
                        Set.of(ConnectionEventType.UNKNOWN),
                        "RDMA_CM_EVENT_",
                        "RDMA_CM_EVENT_INTERNAL")); // librdmacm does not report this event.
    }

    private static <E extends Enum<E>> EnumMapping<E> mapping(
            EnumCodes<E> codes, Class<E> type, Set<E> unknown, String prefix, String... except) {
        return new EnumMapping<>(codes, type, unknown, prefix, Set.of(except));
    }

    @ParameterizedTest
    @MethodSource("mappings")
    <E extends Enum<E>> void shouldConvertEachConstantToADistinctCodeAndBack(
            EnumMapping<E> mapping) {
        var numbers = new HashSet<Integer>();
        for (var constant : mapping.known()) {
            var number = mapping.codes.code(constant);

            assertThat(mapping.codes.of(number)).isEqualTo(constant);
            numbers.add(number);
        }
        assertThat(numbers).hasSameSizeAs(mapping.known());
    }

    @ParameterizedTest
    @MethodSource("mappings")
    <E extends Enum<E>> void shouldUseTheCodesOfC(EnumMapping<E> mapping) throws Exception {
        var sdkCodes =
                mapping.known().stream()
                        .map(mapping.codes::code)
                        .collect(Collectors.toCollection(TreeSet::new));
        var names = new ArrayList<String>();
        var cCodes = new TreeSet<Integer>();
        for (var method : rdma_h.class.getMethods()) {
            if (Modifier.isStatic(method.getModifiers())
                    && method.getReturnType() == int.class
                    && method.getParameterCount() == 0
                    && method.getName().matches("^" + mapping.prefix + ".*")
                    && !mapping.except.contains(method.getName())) {
                names.add(method.getName());
                cCodes.add((int) method.invoke(null));
            }
        }

        assertThat(sdkCodes).as("%s", names).isEqualTo(cCodes);
    }

    @ParameterizedTest
    @MethodSource("mappings")
    <E extends Enum<E>> void shouldMapOrRejectUnknownCodes(EnumMapping<E> mapping) {
        for (var number : List.of(255, 257, 4711, -1, Integer.MAX_VALUE, Integer.MIN_VALUE)) {
            if (mapping.unknown.isEmpty()) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> mapping.codes.of(number))
                        .withMessage(
                                "No %s has the number %d", mapping.type.getSimpleName(), number);
            } else {
                assertThat(mapping.codes.of(number)).isIn(mapping.unknown);
            }
        }
        for (var constant : mapping.unknown) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> mapping.codes.code(constant))
                    .withMessage(constant + " has no number in C");
        }
    }

    @Test
    void shouldConvertTheOpcodesOfCompletions() {
        assertThat(VerbsEnumCodes.COMPLETION_KIND.of(rdma_h.IBV_WC_SEND()))
                .isEqualTo(CompletionKind.SEND);
        assertThat(VerbsEnumCodes.COMPLETION_KIND.of(rdma_h.IBV_WC_RDMA_WRITE()))
                .isEqualTo(CompletionKind.WRITE);
        assertThat(VerbsEnumCodes.COMPLETION_KIND.of(rdma_h.IBV_WC_RDMA_READ()))
                .isEqualTo(CompletionKind.READ);
        assertThat(VerbsEnumCodes.COMPLETION_KIND.of(rdma_h.IBV_WC_RECV()))
                .isEqualTo(CompletionKind.RECEIVE);
        assertThat(VerbsEnumCodes.COMPLETION_KIND.of(rdma_h.IBV_WC_COMP_SWAP()))
                .isEqualTo(CompletionKind.COMPARE_AND_SWAP);
        assertThat(VerbsEnumCodes.COMPLETION_KIND.of(rdma_h.IBV_WC_FETCH_ADD()))
                .isEqualTo(CompletionKind.FETCH_AND_ADD);
        assertThat(VerbsEnumCodes.COMPLETION_KIND.of(4711)).isEqualTo(CompletionKind.OTHER);
    }

    @Test
    void shouldConvertSetsToFlagsAndBack() {
        var rights = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.RELAXED_ORDERING);

        assertThat(VerbsEnumCodes.ACCESS.bits(rights)).isEqualTo(0x1 | 0x4 | 0x100000);
        assertThat(VerbsEnumCodes.ACCESS.ofBits(0x1 | 0x4 | 0x100000)).isEqualTo(rights);
        assertThat(VerbsEnumCodes.ACCESS.bits(Set.of())).isZero();
        assertThat(VerbsEnumCodes.ACCESS.ofBits(0)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x4000_0000, 0x4000_0001})
    void shouldIgnoreUnknownFlags(int bits) {
        assertThat(VerbsEnumCodes.ACCESS.ofBits(bits))
                .isEqualTo((bits & 1) == 0 ? Set.of() : Set.of(Access.LOCAL_WRITE));
    }

    @Test
    void shouldUseADistinctBitForEachFlag() {
        var all = Arrays.stream(Access.values()).mapToInt(VerbsEnumCodes.ACCESS::code);

        assertThat(all).allMatch(code -> Integer.bitCount(code) == 1);
    }
}
