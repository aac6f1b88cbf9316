package org.jrdma.cli.nvme;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;
import org.jrdma.nvme.soft.NvmeTarget;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses HOST, HOST:PORT or [ADDRESS]:PORT. The default port is that of NVMe over RDMA. */
final class AddressConverter implements ITypeConverter<InetSocketAddress> {

    private static final Pattern FORM =
            Pattern.compile("(?:\\[([^\\]]+)\\]|([^:\\[\\]]+))(?::(\\d{1,5}))?");
    private static final int MAX_PORT = 65_535;

    @Override
    public InetSocketAddress convert(String text) {
        var form = FORM.matcher(text);
        if (!form.matches()) {
            throw new TypeConversionException(
                    "\"%s\" is not an address such as 10.0.0.1, 10.0.0.1:4420 or [fd00::1]:4420"
                            .formatted(text));
        }
        var port = form.group(3) == null ? NvmeTarget.PORT : Integer.parseInt(form.group(3));
        if (port > MAX_PORT) {
            throw new TypeConversionException("The port %d is too large".formatted(port));
        }
        var host = form.group(1) == null ? form.group(2) : form.group(1);
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException _) {
            throw new TypeConversionException("The host %s is unknown".formatted(host));
        }
    }
}
