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
import org.junit.jupiter.api.Test;

/**
 * {@code functions.txt}, which names what verbs.h declares: the functions that the library exports
 * and those that are written out in the header, which jextract passes over. docs/verbs.md is made
 * from it. To write it anew: {@code RDMA_HEADERS=... mvn test -pl headers/rdma -am
 * -Dtest=FunctionListTest -Djrdma.write=true -Dsurefire.failIfNoSpecifiedTests=false}.
 */
class FunctionListTest {

    private static final Path LIST = Path.of("functions.txt");

    /** What stands before the parameters of a declaration; a pointer to a function has none. */
    private static final Pattern FUNCTION =
            Pattern.compile("\\s*(?!typedef\\b)[\\w\\s*]*?\\b(\\w+) ?\\((?!\\*)");

    private static Headers headers;
    private static List<String> declared;

    @BeforeAll
    static void readTheHeader() throws IOException {
        headers =
                Headers.find()
                        .orElseThrow(() ->
                                missing(
                                        "no headers: install libibverbs-dev, or unpack it and set RDMA_HEADERS"));
        declared = functions(Files.readString(headers.folder().resolve("infiniband/verbs.h")));
    }

    @Test
    void shouldNameWhatTheHeaderDeclares() throws Exception {
        assumeTrue(headers.areThoseGeneratedFrom(), "other headers than the list was made from");
        if (Boolean.getBoolean("jrdma.write")) {
            Files.writeString(LIST, declared.stream().collect(joining("\n", "", "\n")));
        }

        assertThat(Files.readAllLines(LIST)).isEqualTo(declared);
    }

    /** Without looking at what a declaration is, which would let one slip through. */
    @Test
    void shouldFindEveryFunctionThatIsWrittenOutInTheHeader() throws Exception {
        var header = Files.readString(headers.folder().resolve("infiniband/verbs.h"));
        var inline =
                Pattern.compile("static inline[^;{(]*?(\\w+)\\(")
                        .matcher(header)
                        .results()
                        .map(result -> result.group(1))
                        .toList();

        assertThat(inline).isNotEmpty().hasSize(header.split("static inline", -1).length - 1);
        assertThat(declared).containsAll(inline);
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
