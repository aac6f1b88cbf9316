package org.jrdma.abi.rdma;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.abi.testing.MissingPrerequisite.missing;
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
 * Compares {@code functions.txt} and {@code connection-functions.txt} with the functions that
 * verbs.h and rdma_cma.h declare: exported functions, and inline functions, which jextract skips.
 * The tables of functions in docs/reference are made from these lists. To update the lists: {@code
 * RDMA_HEADERS=... mvn test -pl headers/rdma -am -Dtest=FunctionListTest -Djrdma.write=true
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
class FunctionListTest {

    /**
     * The part of a function declaration before its parameters. It does not match function
     * pointers.
     */
    private static final Pattern FUNCTION =
            Pattern.compile("\\s*(?!typedef\\b)[\\w\\s*]*?\\b(\\w+) ?\\((?!\\*)");

    private static HeaderDirectory headers;

    /** A header and the list of its functions. */
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
                HeaderDirectory.find()
                        .orElseThrow(() ->
                                missing(
                                        "no headers: install libibverbs-dev, or unpack it and set RDMA_HEADERS"));
    }

    @ParameterizedTest
    @EnumSource
    void shouldListAllFunctionsOfTheHeader(Header header) throws Exception {
        assumeTrue(
                headers.areThoseGeneratedFrom(),
                "these headers are not those that the list was made from");
        var declared = functions(header.read());
        if (Boolean.getBoolean("jrdma.write")) {
            Files.writeString(header.list, declared.stream().collect(joining("\n", "", "\n")));
        }

        assertThat(Files.readAllLines(header.list)).isEqualTo(declared);
    }

    /** Searches for names only, to find also functions whose declaration is not recognized. */
    @ParameterizedTest
    @EnumSource
    void shouldFindEveryInlineFunctionOfTheHeader(Header file) throws Exception {
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

    /** Returns the names in their order. */
    private static List<String> functions(String header) {
        var declarations =
                header.replaceAll("(?s)/\\*.*?\\*/", " ")
                        .replace("\\\n", " ")
                        .replaceAll("(?m)^\\s*#.*$", "")
                        .replaceAll("__attribute__\\s*\\(\\(.*?\\)\\)", "")
                        .replace("extern \"C\" {", "");
        var before = "";
        while (!before.equals(declarations)) { // removes function bodies, the innermost block first
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
