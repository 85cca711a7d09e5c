import type { ClientBase, QueryResultRow } from 'pg';

/** The extended protocol refuses several statements, unlike the driver's default. */
export async function runAlone<Row extends QueryResultRow>(
  client: Pick<ClientBase, 'query'>,
  text: string,
): Promise<Row[]> {
  const query = { text, queryMode: 'extended' };
  return (await client.query<Row>(query)).rows;
}
