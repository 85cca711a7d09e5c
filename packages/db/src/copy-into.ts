import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { escapeIdentifier, type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { CopyLines } from './database.ts';

/** Large enough that per-message cost vanishes, small enough that a slow server holds the producer back. */
const CHUNK_CHARACTERS = 64 * 1024;

/**
 * `COPY table (columns) FROM STDIN` in text format; lines are pulled only as fast as the server takes them.
 * An error, of the lines' producer or of the server, leaves the transaction aborted and the connection usable.
 * @returns how many rows were copied
 */
export async function copyInto(
  client: PoolClient,
  table: string,
  columns: readonly string[],
  lines: CopyLines,
): Promise<number> {
  const columnList = columns.map(escapeIdentifier).join(', ');
  const sink = client.query(copyFrom(`COPY ${escapeIdentifier(table)} (${columnList}) FROM STDIN`));
  await pipeline(Readable.from(chunksOf(lines), { objectMode: true, highWaterMark: 2 }), sink);
  return sink.rowCount;
}

function* chunksOf(lines: CopyLines): Generator<Buffer> {
  let chunk: string[] = [];
  let characters = 0;
  for (const line of lines) {
    chunk.push(line);
    characters += line.length + 1;
    if (characters < CHUNK_CHARACTERS) continue;
    yield toBuffer(chunk);
    chunk = [];
    characters = 0;
  }
  if (chunk.length > 0) yield toBuffer(chunk);
}

/** One join makes one flat text; growing a text line by line makes a tree that has to be flattened. */
function toBuffer(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\n')}\n`);
}
