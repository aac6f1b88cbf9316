package org.jrdma.interop.devinfo;

import java.util.ArrayList;
import java.util.List;

/** The C names of the bits in a flag word, in the order of the output. */
final class FlagNames {

    static final FlagNames DEVICE_CAPABILITIES =
            of(
                    """
                    0 RESIZE_MAX_WR
                    1 BAD_PKEY_CNTR
                    2 BAD_QKEY_CNTR
                    3 RAW_MULTI
                    4 AUTO_PATH_MIG
                    5 CHANGE_PHY_PORT
                    6 UD_AV_PORT_ENFORCE
                    7 CURR_QP_STATE_MOD
                    8 SHUTDOWN_PORT
                    9 INIT_TYPE
                    10 PORT_ACTIVE_EVENT
                    11 SYS_IMAGE_GUID
                    12 RC_RNR_NAK_GEN
                    13 SRQ_RESIZE
                    14 N_NOTIFY_CQ
                    17 MEM_WINDOW
                    18 UD_IP_CSUM
                    20 XRC
                    21 MEM_MGT_EXTENSIONS
                    23 MEM_WINDOW_TYPE_2A
                    24 MEM_WINDOW_TYPE_2B
                    25 RC_IP_CSUM
                    26 RAW_IP_CSUM
                    29 MANAGED_FLOW_STEERING
                    """);

    static final FlagNames EXTENDED_DEVICE_CAPABILITIES =
            of(
                    """
                    34 RAW_SCATTER_FCS
                    36 PCI_WRITE_END_PADDING
                    41 CC_DMA_BOUNCE
                    """);

    static final FlagNames ON_DEMAND =
            of(
                    """
                    0 SUPPORT_SEND
                    1 SUPPORT_RECV
                    2 SUPPORT_WRITE
                    3 SUPPORT_READ
                    4 SUPPORT_ATOMIC
                    5 SUPPORT_SRQ
                    6 SUPPORT_FLUSH
                    7 SUPPORT_ATOMIC_WRITE
                    """);

    static final FlagNames RAW_PACKETS =
            of(
                    """
                    0 C-VLAN stripping offload
                    1 Scatter FCS offload
                    2 IP csum offload
                    3 Delay drop
                    """);

    static final FlagNames TAG_MATCHING = of("0 IBV_TM_CAP_RC");

    /** The types of queue pairs. The number of each type is the number of its bit. */
    static final FlagNames QUEUE_PAIR_TYPES =
            of(
                    """
                    8 SUPPORT_RAW_PACKET
                    4 SUPPORT_UD
                    """);

    static final FlagNames PACED_QUEUE_PAIR_TYPES =
            of(
                    """
                    8 SUPPORT_RAW_PACKET
                    4 SUPPORT_UD
                    2 SUPPORT_RC
                    """);

    private record Flag(long bit, String name) {}

    private final List<Flag> flags;

    private FlagNames(List<Flag> flags) {
        this.flags = flags;
    }

    private static FlagNames of(String table) {
        return new FlagNames(
                table.lines()
                        .map(line -> line.split(" ", 2))
                        .map(cells -> new Flag(1L << Integer.parseInt(cells[0]), cells[1]))
                        .toList());
    }

    /** Returns the names of the bits that are set, without the bits that have no name. */
    List<String> named(long bits) {
        return flags.stream().filter(flag -> (bits & flag.bit) != 0).map(Flag::name).toList();
    }

    /**
     * Returns the names of the bits that are set. If bits without a name are set, a text with their
     * number follows.
     */
    List<String> all(long bits) {
        var lines = new ArrayList<>(named(bits));
        var known = flags.stream().mapToLong(Flag::bit).sum();
        var unknown = bits & ~known;
        if (unknown != 0) {
            lines.add("Unknown flags: 0x%X".formatted(unknown));
        }
        return lines;
    }
}
