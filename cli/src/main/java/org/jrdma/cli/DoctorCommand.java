package org.jrdma.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jrdma.cli.doctor.Doctor;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.Paragraph;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.Verdict;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Diagnoses common configuration faults. */
@Command(
        name = "doctor",
        description =
                "Checks this machine for common configuration faults of RDMA, SISCI and SuperSockets, and prints a fix for each.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:nothing is broken",
            "1:something is broken",
            "2:invalid command line or system property"
        })
final class DoctorCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Override
    public Integer call() {
        var findings = Doctor.examine();
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(findings));
        } else {
            print(findings, out);
        }
        return count(findings, Verdict.BROKEN) == 0 ? 0 : 1;
    }

    private static void print(List<Finding> findings, PrintWriter out) {
        var width =
                findings.stream().mapToInt(finding -> finding.subject().length()).max().orElse(1);
        var row = "%-9s %-" + width + "s  %s";
        var indentation = row.formatted("", "", "").length();
        for (var finding : findings) {
            var verdict = Json.name(finding.verdict());
            print(row.formatted(verdict, finding.subject(), finding.seen()), indentation, out);
            if (!finding.breaks().isEmpty()) {
                print(row.formatted("", "", "impact: " + finding.breaks()), indentation, out);
            }
            if (!finding.fix().isEmpty()) {
                print(row.formatted("", "", "fix: " + finding.fix()), indentation, out);
            }
        }
        out.printf(
                "%d broken, %d doubtful%n",
                count(findings, Verdict.BROKEN), count(findings, Verdict.DOUBTFUL));
    }

    private static void print(String line, int indentation, PrintWriter out) {
        out.println(Paragraph.wrap(line, indentation));
    }

    private static long count(List<Finding> findings, Verdict verdict) {
        return findings.stream().filter(finding -> finding.verdict() == verdict).count();
    }
}
