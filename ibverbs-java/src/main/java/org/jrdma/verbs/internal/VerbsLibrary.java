package org.jrdma.verbs.internal;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.LibraryNameAndInstallation;
import org.jrdma.ffi.linkage.NativeLibrary;

/**
 * An open libibverbs with its functions.
 *
 * @param library the library that contains the functions
 * @param devices the functions of devices
 * @param domains the functions of protection domains, thread domains and parent domains
 * @param memory the functions of memory regions and memory windows
 * @param deviceMemory the functions of device memory
 * @param completions the functions of completion queues and completion channels
 * @param queuePairs the functions of queue pairs
 * @param sharedReceiveQueues the functions of shared receive queues
 * @param datagrams the functions of address handles and multicast membership
 * @param flows the functions of flows and flow counters
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
        AddressHandleFunctions datagrams,
        FlowFunctions flows) {

    /**
     * The name of the library and the names of the packages that contain the library and its
     * providers.
     */
    public static final LibraryNameAndInstallation NAME =
            new LibraryNameAndInstallation(
                    "libibverbs.so.1",
                    "libibverbs1 ibverbs-providers",
                    "libibverbs",
                    "libibverbs1 libibverbs");

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
                new AddressHandleFunctions(library),
                new FlowFunctions());
    }
}
