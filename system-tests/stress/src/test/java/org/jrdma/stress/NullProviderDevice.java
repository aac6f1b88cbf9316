package org.jrdma.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import org.jrdma.benchmarks.NullProvider;
import org.jrdma.verbs.Device;

/**
 * Opens a device of the C provider of the benchmarks. If there is no C compiler, the calling test
 * is skipped, or fails in CI.
 */
public final class NullProviderDevice {

    private NullProviderDevice() {}

    public static void assumeCompiler() {
        if (NullProvider.compiler().isEmpty()) {
            assertThat(System.getenv("CI")).as("CI needs a C compiler.").isNotEqualTo("true");
            assumeTrue(false, "Skipped because there is no C compiler.");
        }
    }

    static NullProvider provider() {
        assumeCompiler();
        return NullProvider.instance();
    }

    static Device open() throws IOException {
        return provider().verbs().open(NullProvider.DEVICE);
    }
}
