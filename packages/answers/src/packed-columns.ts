const SEPARATOR = ',';

/**
 * Columns of a row as one text, in SQL: each column that the driver takes from a row costs about as much as all that is done with it
 * afterwards. For columns that are never null and hold no comma: numbers, moments, hexadecimal digits. {@link unpack} takes the
 * text apart.
 */
export function packed(columns: readonly string[]): string {
  return columns.map((column) => `(${column})::text`).join(` || '${SEPARATOR}' || `);
}

/** The columns that were {@link packed}, in their order. */
export function unpack(text: string): readonly string[] {
  return text.split(SEPARATOR);
}
