package org.jrdma.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import org.jrdma.architecture.ArchitectureRules.AllowedUse;
import org.jrdma.architecture.ArchitectureRules.Violation;
import org.junit.jupiter.api.Test;

/** Tests that all modules of the repository obey the {@link ArchitectureRules}. */
class ArchitectureTest {

    private static final Path REPOSITORY = Path.of("../..").toAbsolutePath().normalize();

    @Test
    void shouldFindNoViolation() throws IOException {
        var found = new ArrayList<Violation>();
        for (var folder : CompiledModule.folders(REPOSITORY)) {
            found.addAll(ArchitectureRules.violations(CompiledModule.read(REPOSITORY, folder)));
        }

        assertThat(found).isEmpty();
    }

    @Test
    void shouldAllowOnlyUsesOfTheApiThatExist() throws IOException {
        var uses = new HashSet<Dependency>();
        for (var folder : CompiledModule.folders(REPOSITORY)) {
            CompiledModule.read(REPOSITORY, folder)
                    .dependencies()
                    .forEach(use -> uses.add(use.ofPackages()));
        }

        assertThat(uses)
                .containsAll(
                        ArchitectureRules.ALLOWED_USES.stream().map(AllowedUse::packages).toList());
    }

    /** A program that could call the packages for native functions could free memory in use. */
    @Test
    void shouldExportNativeFunctionsOnlyToTheModulesOfTheSdk() throws IOException {
        assertThat(CompiledModule.read(REPOSITORY, REPOSITORY.resolve("native-access")))
                .extracting(CompiledModule::exportedPackages)
                .isEqualTo(Set.of("org.jrdma.ffi"));
    }

    @Test
    void shouldFindTheModules() throws IOException {
        assertThat(CompiledModule.folders(REPOSITORY))
                .contains(
                        REPOSITORY.resolve("ibverbs-java"),
                        REPOSITORY.resolve("softfabric/roce-soft"))
                .doesNotContain(
                        REPOSITORY.resolve("headers/rdma"), REPOSITORY.resolve("softfabric"));
    }
}
