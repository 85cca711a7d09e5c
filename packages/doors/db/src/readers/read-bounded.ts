import { errorText, type Logger, settlesWithin } from '@chainstead/core';
import { type ClientBase, type PoolClient, Query } from 'pg';
import { SessionClient } from '../connections/session-client.ts';

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

const CANCEL_AGAIN_MS = 500;
const CANCELS_MAX = 10;

/**
 * Closes the connection. Postgres notices that only when it sends, so its statement is canceled first, and again:
 * a request that arrives before the statement begins has no effect. @param work ends with the statement
 */
export async function endStatement(
  connection: PoolClient,
  work: Promise<unknown>,
  logger: Logger,
): Promise<void> {
  // Only the time of the end matters here: the caller reports the error of its statement.
  const ended = work.catch(() => undefined);
  try {
    for (let sent = 0; connection instanceof SessionClient && sent < CANCELS_MAX; sent++) {
      await connection.cancel();
      if (await settlesWithin(ended, CANCEL_AGAIN_MS)) return;
    }
  } catch (error) {
    logger.debug({ error: errorText(error) }, 'SQL statement not canceled');
  } finally {
    connection.release(true);
  }
}

/** A statement's result, or a JSON response: both are in memory as a whole. */
export const RESULT_BYTES_MAX = 8_388_608;

/** A page of one row, which can't have fewer; the row after it is read too. */
export const ROW_BYTES_MAX: number = 4 * RESULT_BYTES_MAX;
