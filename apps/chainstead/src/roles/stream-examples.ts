import { type Database, sql } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';

/** No examples for routes that change streams or send webhooks: a click would do it. */
export async function readStreamExamples(database: Database): Promise<DocumentExamples> {
  const [stream] = await database.query<{ id: string }>(
    sql`SELECT id FROM streams WHERE deleted_at IS NULL ORDER BY created_at, id LIMIT 1`,
  );
  if (stream === undefined) return {};
  const { id } = stream;
  return { GetStream: { id }, GetAddresses: { id }, GetStatsByStreamId: { streamId: id } };
}
