import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { asSql, type Sql, sql, statementOf } from '../sql.ts';

/** Binary. To stop early, cut the connection (`until`): the server sends the rest. */
export async function* copyOut(client: PoolClient, query: string | Sql): AsyncGenerator<Buffer> {
  const { text } = statementOf(sql`COPY (${asSql(query)}) TO STDOUT (FORMAT binary)`);
  yield* client.query(copyTo(text));
}
