package org.jrdma.soft.sisci.fabric;

import java.util.concurrent.ExecutorService;

/**
 * The services that the objects of a process use.
 *
 * @param fabric the access to other processes
 * @param topology nodes, adapters and links
 * @param faults the faults to inject
 * @param callbacks the thread of the callbacks
 * @param workers the executor for blocking tasks
 * @param writeBuffers the buffers of posted writes
 * @param channels the DMA channels
 * @param objects the objects that other processes address
 */
record MemberContext(
        FabricClient fabric,
        Topology topology,
        FaultInjector faults,
        CallbackThread callbacks,
        ExecutorService workers,
        WriteBufferFlusher writeBuffers,
        DmaChannelAllocator channels,
        ConnectedObjects objects) {}
