import type { ClientBase } from 'pg';
import { movedStatement, type Sql } from '../sql.ts';

/** Runs a statement on a connection without preparing it. @returns its rows */
export async function queryOn<Row extends object = Record<string, unknown>>(
  client: Pick<ClientBase, 'query'>,
  statement: Sql | string,
  given?: readonly unknown[],
): Promise<Row[]> {
  const { text, values } = movedStatement(statement, given);
  const { rows } = await client.query<Row>(text, values === undefined ? undefined : [...values]);
  return rows;
}
