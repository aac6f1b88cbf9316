package org.jrdma.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import org.jrdma.benchmarks.NullProvider;
import org.jrdma.verbs.Device;

/**
 * The C provider of the benchmarks for a test, which is skipped without a compiler, but not in CI.
 */
final class NullDevice {

    private NullDevice() {}

    static NullProvider provider() {
        if (NullProvider.compiler().isEmpty()) {
            assertThat(System.getenv("CI")).as("a C compiler is needed in CI").isNotEqualTo("true");
            assumeTrue(false, "There is no C compiler, so this is skipped");
        }
        return NullProvider.instance();
    }

    static Device open() throws IOException {
        return provider().verbs().open(NullProvider.DEVICE);
    }
}
