package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jrdma.abi.sisci.sisci_query;

/**
 * The numbers of the commands and subcommands of {@code SCIQuery}. The numbers of Dolphin's library
 * are not public. This library uses arbitrary numbers, so that only programs that read them from
 * the exported constants work.
 */
final class QueryCommandNumbers {

    private static final List<sisci_query> ALL = List.of(sisci_query.values());
    private static final int FIRST_NUMBER = 0x00C0_FFE5;
    private static final int STEP = 0x0001_0007;
    private static final Map<Integer, sisci_query> BY_NUMBER =
            Arrays.stream(sisci_query.values())
                    .collect(Collectors.toMap(QueryCommandNumbers::number, Function.identity()));

    private QueryCommandNumbers() {}

    static int number(sisci_query query) {
        return FIRST_NUMBER + STEP * ALL.indexOf(query);
    }

    static sisci_query of(int number) {
        var query = BY_NUMBER.get(number);
        throwIf(query == null, SCI_ERR_ILLEGAL_QUERY());
        return query;
    }
}
