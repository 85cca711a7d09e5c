/** Largest data text of a result: agents read all of it. Bytes of UTF-8. */
export const RESULT_BYTES_MAX = 20_000;

/** Data that fits into a result, and how much of it was left out. */
export interface FittedText {
  readonly text: string;
  /** Rows shown; null if the data is no list of rows. */
  readonly shown: number | null;
  readonly isCut: boolean;
}

/**
 * Returns rows as a JSON array, as many from the start as fit. The first row is cut in the middle if it is too large alone.
 * @param rows each as JSON text
 */
export function fitRows(rows: readonly string[], bytesMax = RESULT_BYTES_MAX): FittedText {
  const brackets = 2;
  let bytes = brackets;
  let shown = 0;
  for (const row of rows) {
    bytes += Buffer.byteLength(row) + (shown === 0 ? 0 : 1);
    if (bytes > bytesMax) break;
    shown++;
  }
  if (shown > 0 || rows.length === 0)
    return { text: `[${rows.slice(0, shown).join(',')}]`, shown, isCut: shown < rows.length };
  return { text: startOf(rows[0] ?? '', bytesMax), shown: null, isCut: true };
}

/** Returns a text, or its start if it is too large. */
export function fitText(text: string, bytesMax = RESULT_BYTES_MAX): FittedText {
  const isCut = Buffer.byteLength(text) > bytesMax;
  return { text: isCut ? startOf(text, bytesMax) : text, shown: null, isCut };
}

/** Never ends in the middle of a character. */
function startOf(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
