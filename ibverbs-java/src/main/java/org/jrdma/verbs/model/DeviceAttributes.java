package org.jrdma.verbs.model;

import java.time.Duration;
import java.util.Set;

/**
 * The properties and limits of a device. In C: {@code struct ibv_device_attr}.
 *
 * @param firmwareVersion the firmware version, in the vendor's format
 * @param nodeGuid the globally unique identifier of the node
 * @param systemImageGuid the GUID of the system that contains the device
 * @param vendorId the identifier of the vendor
 * @param vendorPartId the vendor's part number
 * @param hardwareVersion the vendor's hardware version
 * @param ports the number of ports
 * @param maxRegionBytes the maximum length of a memory region
 * @param pageSizes the supported page sizes, as a bit mask in which each page size in bytes is one
 *     bit
 * @param maxQueuePairs the maximum number of queue pairs
 * @param maxQueuePairRequests the maximum number of work requests in a send queue or a receive
 *     queue
 * @param maxElements the maximum number of scatter/gather elements in a work request
 * @param maxReadElements the maximum number of scatter elements in a read, if it differs from
 *     {@code maxElements}
 * @param maxCompletionQueues the maximum number of completion queues
 * @param maxCompletions the maximum number of completions in a completion queue
 * @param maxRegions the maximum number of memory regions
 * @param maxDomains the maximum number of protection domains
 * @param maxReadsAsDestination the maximum number of reads and atomics from a peer that a queue
 *     pair processes concurrently
 * @param maxReadsAsInitiator the maximum number of reads and atomics that a queue pair can have in
 *     flight as requester
 * @param maxReadsOfDevice the maximum number of reads and atomics from all peers that the device
 *     processes concurrently
 * @param maxReliableDatagramReads the maximum number of reads and atomics from a peer that an
 *     end-to-end context processes concurrently
 * @param maxReliableDatagramReadsAsInitiator the maximum number of reads and atomics that an
 *     end-to-end context can have in flight
 * @param atomicCapability the scope of atomic operations
 * @param maxMemoryWindows the maximum number of memory windows
 * @param maxEndToEndContexts the maximum number of end-to-end contexts, which reliable datagrams
 *     need
 * @param maxReliableDatagramDomains the maximum number of reliable datagram domains
 * @param maxRawIpv6QueuePairs the maximum number of raw queue pairs for IPv6
 * @param maxRawEthernetQueuePairs the maximum number of raw queue pairs for Ethernet types
 * @param maxMulticastGroups the maximum number of multicast groups
 * @param maxMulticastQueuePairsOfGroup the maximum number of queue pairs in a multicast group
 * @param maxMulticastQueuePairs the maximum number of queue pairs in all multicast groups
 * @param maxAddressHandles the maximum number of address handles
 * @param maxFastRegions the maximum number of fast memory regions, which are remapped without a
 *     system call, in C {@code max_fmr}
 * @param maxMappingsOfFastRegion the maximum number of mappings of a fast memory region
 * @param maxSharedReceiveQueues the maximum number of shared receive queues
 * @param maxSharedReceives the maximum number of receives in a shared receive queue
 * @param maxSharedReceiveElements the maximum number of scatter elements in a receive of a shared
 *     receive queue
 * @param maxPartitions the maximum number of partitions
 * @param acknowledgeDelay the maximum delay of acknowledgements by the device
 * @param capabilities the optional features of the device
 * @param capabilityFlags the same optional features as a bit mask, including bits that {@link
 *     DeviceCapability} does not name; in C {@code device_cap_flags}
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
        Duration acknowledgeDelay,
        Set<DeviceCapability> capabilities,
        int capabilityFlags) {}
