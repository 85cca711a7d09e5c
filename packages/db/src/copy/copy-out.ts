import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { asSql, type Sql, sql, statementOf } from '../sql.ts';

/**
 * Runs `COPY (query) TO STDOUT` in the binary format. Chunks are read only as fast as the caller takes them, and a row may be split between two.
 * A caller that stops before the end has to cut the connection (`until`), because the server sends the rest.
 * @param query without parameters
 */
export async function* copyOut(client: PoolClient, query: string | Sql): AsyncGenerator<Buffer> {
  for await (const chunk of client.query(
    copyTo(statementOf(sql`COPY (${asSql(query)}) TO STDOUT (FORMAT binary)`).text),
  ))
    yield chunk;
}
