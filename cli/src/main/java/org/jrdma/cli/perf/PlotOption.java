package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The option that draws a plot of the results. */
final class PlotOption {

    @Option(
            names = "--plot",
            paramLabel = "FILE",
            description = "Draw a plot: FILE.svg, FILE.html or FILE.png.")
    private Optional<Path> file = Optional.empty();

    /** The load average of the machine before the measurement; negative if unknown. */
    private double load;

    /**
     * Checks that the plot can be written, and determines the load of the machine. Called before
     * the measurement.
     */
    void prepare() {
        file.ifPresent(PlotWriter::check);
        load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    /** Draws the latency and the bandwidth, if a file was named and there is a result. */
    void write(List<Plot.Entry> entries, Plot.Texts texts, PrintWriter notes) throws IOException {
        write(entries, Plot.charts(entries), texts, notes);
    }

    /** Draws charts, if a file was named and there is a result. */
    void write(
            List<Plot.Entry> entries, List<Plot.Chart> charts, Plot.Texts texts, PrintWriter notes)
            throws IOException {
        if (file.isPresent() && !entries.isEmpty()) {
            PlotWriter.write(file.get(), entries, charts, texts, load);
            notes.println("Plot written to " + file.get());
        }
    }
}
