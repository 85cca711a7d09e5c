import type { Database } from './database.ts';
import { asSql, type Sql } from './sql.ts';

/**
 * Returns the rows of several statements with a time limit, for callers that must not wait for an unresponsive
 * database, such as a metrics scrape. After the limit the statements are canceled. @throws the database's error, or the
 * reason of the timeout
 */
export async function readWithin<Row extends object>(
  database: Pick<Database, 'until'>,
  milliseconds: number,
  statements: readonly (string | Sql)[],
): Promise<readonly (readonly Row[])[]> {
  const late = AbortSignal.timeout(milliseconds);
  const limited = database.until(late, 'cancel');
  const read = Promise.all(statements.map((statement) => limited.query<Row>(asSql(statement))));
  const tooLate = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(late.reason), { once: true });
  });
  return Promise.race([read, tooLate]);
}
