package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;

/**
 * The functions that C finds in a context and calls seldom. Those that tell of a device fill as
 * much as the caller knows.
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

    @Exported(value = "alloc_null_mr", failure = Failure.NULL)
    static long allocateNullRegion(long domain) {
        return new RegionObject(DomainObject.of(domain)).structure().address();
    }

    private static void copy(MemorySegment facts, long target, long bytes) {
        var known = Math.min(bytes, facts.byteSize());
        Memory.at(target, bytes).copyFrom(facts.asSlice(0, known));
    }
}
