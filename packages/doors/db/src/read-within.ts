import { orAborted } from '@chainstead/core';
import type { Database } from './database.ts';
import { asSql, type Sql } from './sql.ts';

/** For callers that can't wait. @throws the database's error, or the timeout's reason */
export async function readWithin<Row extends object>(
  database: Pick<Database, 'until'>,
  milliseconds: number,
  statements: readonly (string | Sql)[],
): Promise<readonly (readonly Row[])[]> {
  const late = AbortSignal.timeout(milliseconds);
  const limited = database.until(late, 'cancel');
  const read = Promise.all(statements.map((statement) => limited.query<Row>(asSql(statement))));
  return orAborted(read, late);
}
