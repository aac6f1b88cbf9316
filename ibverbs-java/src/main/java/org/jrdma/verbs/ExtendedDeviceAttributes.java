package org.jrdma.verbs;

/**
 * What newer libraries tell of a device besides {@link DeviceAttributes}; zero where this one does
 * not know. In C: {@code struct ibv_device_attr_ex}.
 *
 * @param onDemand whether memory may be registered without locking it
 * @param implicitOnDemand whether the whole address space may be
 * @param reliableOnDemand what a reliable queue pair may do with such memory, in C's bits
 * @param unreliableOnDemand what an unreliable connected one may
 * @param datagramOnDemand what a datagram one may
 * @param timestampMask the bits of a completion's timestamp that count
 * @param clockKilohertz the rate of the timestamp clock
 * @param maxSegmentationBytes the longest message it cuts into packets, in C {@code max_tso}
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
        long timestampMask,
        long clockKilohertz,
        int maxSegmentationBytes,
        int maxModerationCount,
        int maxModerationMicroseconds,
        long deviceMemoryBytes,
        int rawPacketCapabilities,
        long extendedCapabilities) {}
