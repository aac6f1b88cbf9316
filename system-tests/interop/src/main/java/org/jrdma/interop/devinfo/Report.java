package org.jrdma.interop.devinfo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.model.AtomicCapability;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.TransportType;

/** Prints the attributes of a device with the same lines and columns as the C program. */
final class Report {

    private static final String DEVICE = "\t";
    private static final String DETAIL = "\t\t";
    private static final String PORT = "\t\t\t";
    private static final String FLAG = "\t\t\t\t\t";
    private static final int TAB = 8;

    private final Device device;
    private final boolean verbose;
    private final StringBuilder text = new StringBuilder();

    Report(Device device, boolean verbose) {
        this.device = device;
        this.verbose = verbose;
    }

    /**
     * Returns the attributes of the device and of one or all of its ports.
     *
     * @param port the port; 0 for all
     */
    String of(int port) throws IOException {
        var attributes = device.attributes();
        if (port > attributes.ports()) {
            throw new IOException(
                    "%s has no port %d. It has %d ports."
                            .formatted(device.name(), port, attributes.ports()));
        }
        identity(attributes);
        if (verbose) {
            limits(attributes);
            extensions(device.extendedAttributes());
            deviceField("num_comp_vectors", device.completionVectors());
        }
        for (var number = 1; number <= attributes.ports(); number++) {
            if (port == 0 || port == number) {
                port(device.port(number));
                line("");
            }
        }
        return text.toString();
    }

    private void identity(DeviceAttributes attributes) throws IOException {
        line("hca_id:\t" + device.name());
        deviceField("transport", transport(device.description().transportType()));
        if (!attributes.firmwareVersion().isEmpty()) {
            deviceField("fw_ver", attributes.firmwareVersion());
        }
        deviceField("node_guid", guid(attributes.nodeGuid()));
        deviceField("sys_image_guid", guid(attributes.systemImageGuid()));
        deviceField("vendor_id", "0x%04x".formatted(attributes.vendorId()));
        deviceField("vendor_part_id", attributes.vendorPartId());
        deviceField("hw_ver", "0x%X".formatted(attributes.hardwareVersion()));
        var board = Path.of("/sys/class/infiniband", device.name(), "board_id");
        if (Files.exists(board)) { // libibverbs does not report the board ID.
            deviceField("board_id", Files.readString(board).strip());
        }
        deviceField("phys_port_cnt", attributes.ports());
    }

    private void limits(DeviceAttributes has) {
        deviceField("max_mr_size", "0x%x".formatted(has.maxRegionBytes()));
        deviceField("page_size_cap", "0x%x".formatted(has.pageSizes()));
        deviceField("max_qp", has.maxQueuePairs());
        deviceField("max_qp_wr", has.maxQueuePairRequests());
        deviceField("device_cap_flags", "0x%08x".formatted(has.capabilityFlags()));
        flags(FlagNames.DEVICE_CAPABILITIES.all(Integer.toUnsignedLong(has.capabilityFlags())));
        deviceField("max_sge", has.maxElements());
        deviceField("max_sge_rd", has.maxReadElements());
        deviceField("max_cq", has.maxCompletionQueues());
        deviceField("max_cqe", has.maxCompletions());
        deviceField("max_mr", has.maxRegions());
        deviceField("max_pd", has.maxDomains());
        deviceField("max_qp_rd_atom", has.maxReadsAsDestination());
        deviceField("max_ee_rd_atom", has.maxReliableDatagramReads());
        deviceField("max_res_rd_atom", has.maxReadsOfDevice());
        deviceField("max_qp_init_rd_atom", has.maxReadsAsInitiator());
        deviceField("max_ee_init_rd_atom", has.maxReliableDatagramReadsAsInitiator());
        deviceField("atomic_cap", atomics(has.atomicCapability()));
        deviceField("max_ee", has.maxEndToEndContexts());
        deviceField("max_rdd", has.maxReliableDatagramDomains());
        deviceField("max_mw", has.maxMemoryWindows());
        deviceField("max_raw_ipv6_qp", has.maxRawIpv6QueuePairs());
        deviceField("max_raw_ethy_qp", has.maxRawEthernetQueuePairs());
        deviceField("max_mcast_grp", has.maxMulticastGroups());
        deviceField("max_mcast_qp_attach", has.maxMulticastQueuePairsOfGroup());
        deviceField("max_total_mcast_qp_attach", has.maxMulticastQueuePairs());
        deviceField("max_ah", has.maxAddressHandles());
        deviceField("max_fmr", has.maxFastRegions());
        if (has.maxFastRegions() != 0) {
            deviceField("max_map_per_fmr", has.maxMappingsOfFastRegion());
        }
        deviceField("max_srq", has.maxSharedReceiveQueues());
        if (has.maxSharedReceiveQueues() != 0) {
            deviceField("max_srq_wr", has.maxSharedReceives());
            deviceField("max_srq_sge", has.maxSharedReceiveElements());
        }
        deviceField("max_pkeys", has.maxPartitions());
        deviceField("local_ca_ack_delay", exponent(has.acknowledgeDelay()));
    }

    private void extensions(ExtendedDeviceAttributes has) {
        line(DEVICE + "general_odp_caps:");
        if (has.onDemand()) {
            line(FLAG + "ODP_SUPPORT");
        }
        if (has.implicitOnDemand()) {
            line(FLAG + "ODP_SUPPORT_IMPLICIT");
        }
        onDemand("rc_odp_caps:", has.reliableOnDemand());
        onDemand("uc_odp_caps:", has.unreliableOnDemand());
        onDemand("ud_odp_caps:", has.datagramOnDemand());
        onDemand("xrc_odp_caps:", has.extendedReliableOnDemand());
        line(
                has.timestampMask() == 0
                        ? "\tcompletion_timestamp_mask not supported"
                        : "\tcompletion timestamp_mask:\t\t\t0x%016x"
                                .formatted(has.timestampMask()));
        if (has.clockKilohertz() == 0) {
            line("\tcore clock not supported");
        } else {
            deviceField("hca_core_clock", has.clockKilohertz() + "kHZ");
        }
        if (has.rawPacketCapabilities() != 0) {
            line("\traw packet caps:");
            flags(FlagNames.RAW_PACKETS.named(has.rawPacketCapabilities()));
        }
        deviceField("device_cap_flags_ex", "0x%X".formatted(has.extendedCapabilities()));
        flags(
                FlagNames.EXTENDED_DEVICE_CAPABILITIES.all(
                        has.extendedCapabilities() & 0xffff_ffff_0000_0000L));
        offloads(has);
        if (has.maxModerationCount() != 0 && has.maxModerationMicroseconds() != 0) {
            line("\n\tcq moderation caps:");
            field(DETAIL, 32, "max_cq_count", has.maxModerationCount());
            field(DETAIL, 32, "max_cq_period", has.maxModerationMicroseconds() + " us\n");
        }
        if (has.deviceMemoryBytes() != 0) {
            line(
                    "\tmaximum available device memory:\t%dBytes\n"
                            .formatted(has.deviceMemoryBytes()));
        }
    }

    private void onDemand(String name, int bits) {
        line(DEVICE + name);
        flags(
                bits == 0
                        ? List.of("NO SUPPORT")
                        : FlagNames.ON_DEMAND.all(Integer.toUnsignedLong(bits)));
    }

    private void offloads(ExtendedDeviceAttributes has) {
        line("\ttso_caps:");
        field(DETAIL, 48, "max_tso", has.maxSegmentationBytes());
        if (has.maxSegmentationBytes() != 0) {
            queuePairTypes(FlagNames.QUEUE_PAIR_TYPES, has.segmentationTypes());
        }
        var scaling = has.receiveSideScaling();
        line("\trss_caps:");
        field(DETAIL, 64, "max_rwq_indirection_tables", scaling.maxTables());
        field(DETAIL, 64, "max_rwq_indirection_table_size", scaling.maxTableLength());
        field(DETAIL, 64, "rx_hash_function", "0x%x".formatted(scaling.hashFunctions()));
        field(DETAIL, 64, "rx_hash_fields_mask", "0x%X".formatted(scaling.hashFields()));
        if (scaling.types() != 0) {
            queuePairTypes(FlagNames.QUEUE_PAIR_TYPES, scaling.types());
        }
        deviceField("max_wq_type_rq", has.maxReceiveWorkQueues());
        var pacing = has.packetPacing();
        line("\tpacket_pacing_caps:");
        field(DETAIL, 40, "qp_rate_limit_min", pacing.minKilobits() + "kbps");
        field(DETAIL, 40, "qp_rate_limit_max", pacing.maxKilobits() + "kbps");
        if (pacing.maxKilobits() != 0) {
            queuePairTypes(FlagNames.PACED_QUEUE_PAIR_TYPES, pacing.types());
        }
        var tags = has.tagMatching();
        if (tags.maxTags() == 0) {
            line("\ttag matching not supported");
        } else {
            deviceField("max_rndv_hdr_size", tags.maxRendezvousHeaderBytes());
            deviceField("max_num_tags", tags.maxTags());
            deviceField("max_ops", tags.maxOperations());
            deviceField("max_sge", tags.maxElements());
            line("\tflags:");
            flags(FlagNames.TAG_MATCHING.named(tags.flags()));
        }
    }

    private void queuePairTypes(FlagNames names, int types) {
        line("\t\tsupported_qp:");
        flags(names.all(Integer.toUnsignedLong(types)));
    }

    private void port(PortAttributes port) throws IOException {
        line("\t\tport:\t" + port.port());
        portField("state", state(port.state()));
        portField("max_mtu", mtu(port.maxMtu()));
        portField("active_mtu", mtu(port.activeMtu()));
        portField("sm_lid", port.subnetManagerLid());
        portField("port_lid", port.lid());
        portField("port_lmc", "0x%02x".formatted(port.lidMask()));
        portField("link_layer", linkLayer(port.linkLayer()));
        if (verbose) {
            details(port);
            var isEthernet = port.linkLayer() == LinkLayer.ETHERNET;
            for (var row : device.gids(port.port())) {
                // Skips the GID of an iWARP device that contains its hardware address. The lower
                // half of this GID is 0.
                if (row.type() != GidEntry.Type.UNKNOWN && row.gid().interfaceId() != 0) {
                    var name = "GID[%3d]".formatted(row.index());
                    portField(name, isEthernet ? gid(row) + ", " + version(row) : gid(row));
                }
            }
        }
    }

    private void details(PortAttributes port) {
        portField("max_msg_sz", "0x%x".formatted(port.maxMessageBytes()));
        portField("port_cap_flags", "0x%08x".formatted(port.capabilityFlags()));
        portField("port_cap_flags2", "0x%04x".formatted(port.moreCapabilityFlags()));
        portField("max_vl_num", coded(lanes(port.virtualLanes()), port.virtualLanes()));
        portField("bad_pkey_cntr", "0x%x".formatted(port.badPartitionKeys()));
        portField("qkey_viol_cntr", "0x%x".formatted(port.badQueueKeys()));
        portField("sm_sl", port.subnetManagerServiceLevel());
        portField("pkey_tbl_len", port.partitionTableLength());
        portField("gid_tbl_len", port.gidTableLength());
        portField("subnet_timeout", exponent(port.subnetTimeout()));
        portField("init_type_reply", port.initializationReply());
        portField("active_width", coded(width(port.activeWidth()) + "X", port.activeWidth()));
        portField("active_speed", coded(speed(port.activeSpeed()), port.activeSpeed()));
        if (device.description().transportType() == TransportType.INFINIBAND) {
            var wire = port.physicalState();
            portField("phys_state", coded(physicalState(wire), wire));
        }
    }

    private static String guid(long guid) {
        return groups("%016x".formatted(guid));
    }

    private static String coded(String word, int code) {
        return "%s (%d)".formatted(word, code);
    }

    private static String transport(TransportType transport) {
        return switch (transport) {
            case INFINIBAND -> "InfiniBand (0)";
            case IWARP -> "iWARP (1)";
            case USNIC -> "usNIC (2)";
            case USNIC_UDP -> "usNIC UDP (3)";
            case UNSPECIFIED -> "unspecified (4)";
            case UNKNOWN -> "invalid transport (-1)";
        };
    }

    private static String atomics(AtomicCapability capability) {
        return switch (capability) {
            case NONE -> "ATOMIC_NONE (0)";
            case DEVICE -> "ATOMIC_HCA (1)";
            case GLOBAL -> "ATOMIC_GLOB (2)";
            case UNKNOWN -> "invalid atomic capability";
        };
    }

    private static String state(PortAttributes.State state) {
        return switch (state) {
            case NOP -> "invalid state (0)";
            case DOWN -> "PORT_DOWN (1)";
            case INITIALIZING -> "PORT_INIT (2)";
            case ARMED -> "PORT_ARMED (3)";
            case ACTIVE -> "PORT_ACTIVE (4)";
            case ACTIVE_DEFER -> "invalid state (5)";
            case UNKNOWN -> "invalid state";
        };
    }

    private static String mtu(Mtu mtu) {
        return switch (mtu) {
            case BYTES_256 -> "256 (1)";
            case BYTES_512 -> "512 (2)";
            case BYTES_1024 -> "1024 (3)";
            case BYTES_2048 -> "2048 (4)";
            case BYTES_4096 -> "4096 (5)";
        };
    }

    private static String linkLayer(LinkLayer layer) {
        return switch (layer) {
            case INFINIBAND -> "InfiniBand";
            case ETHERNET -> "Ethernet";
            case UNSPECIFIED -> "Unspecified";
        };
    }

    private static String lanes(int code) {
        return switch (code) {
            case 1 -> "1";
            case 2 -> "2";
            case 3 -> "4";
            case 4 -> "8";
            case 5 -> "15";
            default -> "invalid value";
        };
    }

    private static String width(int code) {
        return switch (code) {
            case 1 -> "1";
            case 2 -> "4";
            case 4 -> "8";
            case 8 -> "12";
            case 16 -> "2";
            default -> "invalid width";
        };
    }

    private static String speed(int code) {
        return switch (code) {
            case 1 -> "2.5 Gbps";
            case 2 -> "5.0 Gbps";
            case 4, 8 -> "10.0 Gbps";
            case 16 -> "14.0 Gbps";
            case 32 -> "25.0 Gbps";
            case 64 -> "50.0 Gbps";
            case 128 -> "100.0 Gbps";
            case 256 -> "200.0 Gbps";
            default -> "invalid speed";
        };
    }

    private static String physicalState(int code) {
        return switch (code) {
            case 1 -> "SLEEP";
            case 2 -> "POLLING";
            case 3 -> "DISABLED";
            case 4 -> "PORT_CONFIGURATION TRAINNING"; // The C program has this spelling.
            case 5 -> "LINK_UP";
            case 6 -> "LINK_ERROR_RECOVERY";
            case 7 -> "PHY TEST";
            default -> "invalid physical state";
        };
    }

    /**
     * Returns the RoCE version of a GID. For a GID that is not of RoCE, the kernel uses the same
     * name as for RoCE v1.
     */
    private static String version(GidEntry row) {
        return row.type() == GidEntry.Type.ROCE_V2 ? "RoCE v2" : "RoCE v1";
    }

    /** Returns a GID as text. The GID of RoCE v2 is printed as an IP address. */
    private static String gid(GidEntry row) {
        if (row.type() != GidEntry.Type.ROCE_V2) {
            return groups(row.gid().toHexDigits());
        }
        return row.gid().isIpv4() ? row.gid().toString() : shortened(row.gid());
    }

    private static String groups(String digits) {
        return digits.replaceAll("(.{4})(?=.)", "$1:");
    }

    /**
     * Returns a GID in the short form of IPv6 addresses: without leading zeros, and with two colons
     * instead of the first of the longest sequences of zero groups.
     */
    private static String shortened(Gid gid) {
        var groups = groups(gid.toHexDigits()).replaceAll("\\b0{1,3}", "");
        for (var zeros = 8; zeros >= 2; zeros--) {
            var row = "\\b0(?::0){%s}\\b".formatted(zeros - 1);
            var replaced = groups.replaceFirst(":?" + row + ":?", "::");
            if (!replaced.equals(groups)) {
                return replaced;
            }
        }
        return groups;
    }

    private void deviceField(String name, Object value) {
        field(DEVICE, 40, name, value);
    }

    private void portField(String name, Object value) {
        field(PORT, 48, name, value);
    }

    /** Appends a line with a name, and with its value starting at a column of the screen. */
    private void field(String indent, int column, String name, Object value) {
        text.append(indent).append(name).append(':');
        for (var at = indent.length() * TAB + name.length() + 1;
                at < column;
                at = at / TAB * TAB + TAB) {
            text.append('\t');
        }
        text.append(value).append('\n');
    }

    /** Returns the exponent e of a time of 4.096 us * 2^e. */
    private static int exponent(Duration time) {
        return Long.numberOfTrailingZeros(time.toNanos() / 4_096);
    }

    private void flags(List<String> names) {
        names.forEach(name -> line(FLAG + name));
    }

    private void line(String line) {
        text.append(line).append('\n');
    }
}
