import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, rawSql, sql, transactionLock } from '@chainstead/db';
import { dueChannel } from '@chainstead/jobs';
import { type Requester, TooManyWaitingError } from '../collections/request-metadata.ts';
import { TRAITS_WORK } from './due-traits.ts';

export type TraitsReason =
  /** There is none, or the existing one misses known ids. */
  | 'missing'
  /** Documents are to be read again. */
  | 'again';

/** `working`: requested before; `resting`: too soon after the last; `unknown`: never requested. */
export type TraitsRequest = 'begun' | 'working' | 'resting' | 'unknown';

/** Seconds between generations that read everything again, or were too large. */
const AGAIN_SECONDS = 1_800;
/** Seconds after a generation that misses ids, or failed. */
const MISSING_SECONDS = 60;

/** A collection counts as one job, however many ids it has. @throws TooManyWaitingError */
export async function requestTraits(
  database: Database,
  chain: Chain,
  { contract, reason }: { readonly contract: Address; readonly reason: TraitsReason },
  requester: Requester,
): Promise<TraitsRequest> {
  const rest = reason === 'again' ? AGAIN_SECONDS : MISSING_SECONDS;
  const [known] = await database.query<{ isWorking: boolean; isResting: boolean }>(
    sql`SELECT work IS NOT NULL AS is_working,
       requested_at > now() - make_interval(secs => CASE WHEN is_too_large THEN ${rawSql(AGAIN_SECONDS)} ELSE ${rest}::int END) AS is_resting
      FROM nft_collection_traits WHERE token_address = ${addressBytes(contract)} AND chain_id = ${chain.id}`,
  );
  if (known === undefined && reason === 'again') return 'unknown';
  if (known?.isWorking === true) return 'working';
  if (known?.isResting === true) return 'resting';
  return database.transaction(async (transaction) => {
    await transactionLock(transaction, `traits:${requester.id}`);
    const [unfinished] = await transaction.query<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM nft_collection_traits WHERE work IS NOT NULL AND requested_by = ${requester.id}`,
    );
    if ((unfinished?.count ?? 0) >= requester.limit) throw new TooManyWaitingError(requester.limit);
    const begun = await transaction.query(
      sql`INSERT INTO nft_collection_traits AS known (token_address, chain_id, work, read_after, requested_by, due_at)
       SELECT ${addressBytes(contract)}, ${chain.id}, 'history', CASE WHEN ${reason === 'again'}::boolean THEN now() END, ${requester.id}, now()
       ON CONFLICT (token_address, chain_id) DO UPDATE SET work = excluded.work, work_after = NULL, work_generation = NULL,
         read_after = excluded.read_after, due_at = excluded.due_at, attempts = 0, requested_at = excluded.requested_at,
         requested_by = excluded.requested_by, asked_at = excluded.asked_at
       WHERE known.work IS NULL RETURNING chain_id`,
    );
    if (begun.length === 0) return 'working';
    transaction.notify(dueChannel(TRAITS_WORK, chain.id));
    return 'begun';
  });
}
