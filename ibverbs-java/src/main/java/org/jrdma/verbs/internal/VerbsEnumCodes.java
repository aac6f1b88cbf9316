package org.jrdma.verbs.internal;

import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.verbs.cm.model.PortSpace;
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
import org.jrdma.verbs.model.FlushPlacement;
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

/** Maps the constants of the API's enums to the numbers that C uses for them. */
public final class VerbsEnumCodes {

    /**
     * The placeholder for a constant that represents unknown numbers and therefore has no number in
     * C. {@link EnumCodes} ignores it.
     */
    private static final int NO_CODE = -1;

    public static final EnumCodes<Access> ACCESS =
            new EnumCodes<>(Access.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<CompletionStatus> COMPLETION_STATUS =
            new EnumCodes<>(CompletionStatus.class, CompletionStatus.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<CompletionKind> COMPLETION_KIND =
            new EnumCodes<>(CompletionKind.class, CompletionKind.OTHER, VerbsEnumCodes::code);
    public static final EnumCodes<FlushPlacement> FLUSH_PLACEMENT =
            new EnumCodes<>(FlushPlacement.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<CompletionField> COMPLETION_FIELD =
            new EnumCodes<>(CompletionField.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<GidEntry.Type> GID_TYPE =
            new EnumCodes<>(GidEntry.Type.class, GidEntry.Type.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<Mtu> MTU = new EnumCodes<>(Mtu.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<StaticRate> STATIC_RATE =
            new EnumCodes<>(StaticRate.class, StaticRate.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<DataOrder> DATA_ORDER =
            new EnumCodes<>(DataOrder.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<NodeType> NODE_TYPE =
            new EnumCodes<>(NodeType.class, NodeType.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<TransportType> TRANSPORT_TYPE =
            new EnumCodes<>(TransportType.class, TransportType.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<PortAttributes.State> PORT_STATE =
            new EnumCodes<>(
                    PortAttributes.State.class, PortAttributes.State.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<LinkLayer> LINK_LAYER =
            new EnumCodes<>(LinkLayer.class, LinkLayer.UNSPECIFIED, VerbsEnumCodes::code);
    public static final EnumCodes<AtomicCapability> ATOMIC_CAPABILITY =
            new EnumCodes<>(AtomicCapability.class, AtomicCapability.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<ForkStatus> FORK_STATUS =
            new EnumCodes<>(ForkStatus.class, ForkStatus.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<QueuePairState> QUEUE_PAIR_STATE =
            new EnumCodes<>(QueuePairState.class, QueuePairState.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<MigrationState> MIGRATION_STATE =
            new EnumCodes<>(MigrationState.class, MigrationState.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<DeviceCapability> DEVICE_CAPABILITY =
            new EnumCodes<>(DeviceCapability.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<QueuePairType> QUEUE_PAIR_TYPE =
            new EnumCodes<>(QueuePairType.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<FlowKind> FLOW_KIND =
            new EnumCodes<>(FlowKind.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<FlowOption> FLOW_OPTION =
            new EnumCodes<>(FlowOption.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<FlowQuantity> FLOW_QUANTITY =
            new EnumCodes<>(FlowQuantity.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<QueuePairAttribute> QUEUE_PAIR_ATTRIBUTE =
            new EnumCodes<>(QueuePairAttribute.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<AsyncEventType> ASYNC_EVENT_TYPE =
            new EnumCodes<>(AsyncEventType.class, AsyncEventType.UNKNOWN, VerbsEnumCodes::code);
    public static final EnumCodes<PortSpace> PORT_SPACE =
            new EnumCodes<>(PortSpace.class, null, VerbsEnumCodes::code);
    public static final EnumCodes<ConnectionEventType> CONNECTION_EVENT_TYPE =
            new EnumCodes<>(
                    ConnectionEventType.class, ConnectionEventType.UNKNOWN, VerbsEnumCodes::code);

    private VerbsEnumCodes() {}

    private static int code(Access constant) {
        return switch (constant) {
            case LOCAL_WRITE -> rdma_h.IBV_ACCESS_LOCAL_WRITE();
            case REMOTE_WRITE -> rdma_h.IBV_ACCESS_REMOTE_WRITE();
            case REMOTE_READ -> rdma_h.IBV_ACCESS_REMOTE_READ();
            case REMOTE_ATOMIC -> rdma_h.IBV_ACCESS_REMOTE_ATOMIC();
            case MEMORY_WINDOW_BIND -> rdma_h.IBV_ACCESS_MW_BIND();
            case ZERO_BASED -> rdma_h.IBV_ACCESS_ZERO_BASED();
            case ON_DEMAND -> rdma_h.IBV_ACCESS_ON_DEMAND();
            case HUGE_PAGES -> rdma_h.IBV_ACCESS_HUGETLB();
            case FLUSH_GLOBAL -> rdma_h.IBV_ACCESS_FLUSH_GLOBAL();
            case FLUSH_PERSISTENT -> rdma_h.IBV_ACCESS_FLUSH_PERSISTENT();
            case RELAXED_ORDERING -> rdma_h.IBV_ACCESS_RELAXED_ORDERING();
        };
    }

    private static int code(CompletionStatus constant) {
        return switch (constant) {
            case SUCCESS -> rdma_h.IBV_WC_SUCCESS();
            case LOCAL_LENGTH_ERROR -> rdma_h.IBV_WC_LOC_LEN_ERR();
            case LOCAL_QUEUE_PAIR_OPERATION_ERROR -> rdma_h.IBV_WC_LOC_QP_OP_ERR();
            case LOCAL_END_TO_END_CONTEXT_OPERATION_ERROR -> rdma_h.IBV_WC_LOC_EEC_OP_ERR();
            case LOCAL_PROTECTION_ERROR -> rdma_h.IBV_WC_LOC_PROT_ERR();
            case FLUSHED -> rdma_h.IBV_WC_WR_FLUSH_ERR();
            case MEMORY_WINDOW_BIND_ERROR -> rdma_h.IBV_WC_MW_BIND_ERR();
            case BAD_RESPONSE -> rdma_h.IBV_WC_BAD_RESP_ERR();
            case LOCAL_ACCESS_ERROR -> rdma_h.IBV_WC_LOC_ACCESS_ERR();
            case REMOTE_INVALID_REQUEST -> rdma_h.IBV_WC_REM_INV_REQ_ERR();
            case REMOTE_ACCESS_ERROR -> rdma_h.IBV_WC_REM_ACCESS_ERR();
            case REMOTE_OPERATION_ERROR -> rdma_h.IBV_WC_REM_OP_ERR();
            case RETRIES_EXCEEDED -> rdma_h.IBV_WC_RETRY_EXC_ERR();
            case RECEIVER_NOT_READY_RETRIES_EXCEEDED -> rdma_h.IBV_WC_RNR_RETRY_EXC_ERR();
            case LOCAL_RELIABLE_DATAGRAM_VIOLATION -> rdma_h.IBV_WC_LOC_RDD_VIOL_ERR();
            case REMOTE_INVALID_RELIABLE_DATAGRAM_REQUEST -> rdma_h.IBV_WC_REM_INV_RD_REQ_ERR();
            case REMOTE_ABORTED -> rdma_h.IBV_WC_REM_ABORT_ERR();
            case INVALID_END_TO_END_CONTEXT_NUMBER -> rdma_h.IBV_WC_INV_EECN_ERR();
            case INVALID_END_TO_END_CONTEXT_STATE -> rdma_h.IBV_WC_INV_EEC_STATE_ERR();
            case FATAL_ERROR -> rdma_h.IBV_WC_FATAL_ERR();
            case RESPONSE_TIMEOUT -> rdma_h.IBV_WC_RESP_TIMEOUT_ERR();
            case GENERAL_ERROR -> rdma_h.IBV_WC_GENERAL_ERR();
            case TAG_MATCHING_ERROR -> rdma_h.IBV_WC_TM_ERR();
            case TAG_MATCHING_RENDEZVOUS_INCOMPLETE -> rdma_h.IBV_WC_TM_RNDV_INCOMPLETE();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(CompletionKind constant) {
        return switch (constant) {
            case SEND -> rdma_h.IBV_WC_SEND();
            case WRITE -> rdma_h.IBV_WC_RDMA_WRITE();
            case READ -> rdma_h.IBV_WC_RDMA_READ();
            case COMPARE_AND_SWAP -> rdma_h.IBV_WC_COMP_SWAP();
            case FETCH_AND_ADD -> rdma_h.IBV_WC_FETCH_ADD();
            case ATOMIC_WRITE -> rdma_h.IBV_WC_ATOMIC_WRITE();
            case FLUSH -> rdma_h.IBV_WC_FLUSH();
            case BIND -> rdma_h.IBV_WC_BIND_MW();
            case INVALIDATE -> rdma_h.IBV_WC_LOCAL_INV();
            case RECEIVE -> rdma_h.IBV_WC_RECV();
            case RECEIVE_WRITE_WITH_IMMEDIATE -> rdma_h.IBV_WC_RECV_RDMA_WITH_IMM();
            case OTHER -> NO_CODE;
        };
    }

    private static int code(FlushPlacement constant) {
        return switch (constant) {
            case GLOBAL -> rdma_h.IBV_FLUSH_GLOBAL();
            case PERSISTENT -> rdma_h.IBV_FLUSH_PERSISTENT();
        };
    }

    private static int code(CompletionField constant) {
        return switch (constant) {
            case BYTES -> rdma_h.IBV_WC_EX_WITH_BYTE_LEN();
            case IMMEDIATE -> rdma_h.IBV_WC_EX_WITH_IMM();
            case QUEUE_PAIR -> rdma_h.IBV_WC_EX_WITH_QP_NUM();
            case SOURCE_QUEUE_PAIR -> rdma_h.IBV_WC_EX_WITH_SRC_QP();
            case SOURCE_LID -> rdma_h.IBV_WC_EX_WITH_SLID();
            case SERVICE_LEVEL -> rdma_h.IBV_WC_EX_WITH_SL();
            case PATH_BITS -> rdma_h.IBV_WC_EX_WITH_DLID_PATH_BITS();
            case TIMESTAMP -> rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP();
            case WALL_CLOCK -> rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK();
            case VLAN_TAG -> rdma_h.IBV_WC_EX_WITH_CVLAN();
            case FLOW_TAG -> rdma_h.IBV_WC_EX_WITH_FLOW_TAG();
        };
    }

    private static int code(GidEntry.Type constant) {
        return switch (constant) {
            case INFINIBAND -> rdma_h.IBV_GID_TYPE_IB();
            case ROCE_V1 -> rdma_h.IBV_GID_TYPE_ROCE_V1();
            case ROCE_V2 -> rdma_h.IBV_GID_TYPE_ROCE_V2();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(Mtu constant) {
        return switch (constant) {
            case BYTES_256 -> rdma_h.IBV_MTU_256();
            case BYTES_512 -> rdma_h.IBV_MTU_512();
            case BYTES_1024 -> rdma_h.IBV_MTU_1024();
            case BYTES_2048 -> rdma_h.IBV_MTU_2048();
            case BYTES_4096 -> rdma_h.IBV_MTU_4096();
        };
    }

    private static int code(StaticRate constant) {
        return switch (constant) {
            case UNLIMITED -> rdma_h.IBV_RATE_MAX();
            case GIGABITS_2_5 -> rdma_h.IBV_RATE_2_5_GBPS();
            case GIGABITS_5 -> rdma_h.IBV_RATE_5_GBPS();
            case GIGABITS_10 -> rdma_h.IBV_RATE_10_GBPS();
            case GIGABITS_20 -> rdma_h.IBV_RATE_20_GBPS();
            case GIGABITS_30 -> rdma_h.IBV_RATE_30_GBPS();
            case GIGABITS_40 -> rdma_h.IBV_RATE_40_GBPS();
            case GIGABITS_60 -> rdma_h.IBV_RATE_60_GBPS();
            case GIGABITS_80 -> rdma_h.IBV_RATE_80_GBPS();
            case GIGABITS_120 -> rdma_h.IBV_RATE_120_GBPS();
            case GIGABITS_14 -> rdma_h.IBV_RATE_14_GBPS();
            case GIGABITS_56 -> rdma_h.IBV_RATE_56_GBPS();
            case GIGABITS_112 -> rdma_h.IBV_RATE_112_GBPS();
            case GIGABITS_168 -> rdma_h.IBV_RATE_168_GBPS();
            case GIGABITS_25 -> rdma_h.IBV_RATE_25_GBPS();
            case GIGABITS_100 -> rdma_h.IBV_RATE_100_GBPS();
            case GIGABITS_200 -> rdma_h.IBV_RATE_200_GBPS();
            case GIGABITS_300 -> rdma_h.IBV_RATE_300_GBPS();
            case GIGABITS_28 -> rdma_h.IBV_RATE_28_GBPS();
            case GIGABITS_50 -> rdma_h.IBV_RATE_50_GBPS();
            case GIGABITS_400 -> rdma_h.IBV_RATE_400_GBPS();
            case GIGABITS_600 -> rdma_h.IBV_RATE_600_GBPS();
            case GIGABITS_800 -> rdma_h.IBV_RATE_800_GBPS();
            case GIGABITS_1200 -> rdma_h.IBV_RATE_1200_GBPS();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(DataOrder constant) {
        return switch (constant) {
            case WHOLE_MESSAGE -> rdma_h.IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG();
            case ALIGNED_128_BYTES -> rdma_h.IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES();
        };
    }

    private static int code(NodeType constant) {
        return switch (constant) {
            case CHANNEL_ADAPTER -> rdma_h.IBV_NODE_CA();
            case SWITCH -> rdma_h.IBV_NODE_SWITCH();
            case ROUTER -> rdma_h.IBV_NODE_ROUTER();
            case RNIC -> rdma_h.IBV_NODE_RNIC();
            case USNIC -> rdma_h.IBV_NODE_USNIC();
            case USNIC_UDP -> rdma_h.IBV_NODE_USNIC_UDP();
            case UNSPECIFIED -> rdma_h.IBV_NODE_UNSPECIFIED();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(TransportType constant) {
        return switch (constant) {
            case INFINIBAND -> rdma_h.IBV_TRANSPORT_IB();
            case IWARP -> rdma_h.IBV_TRANSPORT_IWARP();
            case USNIC -> rdma_h.IBV_TRANSPORT_USNIC();
            case USNIC_UDP -> rdma_h.IBV_TRANSPORT_USNIC_UDP();
            case UNSPECIFIED -> rdma_h.IBV_TRANSPORT_UNSPECIFIED();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(PortAttributes.State constant) {
        return switch (constant) {
            case NOP -> rdma_h.IBV_PORT_NOP();
            case DOWN -> rdma_h.IBV_PORT_DOWN();
            case INITIALIZING -> rdma_h.IBV_PORT_INIT();
            case ARMED -> rdma_h.IBV_PORT_ARMED();
            case ACTIVE -> rdma_h.IBV_PORT_ACTIVE();
            case ACTIVE_DEFER -> rdma_h.IBV_PORT_ACTIVE_DEFER();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(LinkLayer constant) {
        return switch (constant) {
            case INFINIBAND -> rdma_h.IBV_LINK_LAYER_INFINIBAND();
            case ETHERNET -> rdma_h.IBV_LINK_LAYER_ETHERNET();
            case UNSPECIFIED -> NO_CODE;
        };
    }

    private static int code(AtomicCapability constant) {
        return switch (constant) {
            case NONE -> rdma_h.IBV_ATOMIC_NONE();
            case DEVICE -> rdma_h.IBV_ATOMIC_HCA();
            case GLOBAL -> rdma_h.IBV_ATOMIC_GLOB();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(ForkStatus constant) {
        return switch (constant) {
            case DISABLED -> rdma_h.IBV_FORK_DISABLED();
            case ENABLED -> rdma_h.IBV_FORK_ENABLED();
            case UNNEEDED -> rdma_h.IBV_FORK_UNNEEDED();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(QueuePairState constant) {
        return switch (constant) {
            case RESET -> rdma_h.IBV_QPS_RESET();
            case INIT -> rdma_h.IBV_QPS_INIT();
            case READY_TO_RECEIVE -> rdma_h.IBV_QPS_RTR();
            case READY_TO_SEND -> rdma_h.IBV_QPS_RTS();
            case SEND_QUEUE_DRAINED -> rdma_h.IBV_QPS_SQD();
            case SEND_QUEUE_ERROR -> rdma_h.IBV_QPS_SQE();
            case ERROR -> rdma_h.IBV_QPS_ERR();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(MigrationState constant) {
        return switch (constant) {
            case MIGRATED -> rdma_h.IBV_MIG_MIGRATED();
            case REARM -> rdma_h.IBV_MIG_REARM();
            case ARMED -> rdma_h.IBV_MIG_ARMED();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(DeviceCapability constant) {
        return switch (constant) {
            case RESIZE_QUEUES -> rdma_h.IBV_DEVICE_RESIZE_MAX_WR();
            case BAD_PARTITION_KEY_COUNTER -> rdma_h.IBV_DEVICE_BAD_PKEY_CNTR();
            case BAD_QUEUE_KEY_COUNTER -> rdma_h.IBV_DEVICE_BAD_QKEY_CNTR();
            case RAW_MULTICAST -> rdma_h.IBV_DEVICE_RAW_MULTI();
            case AUTOMATIC_PATH_MIGRATION -> rdma_h.IBV_DEVICE_AUTO_PATH_MIG();
            case CHANGE_PORT -> rdma_h.IBV_DEVICE_CHANGE_PHY_PORT();
            case ADDRESS_VECTOR_PORT_ENFORCED -> rdma_h.IBV_DEVICE_UD_AV_PORT_ENFORCE();
            case CURRENT_STATE_MODIFIER -> rdma_h.IBV_DEVICE_CURR_QP_STATE_MOD();
            case SHUTDOWN_PORT -> rdma_h.IBV_DEVICE_SHUTDOWN_PORT();
            case INITIALIZATION_TYPE -> rdma_h.IBV_DEVICE_INIT_TYPE();
            case PORT_ACTIVE_EVENT -> rdma_h.IBV_DEVICE_PORT_ACTIVE_EVENT();
            case SYSTEM_IMAGE_GUID -> rdma_h.IBV_DEVICE_SYS_IMAGE_GUID();
            case RECEIVER_NOT_READY_NAK -> rdma_h.IBV_DEVICE_RC_RNR_NAK_GEN();
            case RESIZE_SHARED_RECEIVE_QUEUE -> rdma_h.IBV_DEVICE_SRQ_RESIZE();
            case NOTIFY_AFTER_SEVERAL -> rdma_h.IBV_DEVICE_N_NOTIFY_CQ();
            case MEMORY_WINDOW -> rdma_h.IBV_DEVICE_MEM_WINDOW();
            case DATAGRAM_CHECKSUM -> rdma_h.IBV_DEVICE_UD_IP_CSUM();
            case EXTENDED_RELIABLE_CONNECTION -> rdma_h.IBV_DEVICE_XRC();
            case MEMORY_MANAGEMENT_EXTENSIONS -> rdma_h.IBV_DEVICE_MEM_MGT_EXTENSIONS();
            case MEMORY_WINDOW_TYPE_2A -> rdma_h.IBV_DEVICE_MEM_WINDOW_TYPE_2A();
            case MEMORY_WINDOW_TYPE_2B -> rdma_h.IBV_DEVICE_MEM_WINDOW_TYPE_2B();
            case RELIABLE_CONNECTION_CHECKSUM -> rdma_h.IBV_DEVICE_RC_IP_CSUM();
            case RAW_CHECKSUM -> rdma_h.IBV_DEVICE_RAW_IP_CSUM();
            case MANAGED_FLOW_STEERING -> rdma_h.IBV_DEVICE_MANAGED_FLOW_STEERING();
        };
    }

    private static int code(QueuePairType constant) {
        return switch (constant) {
            case RELIABLE_CONNECTION -> rdma_h.IBV_QPT_RC();
            case UNRELIABLE_CONNECTION -> rdma_h.IBV_QPT_UC();
            case UNRELIABLE_DATAGRAM -> rdma_h.IBV_QPT_UD();
            case XRC_SEND -> rdma_h.IBV_QPT_XRC_SEND();
            case XRC_RECEIVE -> rdma_h.IBV_QPT_XRC_RECV();
            case RAW_PACKET -> rdma_h.IBV_QPT_RAW_PACKET();
        };
    }

    private static int code(FlowKind constant) {
        return switch (constant) {
            case MATCHING -> rdma_h.IBV_FLOW_ATTR_NORMAL();
            case ALL_OTHERS -> rdma_h.IBV_FLOW_ATTR_ALL_DEFAULT();
            case OTHER_MULTICAST -> rdma_h.IBV_FLOW_ATTR_MC_DEFAULT();
            case SNIFFER -> rdma_h.IBV_FLOW_ATTR_SNIFFER();
        };
    }

    private static int code(FlowOption constant) {
        return switch (constant) {
            case DO_NOT_TRAP -> rdma_h.IBV_FLOW_ATTR_FLAGS_DONT_TRAP();
            case EGRESS -> rdma_h.IBV_FLOW_ATTR_FLAGS_EGRESS();
        };
    }

    private static int code(FlowQuantity constant) {
        return switch (constant) {
            case PACKETS -> rdma_h.IBV_COUNTER_PACKETS();
            case BYTES -> rdma_h.IBV_COUNTER_BYTES();
        };
    }

    private static int code(QueuePairAttribute constant) {
        return switch (constant) {
            case STATE -> rdma_h.IBV_QP_STATE();
            case CURRENT_STATE -> rdma_h.IBV_QP_CUR_STATE();
            case DRAIN_NOTIFICATION -> rdma_h.IBV_QP_EN_SQD_ASYNC_NOTIFY();
            case ACCESS -> rdma_h.IBV_QP_ACCESS_FLAGS();
            case PARTITION_KEY_INDEX -> rdma_h.IBV_QP_PKEY_INDEX();
            case PORT -> rdma_h.IBV_QP_PORT();
            case QUEUE_KEY -> rdma_h.IBV_QP_QKEY();
            case ADDRESS -> rdma_h.IBV_QP_AV();
            case PATH_MTU -> rdma_h.IBV_QP_PATH_MTU();
            case TIMEOUT -> rdma_h.IBV_QP_TIMEOUT();
            case RETRIES -> rdma_h.IBV_QP_RETRY_CNT();
            case RECEIVER_NOT_READY_RETRIES -> rdma_h.IBV_QP_RNR_RETRY();
            case RECEIVE_SEQUENCE -> rdma_h.IBV_QP_RQ_PSN();
            case MAX_READS -> rdma_h.IBV_QP_MAX_QP_RD_ATOMIC();
            case ALTERNATE_PATH -> rdma_h.IBV_QP_ALT_PATH();
            case RECEIVER_NOT_READY_TIMER -> rdma_h.IBV_QP_MIN_RNR_TIMER();
            case SEND_SEQUENCE -> rdma_h.IBV_QP_SQ_PSN();
            case MAX_DESTINATION_READS -> rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC();
            case PATH_MIGRATION_STATE -> rdma_h.IBV_QP_PATH_MIG_STATE();
            case CAPACITIES -> rdma_h.IBV_QP_CAP();
            case DESTINATION_NUMBER -> rdma_h.IBV_QP_DEST_QPN();
            case RATE_LIMIT -> rdma_h.IBV_QP_RATE_LIMIT();
        };
    }

    private static int code(AsyncEventType constant) {
        return switch (constant) {
            case COMPLETION_QUEUE_ERROR -> rdma_h.IBV_EVENT_CQ_ERR();
            case QUEUE_PAIR_FATAL -> rdma_h.IBV_EVENT_QP_FATAL();
            case QUEUE_PAIR_REQUEST_ERROR -> rdma_h.IBV_EVENT_QP_REQ_ERR();
            case QUEUE_PAIR_ACCESS_ERROR -> rdma_h.IBV_EVENT_QP_ACCESS_ERR();
            case COMMUNICATION_ESTABLISHED -> rdma_h.IBV_EVENT_COMM_EST();
            case SEND_QUEUE_DRAINED -> rdma_h.IBV_EVENT_SQ_DRAINED();
            case PATH_MIGRATED -> rdma_h.IBV_EVENT_PATH_MIG();
            case PATH_MIGRATION_ERROR -> rdma_h.IBV_EVENT_PATH_MIG_ERR();
            case DEVICE_FATAL -> rdma_h.IBV_EVENT_DEVICE_FATAL();
            case PORT_ACTIVE -> rdma_h.IBV_EVENT_PORT_ACTIVE();
            case PORT_ERROR -> rdma_h.IBV_EVENT_PORT_ERR();
            case LID_CHANGE -> rdma_h.IBV_EVENT_LID_CHANGE();
            case PARTITION_KEY_CHANGE -> rdma_h.IBV_EVENT_PKEY_CHANGE();
            case SUBNET_MANAGER_CHANGE -> rdma_h.IBV_EVENT_SM_CHANGE();
            case SHARED_RECEIVE_QUEUE_ERROR -> rdma_h.IBV_EVENT_SRQ_ERR();
            case SHARED_RECEIVE_QUEUE_LIMIT_REACHED -> rdma_h.IBV_EVENT_SRQ_LIMIT_REACHED();
            case LAST_WORK_REQUEST_REACHED -> rdma_h.IBV_EVENT_QP_LAST_WQE_REACHED();
            case CLIENT_REREGISTER -> rdma_h.IBV_EVENT_CLIENT_REREGISTER();
            case GID_CHANGE -> rdma_h.IBV_EVENT_GID_CHANGE();
            case WORK_QUEUE_FATAL -> rdma_h.IBV_EVENT_WQ_FATAL();
            case SPEED_CHANGE -> rdma_h.IBV_EVENT_DEVICE_SPEED_CHANGE();
            case UNKNOWN -> NO_CODE;
        };
    }

    private static int code(PortSpace constant) {
        return switch (constant) {
            case TCP -> rdma_h.RDMA_PS_TCP();
            case UDP -> rdma_h.RDMA_PS_UDP();
            case IPOIB -> rdma_h.RDMA_PS_IPOIB();
            case IB -> rdma_h.RDMA_PS_IB();
        };
    }

    private static int code(ConnectionEventType constant) {
        return switch (constant) {
            case ADDRESS_RESOLVED -> rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED();
            case ADDRESS_ERROR -> rdma_h.RDMA_CM_EVENT_ADDR_ERROR();
            case ROUTE_RESOLVED -> rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED();
            case ROUTE_ERROR -> rdma_h.RDMA_CM_EVENT_ROUTE_ERROR();
            case CONNECT_REQUEST -> rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST();
            case CONNECT_RESPONSE -> rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE();
            case CONNECT_ERROR -> rdma_h.RDMA_CM_EVENT_CONNECT_ERROR();
            case UNREACHABLE -> rdma_h.RDMA_CM_EVENT_UNREACHABLE();
            case REJECTED -> rdma_h.RDMA_CM_EVENT_REJECTED();
            case ESTABLISHED -> rdma_h.RDMA_CM_EVENT_ESTABLISHED();
            case DISCONNECTED -> rdma_h.RDMA_CM_EVENT_DISCONNECTED();
            case DEVICE_REMOVED -> rdma_h.RDMA_CM_EVENT_DEVICE_REMOVAL();
            case MULTICAST_JOINED -> rdma_h.RDMA_CM_EVENT_MULTICAST_JOIN();
            case MULTICAST_ERROR -> rdma_h.RDMA_CM_EVENT_MULTICAST_ERROR();
            case ADDRESS_CHANGED -> rdma_h.RDMA_CM_EVENT_ADDR_CHANGE();
            case TIME_WAIT_EXIT -> rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT();
            case ADDRESS_INFO_RESOLVED -> rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED();
            case ADDRESS_INFO_ERROR -> rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR();
            case USER_DEFINED -> rdma_h.RDMA_CM_EVENT_USER();
            case UNKNOWN -> NO_CODE;
        };
    }
}
