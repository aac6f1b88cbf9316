package org.jrdma.abi.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.abi.testing.MissingPrerequisite.missing;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.FunctionDescriptor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jrdma.abi.testing.CCompiler;
import org.jrdma.abi.testing.Fact;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GeneratedCodeAgainstCompilerTest {

    @Test
    void shouldInitializeEveryClassAndDescribeEveryFunctionWithoutALibrary() throws Exception {
        var descriptors = new ArrayList<String>();
        for (var type : Fact.generatedClasses(rdma_h.class)) {
            for (var method : type.getDeclaredMethods()) {
                if (method.getReturnType() == FunctionDescriptor.class) {
                    assertThat(method.invoke(null)).isNotNull();
                    descriptors.add(type.getSimpleName() + "." + method.getName());
                }
            }
        }

        assertThat(descriptors)
                .contains("rdma_h.ibv_reg_mr_iova2$descriptor", "post_send.descriptor");
    }

    /**
     * Compares the generated code with the C compiler of this machine. With the headers that the
     * code was generated from, all facts must agree. With other headers, the facts that both
     * contain must agree as far as libibverbs guarantees it across versions: members keep their
     * offsets, structs grow at their end, and verbs_context grows at its front.
     */
    @Nested
    class AgainstTheCompiler {

        /** Constants that mean "all flags of this version". */
        private static final Pattern GROWS =
                Pattern.compile(".*_(RESERVED|SUP_WC_FLAGS|SUPPORTED)");

        private static boolean sameHeaders;
        private static List<Fact> facts;
        private static Map<Fact, String> said;

        @BeforeAll
        static void askTheCompiler(@TempDir Path folder) throws Exception {
            var compiler =
                    CCompiler.find()
                            .orElseThrow(() -> missing("no C compiler: install one, or set CC"));
            var headers =
                    HeaderDirectory.find()
                            .orElseThrow(() ->
                                    missing(
                                            "no headers: install libibverbs-dev and"
                                                    + " librdmacm-dev, or unpack them and"
                                                    + " set RDMA_HEADERS to their folder"
                                                    + " usr/include"));
            sameHeaders = headers.areThoseGeneratedFrom();
            facts = Fact.all(rdma_h.class);
            said = compiler.ask(facts, "rdma.h", List.of(headers.folder()), folder);
        }

        @Test
        void shouldContainOnlyDeclarationsOfTheHeaders() {
            assumeTrue(sameHeaders, "these headers are not those that the code was generated from");

            assertThat(facts)
                    .filteredOn(fact -> fact.kind() != Fact.Kind.PADDING)
                    .allMatch(said::containsKey);
        }

        @Test
        void shouldDescribeTheSizeOfEveryStruct() {
            assumeTrue(sameHeaders, "structs grow from version to version");

            assertAgreement(Fact.Kind.SIZE);
        }

        @Test
        void shouldContainEveryMember() {
            assumeTrue(sameHeaders, "new members may replace padding");
            assumeTrue(
                    said.keySet().stream().anyMatch(fact -> fact.kind() == Fact.Kind.PADDING),
                    "this compiler does not report padding");

            assertAgreement(Fact.Kind.PADDING);
        }

        @Test
        void shouldDescribeTheOffsetOfEveryMember() {
            assertAgreement(Fact.Kind.MEMBER_OFFSET);
        }

        @Test
        void shouldDescribeTheSizeOfEveryMember() {
            assertAgreement(Fact.Kind.MEMBER_SIZE);
        }

        @Test
        void shouldContainTheValueOfEveryConstant() {
            assertAgreement(Fact.Kind.CONSTANT);
        }

        private void assertAgreement(Fact.Kind kind) {
            assertThat(said.keySet())
                    .filteredOn(fact -> fact.kind() == kind)
                    .filteredOn(fact -> sameHeaders || !GROWS.matcher(fact.name()).matches())
                    .isNotEmpty()
                    .allSatisfy(fact ->
                            assertThat(fact.value())
                                    .as("%s of %s", kind, fact.name())
                                    .isEqualTo(said.get(fact)));
        }
    }
}
