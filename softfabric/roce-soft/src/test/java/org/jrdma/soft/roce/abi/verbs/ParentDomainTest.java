package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_cq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_modify_cq_attr;
import org.jrdma.abi.rdma.ibv_parent_domain_init_attr;
import org.jrdma.abi.rdma.ibv_pd;
import org.jrdma.abi.rdma.ibv_td;
import org.jrdma.abi.rdma.ibv_td_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests thread domains, parent domains and completion queue moderation as a C program uses them.
 */
@Timeout(30)
class ParentDomainTest {

    private final Arena arena = Arena.ofConfined();
    private DeviceObject device;
    private long context;
    private long domain;
    private long threads;

    @BeforeEach
    void open() {
        device = ExportedFunctionTestSupport.newDevice();
        context = DeviceExports.openDevice(device.structure().address());
        domain = DomainAndMemoryExports.allocateDomain(context);
        threads =
                ControlPathFunctions.allocateThreadDomain(
                        context, ibv_td_init_attr.allocate(arena).address());
    }

    @AfterEach
    void close() {
        DeviceExports.closeDevice(context);
        arena.close();
    }

    private long newParent(long baseDomain, long threadDomain, int mask) {
        var config = ibv_parent_domain_init_attr.allocate(arena);
        ibv_parent_domain_init_attr.pd(config, MemorySegment.ofAddress(baseDomain));
        ibv_parent_domain_init_attr.td(config, MemorySegment.ofAddress(threadDomain));
        ibv_parent_domain_init_attr.comp_mask(config, mask);
        return ControlPathFunctions.allocateParentDomain(context, config.address());
    }

    private long newQueueIn(long parent) {
        var config = ibv_cq_init_attr_ex.allocate(arena);
        ibv_cq_init_attr_ex.cqe(config, 4);
        ibv_cq_init_attr_ex.parent_domain(config, MemorySegment.ofAddress(parent));
        ibv_cq_init_attr_ex.comp_mask(config, rdma_h.IBV_CQ_INIT_ATTR_MASK_PD());
        return ControlPathFunctions.createCompletionQueue(context, config.address());
    }

    @Test
    void shouldCreateParentDomainsWithAndWithoutThreadDomain() {
        assertThat(ibv_td.context(CallerMemory.at(threads, ibv_td.layout())).address())
                .isEqualTo(context);
        for (var threadDomain : new long[] {0, threads}) {
            var parent = newParent(domain, threadDomain, 0);
            assertThat(ibv_pd.context(CallerMemory.at(parent, ibv_pd.layout())).address())
                    .isEqualTo(context);
            assertThat(DomainAndMemoryExports.deallocateDomain(parent)).isZero();
        }
        assertThat(ControlPathFunctions.deallocateThreadDomain(threads)).isZero();
    }

    @Test
    void shouldPreventTheDestructionOfItsBaseAndThreadDomain() {
        var parent = newParent(domain, threads, 0);
        var queue = newQueueIn(parent);

        assertRejected(Errno.EBUSY, () -> DomainAndMemoryExports.deallocateDomain(domain));
        assertRejected(Errno.EBUSY, () -> ControlPathFunctions.deallocateThreadDomain(threads));
        assertRejected(Errno.EBUSY, () -> DomainAndMemoryExports.deallocateDomain(parent));
        CompletionExports.destroyQueue(queue);
        DomainAndMemoryExports.deallocateDomain(parent);
        assertThat(ControlPathFunctions.deallocateThreadDomain(threads)).isZero();
        assertThat(DomainAndMemoryExports.deallocateDomain(domain)).isZero();
    }

    @Test
    void shouldRejectUnknownFlagsAndObjectsOfAnotherContext() {
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> newParent(domain, 0, rdma_h.IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS()));
        assertRejected(Errno.EINVAL, () -> newParent(0, threads, 0));
        assertRejected(Errno.EINVAL, () -> newQueueIn(domain));
        var config = ibv_td_init_attr.allocate(arena);
        ibv_td_init_attr.comp_mask(config, 1);
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> ControlPathFunctions.allocateThreadDomain(context, config.address()));
        var other = DeviceExports.openDevice(device.structure().address());
        var foreign = DomainAndMemoryExports.allocateDomain(other);
        var foreignThreads =
                ControlPathFunctions.allocateThreadDomain(
                        other, ibv_td_init_attr.allocate(arena).address());
        assertRejected(Errno.EINVAL, () -> newParent(foreign, 0, 0));
        assertRejected(Errno.EINVAL, () -> newParent(domain, foreignThreads, 0));
        DeviceExports.closeDevice(other);
    }

    @Test
    void shouldModifyOnlyTheModerationOfACompletionQueue() {
        var queue = CompletionExports.createQueue(context, 4, 0, 0, 0);
        var config = ibv_modify_cq_attr.allocate(arena);
        assertThat(ControlPathFunctions.modifyCompletionQueue(queue, config.address())).isZero();
        ibv_modify_cq_attr.attr_mask(config, rdma_h.IBV_CQ_ATTR_MODERATE());
        assertThat(ControlPathFunctions.modifyCompletionQueue(queue, config.address())).isZero();
        assertRejected(
                Errno.EINVAL,
                () -> ControlPathFunctions.modifyCompletionQueue(domain, config.address()));
        ibv_modify_cq_attr.attr_mask(config, 1 << 10);
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> ControlPathFunctions.modifyCompletionQueue(queue, config.address()));
    }
}
