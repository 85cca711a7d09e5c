import type { ClientBase, QueryResultRow } from 'pg';

/** The extended protocol refuses several statements; the driver would send a text without values by the simple one. */
export async function runAlone<Row extends QueryResultRow>(
  client: Pick<ClientBase, 'query'>,
  text: string,
): Promise<Row[]> {
  const query = { text, queryMode: 'extended' };
  return (await client.query<Row>(query)).rows;
}
