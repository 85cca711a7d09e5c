import { escapeIdentifier } from 'pg';

export function copyStatement(table: string, columns: readonly string[], isBinary: boolean): string {
  const format = isBinary ? ' (FORMAT binary)' : '';
  return `COPY ${table.split('.').map(escapeIdentifier).join('.')} (${columns.map(escapeIdentifier).join(', ')}) FROM STDIN${format}`;
}

/** One join makes a flat string; appending makes a tree to be flattened. */
export function encodeRows(rows: readonly string[], isBinary: boolean): Buffer {
  return isBinary ? Buffer.from(rows.join(''), 'latin1') : Buffer.from(`${rows.join('\n')}\n`);
}
