package org.jrdma.examples.firstmessage;

import java.util.List;

/** What the client and the server can be told. */
final class MessageOptions {

    private String address = "";
    private String port = "7471";
    private String fabric = "";

    MessageOptions(String usage, String... arguments) {
        for (var rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            var option = rest.next();
            if (!List.of("-s", "-p", "-f").contains(option)) {
                throw new IllegalArgumentException(option + " is too much.\n\n" + usage);
            }
            if (!rest.hasNext()) {
                throw new IllegalArgumentException(option + " misses its value.\n\n" + usage);
            }
            var value = rest.next();
            switch (option) {
                case "-s" -> address = value;
                case "-p" -> port = value;
                default -> fabric = value;
            }
        }
    }

    String address() {
        return address;
    }

    String port() {
        return port;
    }

    String fabric() {
        return fabric;
    }
}
