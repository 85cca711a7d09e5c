import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { escapeIdentifier, type PoolClient } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { CopyLines } from '../database.ts';
import { asSql, type Sql, sql, statementOf } from '../sql.ts';
import { BINARY_HEADER, BINARY_TRAILER, isBinaryRow } from './row-writer.ts';

/** Large enough to be cheap per message, small enough to slow the producer with the server. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Pulls lines as the server accepts them. The connection survives errors. @returns rows */
export async function copyInto(
  client: PoolClient,
  table: string,
  columns: readonly string[],
  lines: CopyLines,
): Promise<number> {
  const source = lines[Symbol.iterator]();
  const first = source.next();
  const isBinary = first.done !== true && isBinaryRow(first.value);
  const sink = client.query(copyFrom(copyStatement(table, columns, isBinary)));
  function* all(): Generator<string> {
    for (let next = first; next.done !== true; next = source.next()) yield next.value;
  }
  await pipeline(Readable.from(chunksOf(all(), isBinary), { objectMode: true, highWaterMark: 2 }), sink);
  return sink.rowCount;
}

function* chunksOf(lines: CopyLines, isBinary: boolean): Generator<Buffer> {
  let chunk: string[] = [];
  let characters = 0;
  if (isBinary) yield Buffer.from(BINARY_HEADER, 'latin1');
  for (const line of lines) {
    chunk.push(line);
    characters += line.length + 1;
    if (characters < CHUNK_CHARACTERS) continue;
    yield encodeRows(chunk, isBinary);
    chunk = [];
    characters = 0;
  }
  if (chunk.length > 0) yield encodeRows(chunk, isBinary);
  if (isBinary) yield Buffer.from(BINARY_TRAILER, 'latin1');
}

export function copyStatement(table: string, columns: readonly string[], isBinary: boolean): string {
  const format = isBinary ? ' (FORMAT binary)' : '';
  return `COPY ${table.split('.').map(escapeIdentifier).join('.')} (${columns.map(escapeIdentifier).join(', ')}) FROM STDIN${format}`;
}

/** One join makes a flat string; appending makes a tree to be flattened. */
export function encodeRows(rows: readonly string[], isBinary: boolean): Buffer {
  return isBinary ? Buffer.from(rows.join(''), 'latin1') : Buffer.from(`${rows.join('\n')}\n`);
}

/** Binary. To stop early, cut the connection (`until`): the server sends the rest. */
export async function* copyOut(client: PoolClient, query: string | Sql): AsyncGenerator<Buffer> {
  const { text } = statementOf(sql`COPY (${asSql(query)}) TO STDOUT (FORMAT binary)`);
  yield* client.query(copyTo(text));
}
