package org.jrdma.abi.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.abi.testing.Missing.missing;
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

class GeneratedCodeTest {

    @Test
    void shouldInitialiseEveryClassAndDescribeEveryFunctionWithoutALibrary() throws Exception {
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
     * What the generated code says about C, held against what the compiler of this machine says.
     * With the headers that the code was generated from, all must agree. With others, what both
     * know must agree as far as libibverbs promises it across versions: members stay where they
     * are, structs grow at their end, and verbs_context at its front.
     */
    @Nested
    class AgainstTheCompiler {

        /** Constants that stand for "all that this version knows". */
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
                    Headers.find()
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
        void shouldKnowOnlyWhatTheHeadersDeclare() {
            assumeTrue(sameHeaders, "other headers than the code was generated from");

            assertThat(facts)
                    .filteredOn(fact -> fact.kind() != Fact.Kind.PADDING)
                    .allMatch(said::containsKey);
        }

        @Test
        void shouldGiveEveryStructItsSize() {
            assumeTrue(sameHeaders, "structs grow from version to version");

            assertAgreement(Fact.Kind.SIZE);
        }

        @Test
        void shouldLeaveNoMemberOut() {
            assumeTrue(sameHeaders, "new members may take the place of padding");
            assumeTrue(
                    said.keySet().stream().anyMatch(fact -> fact.kind() == Fact.Kind.PADDING),
                    "this compiler does not tell padding");

            assertAgreement(Fact.Kind.PADDING);
        }

        @Test
        void shouldPlaceEveryMember() {
            assertAgreement(Fact.Kind.MEMBER_OFFSET);
        }

        @Test
        void shouldGiveEveryMemberItsSize() {
            assertAgreement(Fact.Kind.MEMBER_SIZE);
        }

        @Test
        void shouldGiveEveryConstantItsValue() {
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
