package org.jrdma.verbs.model;

/**
 * The properties of a device that newer libraries report in addition to {@link DeviceAttributes}. A
 * value that the library does not report is zero. In C: {@code struct ibv_device_attr_ex}.
 *
 * @param onDemand true if memory can be registered with on-demand paging
 * @param implicitOnDemand true if the whole address space can be registered with on-demand paging
 * @param reliableOnDemand the operations on such memory that a reliable queue pair supports, in C's
 *     bits
 * @param unreliableOnDemand the operations on such memory that an unreliable connected queue pair
 *     supports
 * @param datagramOnDemand the operations on such memory that a datagram queue pair supports
 * @param extendedReliableOnDemand the operations on such memory that an XRC queue pair supports
 * @param timestampMask the valid bits of a completion's timestamp
 * @param clockKilohertz the frequency of the timestamp clock
 * @param maxSegmentationBytes the maximum length of a message that the device segments into
 *     packets, in C {@code max_tso}
 * @param segmentationTypes the queue pair types that support segmentation, one bit for each, in C's
 *     numbering
 * @param receiveSideScaling the limits of receive side scaling
 * @param maxReceiveWorkQueues the maximum number of receive queues that belong to no queue pair
 * @param packetPacing the limits of packet pacing
 * @param tagMatching the limits of tag matching
 * @param maxModerationCount the maximum number of completions that one event can report
 * @param maxModerationMicroseconds the maximum delay of an event that waits for more completions
 * @param deviceMemoryBytes the amount of allocatable memory on the device
 * @param rawPacketCapabilities the features for raw packets, in C's bits
 * @param extendedCapabilities the device features, in C {@code device_cap_flags_ex}
 */
public record ExtendedDeviceAttributes(
        boolean onDemand,
        boolean implicitOnDemand,
        int reliableOnDemand,
        int unreliableOnDemand,
        int datagramOnDemand,
        int extendedReliableOnDemand,
        long timestampMask,
        long clockKilohertz,
        int maxSegmentationBytes,
        int segmentationTypes,
        ReceiveSideScaling receiveSideScaling,
        int maxReceiveWorkQueues,
        PacketPacing packetPacing,
        TagMatching tagMatching,
        int maxModerationCount,
        int maxModerationMicroseconds,
        long deviceMemoryBytes,
        int rawPacketCapabilities,
        long extendedCapabilities) {

    /**
     * The limits of receive side scaling, which distributes messages over receive queues by a hash
     * of their headers. In C: {@code struct ibv_rss_caps}.
     *
     * @param types the queue pair types that support it, one bit for each, in C's numbering
     * @param maxTables the maximum number of indirection tables
     * @param maxTableLength the maximum number of queues in a table
     * @param hashFields the header fields that can be hashed, in C's bits
     * @param hashFunctions the supported hash functions, in C's bits
     */
    public record ReceiveSideScaling(
            int types, int maxTables, int maxTableLength, long hashFields, int hashFunctions) {}

    /**
     * The limits of packet pacing, which restricts the sending rate of a queue pair. In C: {@code
     * struct ibv_packet_pacing_caps}.
     *
     * @param minKilobits the minimum rate in kbit/s
     * @param maxKilobits the maximum rate in kbit/s; 0 if packet pacing is not supported
     * @param types the queue pair types that support it, one bit for each, in C's numbering
     */
    public record PacketPacing(long minKilobits, long maxKilobits, int types) {}

    /**
     * The limits of tag matching, which selects a receive by the tag of the message. In C: {@code
     * struct ibv_tm_caps}.
     *
     * @param maxRendezvousHeaderBytes the maximum length of the header of a rendezvous message
     * @param maxTags the maximum number of tags; 0 if tag matching is not supported
     * @param flags the supported features, in C's bits
     * @param maxOperations the maximum number of concurrent changes of the tag list
     * @param maxElements the maximum number of scatter elements in a tagged receive
     */
    public record TagMatching(
            int maxRendezvousHeaderBytes,
            int maxTags,
            int flags,
            int maxOperations,
            int maxElements) {}
}
