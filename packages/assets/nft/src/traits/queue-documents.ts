import type { Chain } from '@chainstead/chains';
import { addressBytes, expectedTrue, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { dueChannel } from '@chainstead/jobs';
import { TOKEN_METADATA } from '../collections/token-rows.ts';
import type { TraitsAtWork, TraitsStep } from './traits-at-work.ts';

export const IDS_PER_PIECE = 1_000;
/** Attempts until a document counts as permanently failed. */
const DOCUMENT_TRIES = 4;
const NODE_TRIES = 9;
/** Seconds: a later retry means a permanent failure (retry-delay.ts). */
const HOPELESS_SECONDS = 22_000;

/** For no key. Failed documents get one more attempt. @param room maximum number to queue */
export async function queueDocuments(
  transaction: Transaction,
  chain: Chain,
  at: TraitsAtWork,
  room: number,
): Promise<{ readonly step: TraitsStep; readonly queued: number }> {
  const [row] = await transaction.query<{ last: string | null; seen: number; taken: number; queued: number }>(
    queueStatement(chain, at, room),
  );
  if (row === undefined) throw new Error('The statement gives one row');
  if (row.queued > 0) transaction.notify(dueChannel(TOKEN_METADATA, chain.id));
  const isDone = row.seen < IDS_PER_PIECE && row.taken === row.seen;
  return {
    step: isDone ? { work: 'settle', after: null } : { work: 'queue', after: row.last ?? at.after },
    queued: row.queued,
  };
}

/** One range of the ids' key, and one lookup per id (traits-statements.explain.test.ts). */
export function queueStatement(chain: Chain, at: TraitsAtWork, room: number): Sql {
  const of = { contract: sql`${addressBytes(at.contract)}`, chainId: sql`${chain.id}` };
  return sql`WITH seen AS (
  SELECT ids.token_id, known.token_id IS NULL OR known.status = 'failed' OR known.status <> 'pending' AND coalesce(known.synced_at < ${at.readAfter}, false) AS is_wanted
  FROM ${nextIds(of, at.after)} LEFT JOIN LATERAL (${documentOf(of)}) AS known ON true
), taken AS (
  SELECT token_id, is_wanted FROM (SELECT token_id, is_wanted, sum(is_wanted::int) OVER (ORDER BY token_id) AS wanted FROM seen) AS summed
  WHERE wanted <= ${room}::int
), queued AS (
  INSERT INTO nft_token_metadata AS known (token_address, chain_id, token_id, status, due_at)
  SELECT ${of.contract}, ${of.chainId}, token_id, 'pending', now() FROM taken WHERE is_wanted ORDER BY token_id
  ON CONFLICT (token_address, chain_id, token_id) DO UPDATE SET due_at = excluded.due_at, attempts = 0,
    status = CASE WHEN known.status = 'failed' THEN 'pending' ELSE known.status END
  RETURNING 1
)
SELECT (SELECT max(token_id)::text FROM taken) AS last, (SELECT count(*) FROM seen)::int AS seen, (SELECT count(*) FROM taken)::int AS taken,
  (SELECT count(*) FROM queued)::int AS queued`;
}

export async function settleDocuments(
  transaction: Transaction,
  chain: Chain,
  at: TraitsAtWork,
): Promise<{ readonly step: TraitsStep; readonly isStuck: boolean }> {
  const [row] = await transaction.query<{ last: string | null; seen: number; settled: number }>(
    settleStatement(chain, at),
  );
  if (row === undefined) throw new Error('The statement gives one row');
  const isStuck = row.settled < row.seen;
  const isDone = !isStuck && row.seen < IDS_PER_PIECE;
  return {
    step: isDone ? { work: 'compute', after: null } : { work: at.work, after: row.last ?? at.after },
    isStuck,
  };
}

export function settleStatement(chain: Chain, at: TraitsAtWork): Sql {
  // One dead document must not block the others: the first figures wait for one attempt each.
  const isSettled = sql`CASE known.status
    WHEN 'failed' THEN ${at.work === 'improve' ? FAILED_FOR_GOOD : rawSql('true')}
    WHEN 'pending' THEN false
    ELSE coalesce(known.synced_at >= ${at.readAfter}, true) END`;
  const of = { contract: sql`${addressBytes(at.contract)}`, chainId: sql`${chain.id}` };
  return sql`WITH seen AS (
  SELECT ids.token_id, known.token_id IS NULL OR ${isSettled} AS is_settled
  FROM ${nextIds(of, at.after)} LEFT JOIN LATERAL (${documentOf(of)}) AS known ON true
), settled AS (
  SELECT token_id FROM (SELECT token_id, bool_and(is_settled) OVER (ORDER BY token_id) AS so_far FROM seen) AS looked WHERE so_far
)
SELECT (SELECT max(token_id)::text FROM settled) AS last, (SELECT count(*) FROM seen)::int AS seen, (SELECT count(*) FROM settled)::int AS settled`;
}

type CollectionKey = Readonly<Record<'contract' | 'chainId', Sql>>;

export function nextIds({ contract, chainId }: CollectionKey, after: string): Sql {
  return sql`(
    SELECT token_id, token_hash FROM nft_collection_ids
    WHERE token_address = ${contract} AND chain_id = ${chainId} AND token_id > ${after}::numeric AND ${expectedTrue(sql`is_held`)} ORDER BY token_id LIMIT ${rawSql(IDS_PER_PIECE)}
  ) AS ids`;
}

function documentOf({ contract, chainId }: CollectionKey): Sql {
  return sql`SELECT * FROM nft_token_metadata AS own
    WHERE own.token_address = ${contract} AND own.chain_id = ${chainId} AND own.token_id = ids.token_id LIMIT 1`;
}

/** No retry is expected soon (alias `known`). */
export const FAILED_FOR_GOOD = sql`(coalesce(known.due_at, known.lease_until) IS NULL OR known.due_at > now() + interval '1 second' * ${rawSql(HOPELESS_SECONDS)}
      OR known.attempts >= CASE WHEN known.token_uri IS NULL THEN ${rawSql(NODE_TRIES)} ELSE ${rawSql(DOCUMENT_TRIES)} END)`;
