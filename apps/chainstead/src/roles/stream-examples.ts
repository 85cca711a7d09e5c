import { type Database, sql } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';

/**
 * Parameters of the routes that read a stream, for the API's documentation: the id of one, which opens nothing without a key.
 * Routes that change streams or send webhooks get none: a click in the documentation would do it.
 */
export async function readStreamExamples(database: Database): Promise<DocumentExamples> {
  const [stream] = await database.query<{ id: string }>(
    sql`SELECT id FROM streams WHERE deleted_at IS NULL ORDER BY created_at, id LIMIT 1`,
  );
  if (stream === undefined) return {};
  const { id } = stream;
  return { GetStream: { id }, GetAddresses: { id }, GetStatsByStreamId: { streamId: id } };
}
