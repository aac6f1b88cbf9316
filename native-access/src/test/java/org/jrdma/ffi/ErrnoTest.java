package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ErrnoTest {

    @Test
    void shouldHaveTheErrnoNumbersOfC(@TempDir Path folder) throws Exception {
        var fields = Errno.class.getFields();
        var names = Arrays.stream(fields).map(Field::getName).toList();

        var numbers = CExpressions.evaluate(folder, List.of("errno.h"), names);

        assertThat(fields).hasSizeGreaterThan(40);
        for (var field : fields) {
            assertThat(field.getInt(null))
                    .as(field.getName())
                    .isEqualTo(numbers.get(field.getName()).intValue());
        }
    }

    @Test
    void shouldDescribeAnErrnoByNameAndNumber() {
        assertThat(Errno.describe(Errno.ENOMEM)).isEqualTo("ENOMEM (12)");
        assertThat(Errno.describe(Errno.EOPNOTSUPP)).isEqualTo("EOPNOTSUPP (95)");
    }

    @Test
    void shouldDescribeAnUnknownErrnoByNumber() {
        assertThat(Errno.describe(4711)).isEqualTo("errno 4711");
        assertThat(Errno.describe(0)).isEqualTo("errno 0");
        assertThat(Errno.describe(-1)).isEqualTo("errno -1");
    }
}
