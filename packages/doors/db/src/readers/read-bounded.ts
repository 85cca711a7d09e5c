import { type ClientBase, Query } from 'pg';

interface BoundedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Rows are lists of values instead of objects. */
  readonly isArray: boolean;
}

/**
 * Reads rows one by one: a result that is too large is never in memory. After an error of `take`, which is called with
 * the bytes of each row, the server still sends the other rows: close the connection.
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
        const values: unknown[] = Object.values(row);
        take(
          values.reduce<number>((sum, value) => sum + VALUE_BYTES + (typeof value === 'string' ? value.length : 0), 0),
        );
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

/** For a value without its text. */
const VALUE_BYTES = 16;
