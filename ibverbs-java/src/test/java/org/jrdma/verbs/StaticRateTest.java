package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.FunctionDescriptor;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.internal.VerbsEnumCodes;
import org.jrdma.verbs.internal.VerbsLibrary;
import org.jrdma.verbs.model.StaticRate;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StaticRateTest {

    @ParameterizedTest
    @EnumSource
    void shouldConvertRatesToCodesAndBack(StaticRate rate) {
        rate.megabits()
                .ifPresent(number -> assertThat(StaticRate.ofMegabits(number)).contains(rate));
        rate.multiple()
                .ifPresent(number -> assertThat(StaticRate.ofMultiple(number)).contains(rate));
    }

    @Test
    void shouldRejectUnknownRates() {
        assertThat(StaticRate.ofMegabits(-1)).isEmpty();
        assertThat(StaticRate.ofMegabits(0)).isEmpty();
        assertThat(StaticRate.ofMegabits(2501)).isEmpty();
        assertThat(StaticRate.ofMultiple(-1)).isEmpty();
        assertThat(StaticRate.ofMultiple(3)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void shouldMatchTheInstalledLibrary(StaticRate rate) {
        var code = VerbsEnumCodes.STATIC_RATE.code(rate);

        assertThat(rate.megabits().orElse(-1))
                .isEqualTo(convert("ibv_rate_to_mbps", rdma_h.ibv_rate_to_mbps$descriptor(), code));
        assertThat(rate.multiple().orElse(-1))
                .isEqualTo(convert("ibv_rate_to_mult", rdma_h.ibv_rate_to_mult$descriptor(), code));
        rate.megabits()
                .ifPresent(number ->
                        assertThat(
                                        convert(
                                                "mbps_to_ibv_rate",
                                                rdma_h.mbps_to_ibv_rate$descriptor(),
                                                number))
                                .isEqualTo(code));
        rate.multiple()
                .ifPresent(number ->
                        assertThat(
                                        convert(
                                                "mult_to_ibv_rate",
                                                rdma_h.mult_to_ibv_rate$descriptor(),
                                                number))
                                .isEqualTo(code));
    }

    private static int convert(String function, FunctionDescriptor type, int number) {
        NativeLibrary library;
        try {
            library = NativeLibrary.open(VerbsLibrary.NAME);
        } catch (LibraryNotFoundException e) {
            Assumptions.abort(e.getMessage());
            return 0;
        }
        var handle = capturingErrno(type);
        var address = library.find(function).orElseThrow();
        return call(() -> (int) handle.invokeExact(address, segment(), number));
    }
}
