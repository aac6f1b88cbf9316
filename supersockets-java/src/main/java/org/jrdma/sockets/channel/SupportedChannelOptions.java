package org.jrdma.sockets.channel;

import java.io.IOException;
import java.net.SocketOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The socket options that one kind of channel supports. */
final class SupportedChannelOptions {

    private final Map<SocketOption<?>, ChannelOption<?>> byName = new LinkedHashMap<>();

    private SupportedChannelOptions(List<ChannelOption<?>> options) {
        options.forEach(option -> byName.put(option.name(), option));
    }

    static SupportedChannelOptions of(List<ChannelOption<?>> options) {
        return new SupportedChannelOptions(options);
    }

    SupportedChannelOptions and(ChannelOption<?> option) {
        var all = new ArrayList<>(byName.values());
        all.add(option);
        return new SupportedChannelOptions(all);
    }

    Set<SocketOption<?>> names() {
        return Set.copyOf(byName.keySet());
    }

    <T> void set(ChannelDescriptor endpoint, SocketOption<T> name, T value) throws IOException {
        var option = find(name);
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
        endpoint.call(() -> {
            option.write(endpoint.descriptor(), value);
            if (option == ChannelOption.LINGER) {
                endpoint.lingers((Integer) value > 0);
            }
            return null;
        });
    }

    <T> @Nullable T get(ChannelDescriptor endpoint, SocketOption<T> name) throws IOException {
        var option = find(name);
        return endpoint.call(() -> option.read(endpoint.descriptor()));
    }

    @SuppressWarnings("unchecked") // Each option is stored under its own name, so the types match.
    private <T> ChannelOption<T> find(SocketOption<T> name) {
        var option = (ChannelOption<T>) byName.get(Objects.requireNonNull(name));
        if (option == null) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
        return option;
    }
}
