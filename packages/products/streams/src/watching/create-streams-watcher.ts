import type { Chain } from '@chainstead/chains';
import { counter, defineMetrics, type Registry } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { type BlockWatcher, type WatchedBlock, type WatchNeeds, WatchNeedsChangedError } from '@chainstead/sync';
import { DELIVERIES_CHANNEL, type MatchKey } from '../delivery/outbox.ts';
import type { WorkBudget } from '../matching/work-budget.ts';
import { forgetDeferred, recordDeferred } from '../records/deferred-matches.ts';
import { holdStreamsVersion } from '../records/stream-addresses.ts';
import { matchBlocks, type PreparedBlocks, prepareBlocks } from './match-blocks.ts';
import { addDeliveries, MATCH_KEY_COLUMNS, recordMatches } from './record-matches.ts';
import { createWatchedStreams } from './watched-streams.ts';

export const createMatchMetrics = defineMetrics('chainstead', {
  streamMatches: counter('Number of block matches, counted once per block and stream', ['chain']),
  streamDeferrals: counter('Number of blocks and streams whose matching exceeded the work per block and key', [
    'chain',
  ]),
});

/** In the block's transaction, with the configuration committed before, by the version lock. */
export function createStreamsWatcher({
  database,
  metrics,
  budget,
}: {
  database: Database;
  metrics?: Registry;
  /** @default BLOCK_BUDGET */
  budget?: WorkBudget;
}): BlockWatcher {
  const watched = createWatchedStreams(database, budget);
  const counts = metrics && createMatchMetrics(metrics);
  const prepared = new WeakMap<readonly WatchedBlock[], PreparedBlocks>();
  const matchable = (blocks: readonly WatchedBlock[], unmatched?: ReadonlySet<number>) =>
    blocks.filter(({ header }) => unmatched?.has(header.number) !== true);
  return {
    needs: (chain) => watched.needs(chain),
    async prepare(chain, blocks, unmatched) {
      const streams = watched.known(chain);
      if (streams === null || streams.index.byId.size === 0) return;
      prepared.set(blocks, await prepareBlocks(database, chain, streams, matchable(blocks, unmatched)));
    },
    async committed(transaction, chain, blocks, unmatched) {
      const streams = await watched.at(transaction, chain);
      requireWhole(chain, streams.needs, blocks);
      if (streams.index.byId.size > 0) await recordUnread(transaction, chain, blocks);
      const { matches, deferred } = await matchBlocks(
        transaction,
        chain,
        streams,
        matchable(blocks, unmatched),
        prepared.get(blocks),
      );
      // Invariant: STREAM-OUTBOX
      const made = await recordMatches(transaction, chain, matches);
      // Invariant: STREAM-DEFERRED
      await recordDeferred(transaction, chain, deferred);
      counts?.streamMatches.inc({ chain: chain.key }, matches.length);
      for (const { streams: late } of deferred) counts?.streamDeferrals.inc({ chain: chain.key }, late.length);
      const height = blocks.at(-1)?.header.number ?? 0;
      const confirmed = await confirmMatches(transaction, chain, height - chain.confirmations);
      if (made + confirmed > 0) transaction.notify(DELIVERIES_CHANNEL);
    },
    async rolledBack(transaction, chain, ancestor) {
      // Taken first, like in every change of streams, to avoid deadlocks.
      await holdStreamsVersion(transaction);
      await forgetUnread(transaction, chain, ancestor);
      await forgetDeferred(transaction, chain, ancestor);
      if ((await removeMatches(transaction, chain, ancestor)) > 0) transaction.notify(DELIVERIES_CHANNEL);
    },
  };
}

function requireWhole(chain: Chain, needs: WatchNeeds, blocks: readonly WatchedBlock[]): void {
  for (const { header, block, internalTransfers } of blocks) {
    const facts = { chain: chain.key, block: header.number };
    if (needs.transactions && block.transactions === null)
      throw new WatchNeedsChangedError({ ...facts, lacks: 'transactions' });
    if (needs.internalTransfers && internalTransfers === null)
      throw new WatchNeedsChangedError({ ...facts, lacks: 'internal transfers' });
  }
}

/** Skips deleted streams. @returns how many webhooks became due */
async function confirmMatches(transaction: Transaction, chain: Chain, height: number): Promise<number> {
  const rows = await transaction.query<MatchKey & { live: boolean }>(
    sql`UPDATE stream_matches m SET confirmed = true FROM streams s
     WHERE m.chain_id = ${chain.id} AND m.block_number <= ${height} AND NOT m.confirmed AND m.removed_at IS NULL AND s.id = m.stream_id
     RETURNING ${MATCH_KEY_COLUMNS}, s.deleted_at IS NULL AS live`,
  );
  return addDeliveries(
    transaction,
    'confirmed',
    rows.filter(({ live }) => live),
  );
}

/** Drops pending webhooks. A notice is due if the receiver may have seen the match. */
async function removeMatches(transaction: Transaction, chain: Chain, ancestor: number): Promise<number> {
  const removed = await transaction.query(
    sql`UPDATE stream_matches SET removed_at = now(), confirmed = false
     WHERE chain_id = ${chain.id} AND block_number > ${ancestor} AND removed_at IS NULL RETURNING 1 AS one`,
  );
  if (removed.length === 0) return 0;
  // A sent webhook has a stored body; a replay of the block clears it, so deliveries count too.
  const reported = await transaction.query<MatchKey>(
    sql`SELECT ${MATCH_KEY_COLUMNS}
     FROM stream_matches m JOIN streams s ON s.id = m.stream_id
     WHERE m.chain_id = ${chain.id} AND m.block_number > ${ancestor} AND m.removed_at = now()
       AND s.send_removed AND s.deleted_at IS NULL AND (m.body IS NOT NULL OR EXISTS (
         SELECT FROM stream_deliveries d WHERE d.chain_id = m.chain_id AND d.block_number = m.block_number
           AND d.stream_id = m.stream_id AND d.block_hash = m.block_hash AND d.kind IN ('unconfirmed', 'confirmed')
           AND d.delivered_at IS NOT NULL))`,
  );
  await transaction.query(
    sql`WITH waiting AS (
       SELECT id FROM stream_deliveries
       WHERE chain_id = ${chain.id} AND block_number > ${ancestor} AND kind IN ('unconfirmed', 'confirmed') AND status = 'pending'
       ORDER BY id FOR UPDATE
     )
     UPDATE stream_deliveries d SET resend = NULL,
       status = CASE WHEN d.delivered_at IS NULL THEN 'dropped' ELSE 'delivered' END
     FROM waiting WHERE d.id = waiting.id`,
  );
  // Invariant: STREAM-REMOVED
  return addDeliveries(transaction, 'removed', reported);
}

/** Unreadable blocks match no stream, and are shown as quarantined work. */

async function recordUnread(
  transaction: Transaction,
  chain: Chain,
  blocks: readonly WatchedBlock[],
): Promise<void> {
  const unread = blocks.flatMap(({ header, parts }) => {
    const logs = parts?.logs;
    return logs?.level === 'unavailable'
      ? [{ name: `block ${chain.key} ${header.number} streams unread`, reason: logs.reason }]
      : [];
  });
  if (unread.length === 0) return;
  await transaction.query(
    sql`INSERT INTO quarantined_work (name, crashes, reason) SELECT name, 0, reason FROM unnest(${unread.map(({ name }) => name)}::text[], ${unread.map(({ reason }) => reason)}::text[]) AS unread (name, reason)
     ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, crashed_at = now()`,
  );
}

async function forgetUnread(transaction: Transaction, chain: Chain, ancestor: number): Promise<void> {
  await transaction.query(
    sql`DELETE FROM quarantined_work WHERE reason IS NOT NULL AND starts_with(name, ${`block ${chain.key} `}) AND split_part(name, ' ', 3)::bigint > ${ancestor}`,
  );
}
