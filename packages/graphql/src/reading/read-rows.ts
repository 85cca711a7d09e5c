import { type Sql, statementOf } from '@chainstead/db';
import type { WithPgClient } from '@dataplan/pg';

/** Runs a statement with the rights of the reader. @returns its rows */
export async function readRows<Row>(withClient: WithPgClient, statement: Sql): Promise<readonly Row[]> {
  const { text, values } = statementOf(statement);
  const { rows } = await withClient(null, (client) => client.query<Row>({ text, values: [...values] }));
  return rows;
}
