package org.jrdma.abi.rdma;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.abi.testing.Missing.missing;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * {@code functions.txt} and {@code connection-functions.txt}, which name what verbs.h and
 * rdma_cma.h declare: the functions that the libraries export and those that are written out in the
 * header, which jextract passes over. docs/verbs.md and docs/rdma_cm.md are made from them. To
 * write them anew: {@code RDMA_HEADERS=... mvn test -pl headers/rdma -am -Dtest=FunctionListTest
 * -Djrdma.write=true -Dsurefire.failIfNoSpecifiedTests=false}.
 */
class FunctionListTest {

    /** What stands before the parameters of a declaration; a pointer to a function has none. */
    private static final Pattern FUNCTION =
            Pattern.compile("\\s*(?!typedef\\b)[\\w\\s*]*?\\b(\\w+) ?\\((?!\\*)");

    private static Headers headers;

    /** A header, and the list of what it declares. */
    enum Header {
        VERBS("infiniband/verbs.h", "functions.txt"),
        CONNECTIONS("rdma/rdma_cma.h", "connection-functions.txt");

        private final String file;
        private final Path list;

        Header(String file, String list) {
            this.file = file;
            this.list = Path.of(list);
        }

        private String read() throws IOException {
            return Files.readString(headers.folder().resolve(file));
        }
    }

    @BeforeAll
    static void findTheHeaders() throws IOException {
        headers =
                Headers.find()
                        .orElseThrow(() ->
                                missing(
                                        "no headers: install libibverbs-dev, or unpack it and set RDMA_HEADERS"));
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameWhatTheHeaderDeclares(Header header) throws Exception {
        assumeTrue(headers.areThoseGeneratedFrom(), "other headers than the list was made from");
        var declared = functions(header.read());
        if (Boolean.getBoolean("jrdma.write")) {
            Files.writeString(header.list, declared.stream().collect(joining("\n", "", "\n")));
        }

        assertThat(Files.readAllLines(header.list)).isEqualTo(declared);
    }

    /** Without looking at what a declaration is, which would let one slip through. */
    @ParameterizedTest
    @EnumSource
    void shouldFindEveryFunctionThatIsWrittenOutInTheHeader(Header file) throws Exception {
        var header = file.read();
        var inline =
                Pattern.compile("static inline[^;{(]*?(\\w+)\\(")
                        .matcher(header)
                        .results()
                        .map(result -> result.group(1))
                        .toList();

        assertThat(inline).isNotEmpty().hasSize(header.split("static inline", -1).length - 1);
        assertThat(functions(header)).containsAll(inline);
    }

    /** Names, in their order. */
    private static List<String> functions(String header) {
        var declarations =
                header.replaceAll("(?s)/\\*.*?\\*/", " ")
                        .replace("\\\n", " ")
                        .replaceAll("(?m)^\\s*#.*$", "")
                        .replaceAll("__attribute__\\s*\\(\\(.*?\\)\\)", "")
                        .replace("extern \"C\" {", "");
        var before = "";
        while (!before.equals(declarations)) { // bodies, from the innermost outwards
            before = declarations;
            declarations = declarations.replaceAll("\\{[^{}]*\\}", ";");
        }
        var names = new ArrayList<String>();
        for (var declaration : declarations.split(";", -1)) {
            var function = FUNCTION.matcher(declaration.replaceAll("\\s+", " "));
            if (function.lookingAt() && !names.contains(function.group(1))) {
                names.add(function.group(1));
            }
        }
        return names;
    }
}
