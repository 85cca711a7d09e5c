import type { Database } from '@chainstead/db';

/** A connection for one statement of an agent. */
export type SessionClient = ReturnType<Database['session']>;

/**
 * Returns the rows of exactly one statement: the extended protocol refuses a text with several. The driver would
 * otherwise send a statement without values by the simple protocol, which runs all of them.
 */
export async function runAlone<Row extends object>(client: SessionClient, text: string): Promise<Row[]> {
  const query = { text, queryMode: 'extended' };
  return (await client.query<Row>(query)).rows;
}
