package org.jrdma.verbs.model;

/**
 * The properties of a device that newer libraries report in addition to {@link DeviceAttributes}.
 * The value of a property that the library does not report is 0 or false. In C: {@code struct
 * ibv_device_attr_ex}.
 *
 * @param onDemand true if memory can be registered with on-demand paging
 * @param implicitOnDemand true if the whole address space can be registered with on-demand paging
 * @param reliableOnDemand the operations on memory with on-demand paging that a reliable queue pair
 *     supports, as a bit mask with the constants of C
 * @param unreliableOnDemand the operations on memory with on-demand paging that an unreliable
 *     connected queue pair supports, as a bit mask with the constants of C
 * @param datagramOnDemand the operations on memory with on-demand paging that a datagram queue pair
 *     supports, as a bit mask with the constants of C
 * @param extendedReliableOnDemand the operations on memory with on-demand paging that an XRC queue
 *     pair supports, as a bit mask with the constants of C
 * @param timestampMask a bit mask of the significant bits in the timestamp of a completion
 * @param clockKilohertz the frequency of the device clock in kHz, which the timestamps of
 *     completions use
 * @param maxSegmentationBytes the maximum length of a message that the device segments into
 *     packets, in C {@code max_tso}
 * @param segmentationTypes the queue pair types that support segmentation, as a bit mask whose bit
 *     numbers are the type constants of C
 * @param receiveSideScaling the limits of receive side scaling
 * @param maxReceiveWorkQueues the maximum number of receive queues that do not belong to a queue
 *     pair
 * @param packetPacing the limits of packet pacing
 * @param tagMatching the limits of tag matching
 * @param maxModerationCount the maximum number of completions that one event can report
 * @param maxModerationMicroseconds the maximum delay of an event by moderation, in microseconds
 * @param deviceMemoryBytes the size of the memory on the device that programs can allocate, in
 *     bytes
 * @param rawPacketCapabilities the features for raw packets, as a bit mask with the constants of C
 * @param extendedCapabilities the optional features of the device, as a bit mask with the constants
 *     of C; in C {@code device_cap_flags_ex}
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
     * @param types the queue pair types that support this feature, as a bit mask whose bit numbers
     *     are the type constants of C
     * @param maxTables the maximum number of indirection tables
     * @param maxTableLength the maximum number of receive queues in an indirection table
     * @param hashFields the header fields that can be hashed, as a bit mask with the constants of C
     * @param hashFunctions the supported hash functions, as a bit mask with the constants of C
     */
    public record ReceiveSideScaling(
            int types, int maxTables, int maxTableLength, long hashFields, int hashFunctions) {}

    /**
     * The limits of packet pacing, which restricts the sending rate of a queue pair. In C: {@code
     * struct ibv_packet_pacing_caps}.
     *
     * @param minKilobits the minimum rate in kbit/s
     * @param maxKilobits the maximum rate in kbit/s; 0 if packet pacing is not supported
     * @param types the queue pair types that support this feature, as a bit mask whose bit numbers
     *     are the type constants of C
     */
    public record PacketPacing(long minKilobits, long maxKilobits, int types) {}

    /**
     * The limits of tag matching, by which the device selects the receive for a message by a tag in
     * the message. In C: {@code struct ibv_tm_caps}.
     *
     * @param maxRendezvousHeaderBytes the maximum length of the header of a rendezvous message
     * @param maxTags the maximum number of tags; 0 if tag matching is not supported
     * @param flags the supported features, as a bit mask with the constants of C
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
