import { type ClientBase, Query } from 'pg';

/** One statement. */
interface BoundedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Whether rows are lists of values instead of objects. */
  readonly isArray: boolean;
}

/**
 * Returns the rows of a statement, which it reads one by one: a result that is too large is never in memory. After an error of `take`, the
 * server still sends the other rows, so close the connection.
 * @param take called with the number of bytes of each row; may throw
 */
export function readBounded<Row>(
  client: Pick<ClientBase, 'query'>,
  { text, values, isArray }: BoundedStatement,
  take: (bytes: number) => void,
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    const rows: Row[] = [];
    let isRefused = false;
    const config = { text, values: [...values], ...(isArray && { rowMode: 'array' }) };
    const query = new Query(config);
    query.on('row', (row) => {
      if (isRefused) return;
      try {
        take(bytesOf(row));
        rows.push(row);
      } catch (error) {
        isRefused = true;
        reject(error);
      }
    });
    query.on('error', reject);
    query.on('end', () => resolve(rows));
    client.query(query);
  });
}

/** Memory of a value without its text. Bytes. */
const VALUE_BYTES = 16;

function bytesOf(row: object): number {
  let bytes = 0;
  for (const value of Object.values(row)) bytes += VALUE_BYTES + (typeof value === 'string' ? value.length : 0);
  return bytes;
}
