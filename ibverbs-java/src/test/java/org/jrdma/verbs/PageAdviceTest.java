package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.abi.rdma.ibv_sge;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the calls of {@code ibv_advise_mr}. */
class PageAdviceTest {

    private final FakeLibrary library = new FakeLibrary();
    private Device device;
    private ProtectionDomain domain;
    private MemoryRegion region;

    @BeforeEach
    void open() throws Exception {
        verbs_context.advise_mr(
                library.extendedContext(),
                library.stub("advise_mr", verbs_context.advise_mr.descriptor()));
        device = Verbs.from(library).openFirst();
        domain = device.newProtectionDomain();
        region = domain.register(ByteBuffer.allocateDirect(4096), Access.ON_DEMAND);
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldPassTheAdviceAndTheMemorySlices() throws Exception {
        var recorded = new ArrayList<List<Object>>();
        library.onCall(
                "advise_mr",
                arguments -> {
                    recorded.add(List.of(arguments[1], arguments[2], arguments[4]));
                    var list = FakeLibrary.memory(arguments[3], 2 * ibv_sge.layout().byteSize());
                    var second = ibv_sge.asSlice(list, 1);
                    recorded.add(List.of(ibv_sge.addr(second), ibv_sge.length(second)));
                });

        domain.advise(PageAdvice.PREFETCH, region.slice(), region.slice(8, 16));
        domain.adviseAndWait(PageAdvice.PREFETCH_FOR_WRITING, region.slice(), region.slice(16, 32));
        domain.advise(PageAdvice.PREFETCH_WITHOUT_FAULT, region.slice(), region.slice());

        var start = region.startAddress();
        assertThat(recorded)
                .containsExactly(
                        List.of(rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH(), 0, 2),
                        List.of(start + 8, 16),
                        List.of(
                                rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE(),
                                rdma_h.IBV_ADVISE_MR_FLAG_FLUSH(),
                                2),
                        List.of(start + 16, 32),
                        List.of(rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT(), 0, 2),
                        List.of(start, 4096));
    }

    @Test
    void shouldReportFailuresOfTheProvider() {
        library.answer("advise_mr", Errno.EFAULT, 0);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> domain.advise(PageAdvice.PREFETCH, region.slice()))
                .withMessageStartingWith("ibv_advise_mr failed PREFETCH for [4,096 bytes at 0 of")
                .withMessageEndingWith("EFAULT (14).");
    }
}
