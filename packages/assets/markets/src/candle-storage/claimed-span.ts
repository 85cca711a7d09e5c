import { randomUUID } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import { type Database, type Sql, sql, type Transaction } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { PoolId } from '../events/pool-event.ts';
import { copyCandles, type PoolCandle } from '../pool-candles/candle-record.ts';
import { markHoursStale } from '../pool-candles/stale-hours.ts';
import type { StoredSpan } from '../pool-candles/stored-span.ts';

export interface SpanToStore extends StoredSpan {
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly pricesFromBlock: number;
  readonly settings: string;
}

/** A claim that was not finished in this time is taken over. */
const CLAIM_SECONDS = 600;

/** Reads need no lock: later changes mark the span. Null: stored, claimed or not allowed now. */
export async function claimSpan(
  database: Database,
  chain: Chain,
  span: SpanToStore,
  isAllowed: (transaction: Transaction) => Promise<boolean> = async () => true,
): Promise<string | null> {
  const claim = randomUUID();
  return database.transaction(async (transaction) => {
    // No commit is under way that does not see the claim.
    await lockChainCommits(transaction, chain);
    if (!(await isAllowed(transaction))) return null;
    const claimed = await transaction.query(
      sql`INSERT INTO candle_spans AS span (chain_id, hours, start, first_block, last_block, prices_from_block, settings, claim)
       VALUES (${chain.id}, ${span.hours}, ${span.start}, ${span.firstBlock}, ${span.lastBlock},
         ${span.pricesFromBlock}, ${span.settings}, ${claim})
       ON CONFLICT (chain_id, hours, start) DO UPDATE SET first_block = excluded.first_block, last_block = excluded.last_block,
         prices_from_block = excluded.prices_from_block, settings = excluded.settings, claim = excluded.claim, claimed_at = now(), is_stored = false,
         price_changes = 0
       WHERE span.settings <> excluded.settings OR span.is_stored AND span.price_changes <> 0
         OR NOT span.is_stored AND span.claimed_at < now() - make_interval(secs => ${CLAIM_SECONDS})
       RETURNING claim`,
    );
    if (claimed.length === 0) return null;
    await transaction.query(sql`DELETE FROM stale_candles WHERE ${isOfSpan(chain, span)}`);
    return claim;
  });
}

export interface ClaimedCandles {
  readonly span: StoredSpan;
  readonly claim: string;
  readonly candles: Iterable<PoolCandle>;
  readonly keepsTraders: boolean;
  readonly uncertain: readonly PoolId[];
}

export function storeClaimed(
  database: Database,
  chain: Chain,
  { span, claim, candles, keepsTraders, uncertain }: ClaimedCandles,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const own = await transaction.query(
      sql`UPDATE candle_spans SET is_stored = true WHERE ${isOfSpan(chain, span)} AND claim = ${claim} AND NOT is_stored RETURNING start`,
    );
    if (own.length === 0) return false;
    await transaction.query(sql`DELETE FROM pool_candles WHERE ${isOfSpan(chain, span)}`);
    await copyCandles(transaction, chain, span, candles, keepsTraders);
    const hours = uncertain.map((pool) => ({ pool, start: span.start }));
    await markHoursStale(transaction, chain, hours);
    return true;
  });
}

function isOfSpan({ id }: Chain, { hours, start }: StoredSpan): Sql {
  return sql`chain_id = ${id} AND hours = ${hours} AND start = ${start}`;
}
