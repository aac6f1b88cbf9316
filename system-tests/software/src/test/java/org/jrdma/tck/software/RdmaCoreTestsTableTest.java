package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Checks that docs/contributing/rdma-core.md contains a row for each test of rdma-core, and names
 * only existing tests of this project.
 */
class RdmaCoreTestsTableTest {

    private static final Path TABLE = Path.of("../../docs/contributing/rdma-core.md");

    /** The total number of rdma-core's tests in the document. */
    private static final int TESTS = 185;

    private static final List<String> PACKAGES =
            List.of("org.jrdma.tck.verbs", "org.jrdma.tck.recorded");

    /** A heading of the document: a test file of rdma-core and the number of its tests. */
    private static final Pattern FILE = Pattern.compile("(?m)^## (test_\\w+\\.py): (\\d+)$");

    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `(\\w+\\.test_\\w+)` \\| (.+) \\|$");
    private static final Pattern COUNTERPART = Pattern.compile("`(\\w+)#(\\w+)`");
    private static final String REASON = "no: \\S.*";

    private static String text;

    @BeforeAll
    static void read() throws IOException {
        text = Files.readString(TABLE);
    }

    @Test
    void shouldNameOnlyExistingTests() {
        ROW.matcher(text)
                .results()
                .filter(row -> !row.group(2).matches(REASON))
                .forEach(row -> {
                    assertThat(row.group(2)).matches(COUNTERPART + "(, " + COUNTERPART + ")*");
                    COUNTERPART
                            .matcher(row.group(2))
                            .results()
                            .forEach(name ->
                                    assertThat(isTest(name.group(1), name.group(2)))
                                            .as("%s for %s", name.group(), row.group(1))
                                            .isTrue());
                });
    }

    @Test
    void shouldContainARowForEachTestOfEachFile() {
        var expected = new HashMap<String, Integer>();
        var rows = new HashMap<String, Integer>();
        var sections = FILE.matcher(text).results().toList();
        for (var i = 0; i < sections.size(); i++) {
            var end = i + 1 < sections.size() ? sections.get(i + 1).start() : text.length();
            var section = text.substring(sections.get(i).end(), end);
            var file = sections.get(i).group(1);
            expected.put(file, Integer.parseInt(sections.get(i).group(2)));
            var names = ROW.matcher(section).results().map(row -> row.group(1)).toList();
            assertThat(new HashSet<>(names)).as(file).hasSameSizeAs(names);
            rows.put(file, names.size());
        }
        assertThat(rows).isEqualTo(expected);
        assertThat(rows.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(TESTS);
    }

    private static boolean isTest(String className, String method) {
        return PACKAGES.stream().anyMatch(name -> isTestOf(name + "." + className, method));
    }

    private static boolean isTestOf(String className, String method) {
        try {
            return Arrays.stream(Class.forName(className).getDeclaredMethods())
                    .filter(candidate -> candidate.getName().equals(method))
                    .anyMatch(candidate ->
                            candidate.isAnnotationPresent(Test.class)
                                    || candidate.isAnnotationPresent(ParameterizedTest.class));
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
