package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.ibv_mw;
import org.jrdma.abi.rdma.ibv_mw_bind;
import org.jrdma.abi.rdma.ibv_mw_bind_info;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the calls of libibverbs for memory windows. */
class MemoryWindowTest {

    private static final int BYTES = 4096;

    private final FakeLibrary library = new FakeLibrary();
    private Device device;
    private ProtectionDomain domain;
    private MemoryRegion region;
    private PolledQueuePair queuePair;

    @BeforeEach
    void open() throws Exception {
        device = Verbs.from(library).openFirst();
        domain = device.newProtectionDomain();
        region = domain.register(ByteBuffer.allocateDirect(BYTES), Access.MEMORY_WINDOW_BIND);
        queuePair =
                domain.newQueuePair(
                        QueuePairOptions.reliable(device.newCompletionQueue(64)).sends(4));
        queuePair.connect(queuePair.endpoint());
    }

    @AfterEach
    void close() {
        device.close();
    }

    /** The arguments of a bind, and the key of the window before the bind. */
    private record Bind(int keyBefore, int newKey, long address, long length, int access) {}

    @Test
    void shouldAllocateAndDeallocateEachType() throws Exception {
        var types = new ArrayList<Integer>();
        library.onCall("alloc_mw", arguments -> types.add((int) arguments[1]));

        domain.newType1Window().close();
        domain.newType2Window().close();

        assertThat(types).containsExactly(rdma_h.IBV_MW_TYPE_1(), rdma_h.IBV_MW_TYPE_2());
        assertThat(library.calls).endsWith("alloc_mw", "dealloc_mw", "alloc_mw", "dealloc_mw");
    }

    @Test
    void shouldPassANewKeyWithEachBindOfTypeTwo() throws Exception {
        var binds = new ArrayList<Bind>();
        var window = domain.newType2Window();
        library.onCall(
                "post_send",
                arguments -> {
                    var request = FakeLibrary.memory(arguments[1], ibv_send_wr.layout().byteSize());
                    assertThat(ibv_send_wr.num_sge(request)).isZero();
                    var bind = ibv_send_wr.bind_mw(request);
                    var info = ibv_send_wr.bind_mw.bind_info(bind);
                    binds.add(
                            new Bind(
                                    ibv_mw.rkey(
                                            FakeLibrary.memory(
                                                    ibv_send_wr.bind_mw.mw(bind),
                                                    ibv_mw.layout().byteSize())),
                                    ibv_send_wr.bind_mw.rkey(bind),
                                    ibv_mw_bind_info.addr(info),
                                    ibv_mw_bind_info.length(info),
                                    ibv_mw_bind_info.mw_access_flags(info)));
                });
        var bind = queuePair.prepareBind(window, region, Access.REMOTE_READ);

        assertThat(window.key()).isEqualTo(FakeLibrary.WINDOW_KEY);
        bind.tryPost();
        bind.range(8, 100).tryPost();

        var start = region.startAddress();
        var access = rdma_h.IBV_ACCESS_REMOTE_READ();
        assertThat(binds)
                .containsExactly(
                        new Bind(0x8001_02fe, 0x8001_02ff, start, BYTES, access),
                        new Bind(0x8001_02ff, 0x8001_0200, start + 8, 100, access));
        assertThat(window.remote()).isEqualTo(new RemoteMemory(start + 8, 0x8001_0200, 100));
    }

    @Test
    void shouldUseTheKeyThatTheProviderAssignsToTypeOne() throws Exception {
        var window = domain.newType1Window();
        library.onCall(
                "bind_mw",
                arguments -> {
                    var bind = FakeLibrary.memory(arguments[2], ibv_mw_bind.layout().byteSize());
                    assertThat(ibv_mw_bind.send_flags(bind)).isEqualTo(rdma_h.IBV_SEND_FENCE());
                    assertThat(ibv_mw_bind_info.mr(ibv_mw_bind.bind_info(bind)))
                            .isEqualTo(region.address());
                    ibv_mw.rkey(FakeLibrary.memory(arguments[1], ibv_mw.layout().byteSize()), 4711);
                });

        queuePair
                .prepareBind(window, region, Access.REMOTE_READ)
                .fenced(true)
                .signaled(false)
                .tryPost();

        assertThat(window.remote()).isEqualTo(new RemoteMemory(region.startAddress(), 4711, BYTES));
        assertThat(library.calls).endsWith("bind_mw");
    }

    @Test
    void shouldFreeTheSlotOfARejectedBind() throws Exception {
        library.answer("bind_mw", Errno.EINVAL, 0);
        var bind = queuePair.prepareBind(domain.newType1Window(), region, Access.REMOTE_READ);

        for (var i = 0; i < 10; i++) {
            assertThatExceptionOfType(PostException.class)
                    .isThrownBy(bind::tryPost)
                    .withMessageContaining("BIND of memory window")
                    .withMessageContaining("4,096 bytes of memory region");
        }

        assertThat(queuePair.freeSends()).isEqualTo(4);
    }

    @Test
    void shouldStayBoundIfTheNextBindOrInvalidationIsRejected() throws Exception {
        var window = domain.newType2Window();
        var bind = queuePair.prepareBind(window, region, Access.REMOTE_READ);
        var invalidate = queuePair.prepareInvalidate(window);
        bind.tryPost();
        var bound = window.remote();
        library.rejectPosts("post_send", Errno.ENOMEM);

        assertThatExceptionOfType(PostException.class)
                .isThrownBy(() -> bind.range(8, 100).tryPost());
        assertThat(window.remote()).isEqualTo(bound);
        assertThatExceptionOfType(PostException.class).isThrownBy(invalidate::tryPost);
        assertThat(window.remote()).isEqualTo(bound);
        assertThatExceptionOfType(PostException.class)
                .isThrownBy(queuePair.prepareChain(bind, invalidate)::tryPost);
        assertThat(window.remote()).isEqualTo(bound);
    }

    @Test
    void shouldReportFailuresOfTheProvider() {
        library.answer("alloc_mw", MemorySegment.NULL, Errno.ENOMEM);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(domain::newType1Window)
                .withMessage("ibv_alloc_mw failed on fake0: ENOMEM (12).");
    }

    @Test
    void shouldReportAProviderWithoutMemoryWindows() {
        ibv_context_ops.alloc_mw(ibv_context.ops(library.context()), MemorySegment.NULL);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(domain::newType1Window)
                .withMessageContaining("EOPNOTSUPP");
    }
}
