import type { Database } from './database.ts';

/**
 * Rows of several statements, for somebody who must not wait for a database that hangs: a scrape of metrics.
 * After the time the statements are cancelled. @throws what the database throws, or the reason of the time-out
 */
export async function readWithin<Row extends object>(
  database: Pick<Database, 'until'>,
  milliseconds: number,
  statements: readonly string[],
): Promise<readonly (readonly Row[])[]> {
  const late = AbortSignal.timeout(milliseconds);
  const limited = database.until(late, 'cancel');
  const read = Promise.all(statements.map((statement) => limited.query<Row>(statement)));
  const tooLate = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(late.reason), { once: true });
  });
  return Promise.race([read, tooLate]);
}
