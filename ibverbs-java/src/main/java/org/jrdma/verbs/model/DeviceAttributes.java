package org.jrdma.verbs.model;

import java.util.Set;

/**
 * What a device is, can do, and has room for. In C: {@code struct ibv_device_attr}.
 *
 * @param firmwareVersion as the vendor writes it
 * @param nodeGuid its worldwide number
 * @param systemImageGuid the number of the system it is part of
 * @param vendorId who made it
 * @param vendorPartId what the maker calls it
 * @param hardwareVersion the maker's version
 * @param ports how many ports it has
 * @param maxRegionBytes the longest memory region
 * @param pageSizes the page sizes it can map, a bit each
 * @param maxQueuePairs how many queue pairs
 * @param maxQueuePairRequests how many requests in a queue
 * @param maxElements how many pieces of memory in a request
 * @param maxReadElements how many pieces in a read, where that differs
 * @param maxCompletionQueues how many completion queues
 * @param maxCompletions how many completions in a queue
 * @param maxRegions how many memory regions
 * @param maxDomains how many protection domains
 * @param maxReadsAsDestination how many reads and atomics of a peer's a queue pair answers at a
 *     time
 * @param maxReadsAsInitiator how many reads and atomics a queue pair has under way
 * @param maxReadsOfDevice how many it answers in all
 * @param maxReliableDatagramReads how many reads and atomics of a peer's an end-to-end context
 *     answers at a time
 * @param maxReliableDatagramReadsAsInitiator how many an end-to-end context has under way
 * @param atomicCapability what atomics are atomic against
 * @param maxMemoryWindows how many memory windows
 * @param maxEndToEndContexts how many end-to-end contexts, which reliable datagrams need
 * @param maxReliableDatagramDomains how many domains of reliable datagrams
 * @param maxRawIpv6QueuePairs how many raw queue pairs for IPv6
 * @param maxRawEthernetQueuePairs how many raw queue pairs for Ethernet types
 * @param maxMulticastGroups how many multicast groups
 * @param maxMulticastQueuePairsOfGroup how many queue pairs in a group
 * @param maxMulticastQueuePairs how many in all groups
 * @param maxAddressHandles how many address handles
 * @param maxFastRegions how many regions that are mapped anew without the system, in C {@code
 *     max_fmr}
 * @param maxMappingsOfFastRegion how often one of them can be
 * @param maxSharedReceiveQueues how many shared receive queues
 * @param maxSharedReceives how many receives in one
 * @param maxSharedReceiveElements how many pieces of memory in one of its receives
 * @param maxPartitions how many partitions
 * @param acknowledgeDelay how long it takes to answer, as an exponent: 4.096 us times 2 to this
 * @param capabilities what else it can do
 * @param capabilityFlags the same in C's bits, those too that have no name here; in C {@code
 *     device_cap_flags}
 */
public record DeviceAttributes(
        String firmwareVersion,
        long nodeGuid,
        long systemImageGuid,
        int vendorId,
        int vendorPartId,
        int hardwareVersion,
        int ports,
        long maxRegionBytes,
        long pageSizes,
        int maxQueuePairs,
        int maxQueuePairRequests,
        int maxElements,
        int maxReadElements,
        int maxCompletionQueues,
        int maxCompletions,
        int maxRegions,
        int maxDomains,
        int maxReadsAsDestination,
        int maxReadsAsInitiator,
        int maxReadsOfDevice,
        int maxReliableDatagramReads,
        int maxReliableDatagramReadsAsInitiator,
        AtomicCapability atomicCapability,
        int maxMemoryWindows,
        int maxEndToEndContexts,
        int maxReliableDatagramDomains,
        int maxRawIpv6QueuePairs,
        int maxRawEthernetQueuePairs,
        int maxMulticastGroups,
        int maxMulticastQueuePairsOfGroup,
        int maxMulticastQueuePairs,
        int maxAddressHandles,
        int maxFastRegions,
        int maxMappingsOfFastRegion,
        int maxSharedReceiveQueues,
        int maxSharedReceives,
        int maxSharedReceiveElements,
        int maxPartitions,
        int acknowledgeDelay,
        Set<DeviceCapability> capabilities,
        int capabilityFlags) {}
