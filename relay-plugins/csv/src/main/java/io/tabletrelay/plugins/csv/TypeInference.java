package io.tabletrelay.plugins.csv;

import io.tabletrelay.api.tablet.TabletType;

/**
 * Finds out a column's type: BOOLEAN or DOUBLE if all fields that are not empty agree, else text; text too for numbers that
 * a DOUBLE would change.
 *
 * <p>Threading: confined to the thread that serializes.
 */
final class TypeInference {
    private final CellParser parser;
    private final TabletType text;
    private boolean bools = true;
    private boolean numbers = true;
    private boolean none = true;

    TypeInference(CellParser parser, TabletType text) {
        this.parser = parser;
        this.text = text;
    }

    void see(String field) {
        if (!field.isEmpty()) {
            bools = bools && parser.parse(TabletType.BOOLEAN, field) != null;
            numbers = numbers && parser.isExactNumber(field);
            none = false;
        }
    }

    TabletType type() {
        if (none) {
            return text;
        }
        return bools ? TabletType.BOOLEAN : numbers ? TabletType.DOUBLE : text;
    }
}
