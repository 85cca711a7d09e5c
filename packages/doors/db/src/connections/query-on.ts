import type { ClientBase } from 'pg';
import { type Sql, statementOf } from '../sql.ts';

export async function queryOn<Row extends object = Record<string, unknown>>(
  client: Pick<ClientBase, 'query'>,
  statement: Sql,
): Promise<Row[]> {
  const { text, values } = statementOf(statement);
  // Without values, Postgres takes several statements.
  const { rows } = await client.query<Row>(text, values.length === 0 ? undefined : [...values]);
  return rows;
}
