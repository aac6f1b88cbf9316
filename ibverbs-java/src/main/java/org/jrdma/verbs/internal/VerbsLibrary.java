package org.jrdma.verbs.internal;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.LibraryName;
import org.jrdma.ffi.linkage.NativeLibrary;

/**
 * An open libibverbs, by its parts.
 *
 * @param library where the symbols come from
 * @param devices devices
 * @param domains protection domains, thread domains and parent domains
 * @param memory memory regions and windows
 * @param deviceMemory memory on the device itself
 * @param completions completion queues and channels
 * @param queuePairs queue pairs
 * @param sharedReceiveQueues shared receive queues
 * @param datagrams address handles and multicast groups
 * @param flows flows and their counters
 */
public record VerbsLibrary(
        NativeLibrary library,
        DeviceFunctions devices,
        ProtectionDomainFunctions domains,
        MemoryFunctions memory,
        DeviceMemoryFunctions deviceMemory,
        CompletionFunctions completions,
        QueuePairFunctions queuePairs,
        SharedReceiveQueueFunctions sharedReceiveQueues,
        DatagramFunctions datagrams,
        FlowFunctions flows) {

    /** What the library is called, and which packages hold it and the drivers of the devices. */
    public static final LibraryName NAME =
            new LibraryName(
                    "libibverbs.so.1",
                    "libibverbs1 ibverbs-providers",
                    "libibverbs",
                    "libibverbs1 libibverbs");

    /** Links the functions. */
    public VerbsLibrary(NativeLibrary library) throws LibraryNotFoundException {
        this(
                library,
                new DeviceFunctions(library),
                new ProtectionDomainFunctions(library),
                new MemoryFunctions(library),
                new DeviceMemoryFunctions(library),
                new CompletionFunctions(library),
                new QueuePairFunctions(library),
                new SharedReceiveQueueFunctions(library),
                new DatagramFunctions(library),
                new FlowFunctions());
    }
}
