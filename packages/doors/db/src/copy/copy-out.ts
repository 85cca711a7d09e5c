import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { asSql, type Sql, sql, statementOf } from '../sql.ts';

/**
 * `COPY (query) TO STDOUT` in the binary format, without parameters. Chunks are read as the caller takes them, and a row
 * may be split between two. A caller that stops early has to cut the connection (`until`): the server sends the rest.
 */
export async function* copyOut(client: PoolClient, query: string | Sql): AsyncGenerator<Buffer> {
  const { text } = statementOf(sql`COPY (${asSql(query)}) TO STDOUT (FORMAT binary)`);
  yield* client.query(copyTo(text));
}
