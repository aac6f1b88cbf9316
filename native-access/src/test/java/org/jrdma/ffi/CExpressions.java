package org.jrdma.ffi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.jrdma.abi.testing.MissingPrerequisite.missing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Evaluates C expressions with the machine's C compiler, {@code $CC} or {@code cc}. */
public final class CExpressions {

    private CExpressions() {}

    /**
     * Returns the value of each expression in C. Compiles and runs a program, whose files are
     * created in {@code folder}.
     */
    public static Map<String, Long> evaluate(
            Path folder, List<String> headers, Collection<String> expressions)
            throws IOException, InterruptedException {
        var source = folder.resolve("numbers.c");
        var program = folder.resolve("numbers");
        Files.writeString(source, sourceCode(headers, expressions));
        var compiler = System.getenv("CC");
        run(compiler == null ? "cc" : compiler, "-o", program.toString(), source.toString());
        var values = new HashMap<String, Long>();
        for (var line : run(program.toString()).lines().toList()) {
            var separator = line.indexOf('=');
            values.put(line.substring(separator + 1), Long.valueOf(line.substring(0, separator)));
        }
        return values;
    }

    private static String sourceCode(List<String> headers, Collection<String> expressions) {
        var includes =
                headers.stream()
                        .map("#include <%s>\n"::formatted)
                        .collect(Collectors.joining("", "#define _GNU_SOURCE\n", ""));
        return expressions.stream()
                .map(expression ->
                        "printf(\"%%lld=%%s\\n\", (long long) (%1$s), \"%1$s\");\n"
                                .formatted(expression))
                .collect(
                        Collectors.joining(
                                "",
                                includes + "#include <stdio.h>\nint main(void)\n{\n",
                                "return 0;\n}\n"));
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException _) {
            throw missing("No C compiler was found. Install one, or set CC.");
        }
        var output = new String(process.getInputStream().readAllBytes(), UTF_8);
        if (process.waitFor() != 0) {
            throw new AssertionError(output);
        }
        return output;
    }
}
