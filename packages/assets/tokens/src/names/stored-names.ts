import { type Database, sql } from '@chainstead/db';
import type { NameAnswer, NameQuestion } from './name-question.ts';

export type StoredName = NameAnswer & { readonly ageMs: number };

const FORGOTTEN_AT_ONCE = 10;

/** Null: not read within a day. */
export async function readStoredName(
  database: Database,
  { service, wanted, subject }: NameQuestion,
): Promise<StoredName | null> {
  const [stored] = await database.query<StoredName>(
    sql`SELECT answer, off_chain, CASE WHEN block_number IS NOT NULL THEN json_build_object('chainId', chain_id, 'block', block_number) END AS "asOf",
       (extract(epoch FROM clock_timestamp() - read_at) * 1000)::float8 AS "ageMs"
     FROM resolved_names WHERE service = ${service} AND wanted = ${wanted} AND subject = ${subject} AND read_at > now() - interval '1 day'`,
  );
  return stored ?? null;
}

/** Also deletes some that were read over a day ago. */
export async function saveName(
  database: Database,
  { service, wanted, subject }: NameQuestion,
  { answer, offChain, asOf }: NameAnswer,
): Promise<void> {
  await database.query(
    sql`INSERT INTO resolved_names (service, wanted, subject, answer, off_chain, chain_id, block_number, read_at)
     VALUES (${service}, ${wanted}, ${subject}, ${answer}, ${offChain}, ${asOf?.chainId ?? null}, ${asOf?.block ?? null}, clock_timestamp())
     ON CONFLICT (service, wanted, subject) DO UPDATE SET answer = excluded.answer, off_chain = excluded.off_chain, chain_id = excluded.chain_id,
       block_number = excluded.block_number, read_at = excluded.read_at`,
  );
  await database.query(
    sql`DELETE FROM resolved_names WHERE (service, wanted, subject) IN (
       SELECT service, wanted, subject FROM resolved_names WHERE read_at < now() - interval '1 day'
       ORDER BY read_at LIMIT ${FORGOTTEN_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
  );
}
