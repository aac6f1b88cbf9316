package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_mr;
import org.jrdma.abi.rdma.ibv_sge;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests re-registration of memory regions, null memory regions and advice as a C program uses them.
 */
class MemoryReregistrationAndAdviceTest {

    private static final int LOCAL_WRITE = rdma_h.IBV_ACCESS_LOCAL_WRITE();
    private static final int MEMORY = rdma_h.IBV_REREG_MR_CHANGE_TRANSLATION();
    private static final int DOMAIN = rdma_h.IBV_REREG_MR_CHANGE_PD();

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(4096);
    private DeviceObject device;
    private long context;
    private long domain;
    private long region;

    @BeforeEach
    void open() {
        device = ExportedFunctionTestSupport.newDevice();
        context = DeviceExports.openDevice(device.structure().address());
        domain = DomainAndMemoryExports.allocateDomain(context);
        region = DomainAndMemoryExports.register(domain, memory.address(), 4096, LOCAL_WRITE);
    }

    @AfterEach
    void close() {
        assertThat(DeviceExports.closeDevice(context)).isZero();
        arena.close();
    }

    private static MemorySegment structure(long address) {
        return CallerMemory.at(address, ibv_mr.layout());
    }

    /**
     * After the test, closing the context destroys its objects, the newest first. The region is
     * then destroyed after its domain, which is newer.
     */
    @Test
    void shouldBelongToTheNewDomainAfterReregistration() {
        var newer = DomainAndMemoryExports.allocateDomain(context);

        assertThat(DomainAndMemoryExports.change(region, DOMAIN, newer, 0, 0, 0)).isZero();

        assertThat(ibv_mr.pd(structure(region)).address()).isEqualTo(newer);
        assertThat(DomainAndMemoryExports.deallocateDomain(domain)).isZero();
        assertRejected(Errno.EBUSY, () -> DomainAndMemoryExports.deallocateDomain(newer));
    }

    @Test
    void shouldHaveANewKeyAfterReregistration() {
        var before = ibv_mr.lkey(structure(region));
        var other = arena.allocate(8192);

        assertThat(DomainAndMemoryExports.change(region, MEMORY, 0, other.address(), 8192, 0))
                .isZero();

        assertThat(ibv_mr.lkey(structure(region))).isNotEqualTo(before);
        assertThat(ibv_mr.addr(structure(region)).address()).isEqualTo(other.address());
        assertThat(ibv_mr.length(structure(region))).isEqualTo(8192);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 4096, 0", // no changes
        "8, 4096, 0", // an unknown change
        "1, 0, 0", // zero length
        "1, -1, 0", // beyond the end of mapped memory
        "1, 4096, 1", // access flags without the flag to change them
        "4, 4096, 2", // remote write without local write
    })
    void shouldBeUnchangedAfterARejectedReregistration(int changes, long length, int access) {
        var before = ibv_mr.lkey(structure(region));

        assertRejected(
                Errno.EINVAL,
                () ->
                        DomainAndMemoryExports.change(
                                region, changes, 0, memory.address(), length, access));

        assertThat(ibv_mr.lkey(structure(region))).isEqualTo(before);
    }

    @Test
    void shouldHaveNoRemoteKeyForANullRegion() {
        var nullRegion = structure(ControlPathFunctions.allocateNullRegion(domain));

        assertThat(ibv_mr.lkey(nullRegion)).isNotZero();
        assertThat(ibv_mr.rkey(nullRegion)).isZero();
        assertThat(ibv_mr.addr(nullRegion).address()).isZero();
        assertThat(ibv_mr.length(nullRegion)).isEqualTo(-1); // SIZE_MAX
    }

    @Test
    void shouldRejectInvalidAdvice() {
        var write = rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE();
        var read = rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH();
        var onDemand = keyOf(rdma_h.IBV_ACCESS_ON_DEMAND());
        var pinned = keyOf(LOCAL_WRITE);

        assertThat(advise(read, 1, onDemand, 64)).isZero();
        assertThat(advise(read, 1, onDemand, 65)).isEqualTo(Errno.EFAULT);
        assertThat(advise(read, 1, onDemand ^ 1, 64)).isEqualTo(Errno.EFAULT);
        assertThat(advise(read, 0, pinned, 64)).isEqualTo(Errno.EINVAL);
        assertThat(advise(read, 2, onDemand, 64)).isEqualTo(Errno.EINVAL);
        assertThat(advise(write, 0, onDemand, 64)).isEqualTo(Errno.EPERM);
        assertThat(advise(99, 0, onDemand, 64)).isEqualTo(Errno.EOPNOTSUPP);
    }

    private int advise(int advice, int flags, int key, int length) {
        var element = ibv_sge.allocate(arena);
        ibv_sge.addr(element, memory.address());
        ibv_sge.length(element, length);
        ibv_sge.lkey(element, key);
        return WindowAndDeviceMemoryFunctions.advise(domain, advice, flags, element.address(), 1);
    }

    private int keyOf(int access) {
        var made = DomainAndMemoryExports.register(domain, memory.address(), 64, access);
        return ibv_mr.lkey(CallerMemory.at(made, ibv_mr.layout()));
    }
}
