import { escapeIdentifier } from 'pg';

/** What a COPY is asked for with. */
export function copyStatement(table: string, columns: readonly string[], isBinary: boolean): string {
  const format = isBinary ? ' (FORMAT binary)' : '';
  return `COPY ${escapeIdentifier(table)} (${columns.map(escapeIdentifier).join(', ')}) FROM STDIN${format}`;
}

/** Rows as they are sent. One join makes one flat text; growing a text row by row makes a tree that has to be flattened. */
export function encodeRows(rows: readonly string[], isBinary: boolean): Buffer {
  return isBinary ? Buffer.from(rows.join(''), 'latin1') : Buffer.from(`${rows.join('\n')}\n`);
}
