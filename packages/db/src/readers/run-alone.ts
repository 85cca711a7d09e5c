import type { ClientBase, QueryResultRow } from 'pg';

/**
 * Returns the rows of exactly one statement: the extended protocol refuses a text with several. The driver would
 * otherwise send a statement without values by the simple protocol, which runs all of them.
 */
export async function runAlone<Row extends QueryResultRow>(
  client: Pick<ClientBase, 'query'>,
  text: string,
): Promise<Row[]> {
  const query = { text, queryMode: 'extended' };
  return (await client.query<Row>(query)).rows;
}
