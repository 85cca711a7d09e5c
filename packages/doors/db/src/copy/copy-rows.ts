import { escapeIdentifier } from 'pg';

/** @param table with or without its schema */
export function copyStatement(table: string, columns: readonly string[], isBinary: boolean): string {
  const format = isBinary ? ' (FORMAT binary)' : '';
  return `COPY ${table.split('.').map(escapeIdentifier).join('.')} (${columns.map(escapeIdentifier).join(', ')}) FROM STDIN${format}`;
}

/** One join makes a flat string; appending row by row makes a tree of strings that must be flattened. */
export function encodeRows(rows: readonly string[], isBinary: boolean): Buffer {
  return isBinary ? Buffer.from(rows.join(''), 'latin1') : Buffer.from(`${rows.join('\n')}\n`);
}
