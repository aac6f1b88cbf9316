package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;

/**
 * The functions about a device that C finds in a context: they fill as much as the caller knows.
 */
final class DeviceMembers {

    private DeviceMembers() {}

    @Exported(value = "query_port", failure = Failure.ERRNO)
    static int queryPort(long context, byte port, long target, long bytes) {
        copy(DeviceFacts.port(ContextObject.of(context), port), target, bytes);
        return 0;
    }

    @Exported(value = "query_device_ex", failure = Failure.ERRNO)
    static int queryDevice(long context, long input, long target, long bytes) {
        copy(DeviceFacts.extendedDevice(ContextObject.of(context)), target, bytes);
        return 0;
    }

    private static void copy(MemorySegment facts, long target, long bytes) {
        var known = Math.min(bytes, facts.byteSize());
        Memory.at(target, bytes).copyFrom(facts.asSlice(0, known));
    }
}
