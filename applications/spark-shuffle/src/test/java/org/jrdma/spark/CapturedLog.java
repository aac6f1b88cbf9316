package org.jrdma.spark;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/** Captures the messages that a class logs at the level WARN. */
final class CapturedLog implements AutoCloseable {

    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final AbstractAppender appender =
            new AbstractAppender("captured", null, null, true, Property.EMPTY_ARRAY) {
                @Override
                public void append(LogEvent event) {
                    if (event.getLevel() == Level.WARN) {
                        warnings.add(event.getMessage().getFormattedMessage());
                    }
                }
            };

    CapturedLog(Class<?> source) {
        Configurator.setLevel(source, Level.WARN);
        logger = (Logger) LogManager.getLogger(source);
        appender.start();
        logger.addAppender(appender);
    }

    List<String> warnings() {
        return warnings;
    }

    @Override
    public void close() {
        logger.removeAppender(appender);
    }
}
