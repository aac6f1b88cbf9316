package org.jrdma.verbs.model;

/**
 * What newer libraries tell of a device besides {@link DeviceAttributes}; zero where this one does
 * not know. In C: {@code struct ibv_device_attr_ex}.
 *
 * @param onDemand whether memory may be registered without locking it
 * @param implicitOnDemand whether the whole address space may be
 * @param reliableOnDemand what a reliable queue pair may do with such memory, in C's bits
 * @param unreliableOnDemand what an unreliable connected one may
 * @param datagramOnDemand what a datagram one may
 * @param extendedReliableOnDemand what an extended reliable one may
 * @param timestampMask the bits of a completion's timestamp that count
 * @param clockKilohertz the rate of the timestamp clock
 * @param maxSegmentationBytes the longest message it cuts into packets, in C {@code max_tso}
 * @param segmentationTypes which types of queue pairs have it, a bit each, in C's numbers
 * @param receiveSideScaling how messages are spread over receive queues
 * @param maxReceiveWorkQueues how many receive queues that are not a queue pair's
 * @param packetPacing how slow a queue pair can be made
 * @param tagMatching how receives are chosen by tags
 * @param maxModerationCount how many completions one event can stand for
 * @param maxModerationMicroseconds how long an event can be held back for more
 * @param deviceMemoryBytes the memory on the device itself that can be allocated
 * @param rawPacketCapabilities in C's bits
 * @param extendedCapabilities in C {@code device_cap_flags_ex}
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
     * How messages are spread over receive queues by a hash of their headers. In C: {@code struct
     * ibv_rss_caps}.
     *
     * @param types which types of queue pairs have it, a bit each, in C's numbers
     * @param maxTables how many tables of queues
     * @param maxTableLength how many queues in a table
     * @param hashFields which header fields can be hashed, in C's bits
     * @param hashFunctions with which functions, in C's bits
     */
    public record ReceiveSideScaling(
            int types, int maxTables, int maxTableLength, long hashFields, int hashFunctions) {}

    /**
     * How slow a queue pair can be made. In C: {@code struct ibv_packet_pacing_caps}.
     *
     * @param minKilobits the least it can send in a second
     * @param maxKilobits the most; 0 where there is no such thing
     * @param types which types of queue pairs have it, a bit each, in C's numbers
     */
    public record PacketPacing(long minKilobits, long maxKilobits, int types) {}

    /**
     * How receives are chosen by the tag of a message. In C: {@code struct ibv_tm_caps}.
     *
     * @param maxRendezvousHeaderBytes how long the header of a message that is fetched can be
     * @param maxTags how many tags; 0 where there is no such thing
     * @param flags in C's bits
     * @param maxOperations how many changes of the tags at a time
     * @param maxElements how many pieces of memory in a tagged receive
     */
    public record TagMatching(
            int maxRendezvousHeaderBytes,
            int maxTags,
            int flags,
            int maxOperations,
            int maxElements) {}
}
