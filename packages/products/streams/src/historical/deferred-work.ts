import type { Logger } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { type Claim, isClaimed, SETTLED } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import { DELIVERIES_CHANNEL } from '../delivery/deliveries-channel.ts';
import type { WorkBudget } from '../matching/work-budget.ts';
import { DEFERRED_MATCH_WORK, DUE_DEFERRED_MATCHES } from '../records/deferred-matches.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from '../records/stream-row.ts';
import { holdStreamsVersion } from '../records/streams-version.ts';
import { recordMatches } from '../watching/record-matches.ts';
import { createPastMatcher, readPastBlocks } from './match-past-blocks.ts';
import { type PastChain, readFollowedHeight, requireCanonical } from './past-chain.ts';

export interface DeferredMatchesOptions {
  readonly database: Database;
  readonly chains: readonly PastChain[];
  readonly logger: Logger;
  readonly budget?: WorkBudget;
}

interface Deferred {
  readonly key: string;
  readonly blockNumber: number;
  readonly streams: readonly string[];
}

const RETRY_SECONDS = 10;

/** Matches and the streams left share a transaction. Each turn matches what one block has room for. */
export function addDeferredMatches(dueWork: Pick<DueWork, 'add'>, options: DeferredMatchesOptions): void {
  for (const past of options.chains)
    dueWork.add<Deferred>({
      name: DEFERRED_MATCH_WORK,
      chain: past.chain,
      table: DUE_DEFERRED_MATCHES,
      returning: sql`work.key, work.block_number, work.streams`,
      concurrency: 1,
      risk: { kind: 'deferred-match', keyOf: ({ key, blockNumber }) => `${past.chain.key} ${blockNumber} ${key}` },
      async perform(claims, signal) {
        for (const claim of claims) await matchDeferred(options, past, claim, signal);
      },
      retrySeconds: () => RETRY_SECONDS,
    });
}

async function matchDeferred(
  { database, logger, budget }: DeferredMatchesOptions,
  past: PastChain,
  claim: Claim<Deferred>,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = past;
  const { blockNumber, streams: ids } = claim.row;
  const rows = await database.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams WHERE id = ANY (${ids}::uuid[]) AND deleted_at IS NULL`,
  );
  const streams = rows.map(streamOf);
  const matcher = createPastMatcher(
    { ...past, logger },
    { streams, addresses: null, ...(budget && { budget: { ...budget, admitsOne: true } }) },
  );
  const range = { from: blockNumber, to: blockNumber };
  const blocks = streams.length === 0 ? [] : await readPastBlocks(matcher, chain, range, signal);
  const { matches, deferred } = await matcher.match(database, blocks);
  const left = deferred.flatMap((of) => of.streams.map(({ id }) => id));
  await database.transaction(async (transaction) => {
    await readFollowedHeight(transaction, past, 'hold');
    await holdStreamsVersion(transaction);
    if (blocks.length > 0) await requireCanonical(transaction, chain, blocks);
    // Not if a reorg has removed the block, or another process has claimed it.
    if (!(await settle(transaction, claim, left))) return;
    // As the follower does: its next block confirms them.
    if ((await recordMatches(transaction, chain, matches)) > 0) transaction.notify(DELIVERIES_CHANNEL);
  });
}

/** Streams that are left have their turn after other keys. @returns true if the block was still claimed */
async function settle(
  transaction: Transaction,
  claim: Claim<Deferred>,
  left: readonly string[],
): Promise<boolean> {
  const held = isClaimed(DUE_DEFERRED_MATCHES, claim);
  const rows = await transaction.query(
    left.length === 0
      ? sql`DELETE FROM deferred_matches WHERE ${held} RETURNING 1 AS one`
      : sql`UPDATE deferred_matches SET ${SETTLED}, streams = ${left}::uuid[], due_at = now() WHERE ${held} RETURNING 1 AS one`,
  );
  return rows.length === 1;
}
