package org.jrdma.soft.sisci.fabric;

import java.util.concurrent.ExecutorService;

/**
 * The context of a fabric member (a process): the services that its segments, interrupts and DMA
 * queues use.
 *
 * @param fabric the access to other processes
 * @param topology the nodes, adapters and links of the fabric
 * @param faults the faults to inject
 * @param callbacks the thread that runs the callbacks of the program
 * @param workers the executor for blocking tasks
 * @param writeBuffers the buffers of posted writes
 * @param channels the DMA channels
 * @param objects the objects that messages from other processes refer to
 */
record ProcessContext(
        PeerLookupAndRequests fabric,
        Topology topology,
        FaultInjector faults,
        CallbackThread callbacks,
        ExecutorService workers,
        WriteBufferFlusher writeBuffers,
        DmaChannelAllocator channels,
        IncomingPeerMessageDispatcher objects) {}
