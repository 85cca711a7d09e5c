import { type ClientBase, Query } from 'pg';

interface BoundedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly isArray: boolean;
}

/** Row by row: no large result is in memory. Close the connection if `take` (row bytes) throws. */
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
          values.reduce<number>(
            (sum, value) => sum + VALUE_BYTES + (typeof value === 'string' ? value.length : 0),
            0,
          ),
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

const VALUE_BYTES = 16;
