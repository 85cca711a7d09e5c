import type { Logger } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { type Claim, isClaimed, SETTLED } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import { DELIVERIES_CHANNEL } from '../delivery/deliveries-channel.ts';
import { type CompiledStream, compileStream } from '../matching/compile-stream.ts';
import { BLOCK_BUDGET, type WorkBudget } from '../matching/work-budget.ts';
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
/** Compiling their filters takes about 0.2 s. */
const STREAMS_PER_TURN = 100;
/** Each is a transaction, during which the chain waits. */
const ROUNDS_PER_TURN = 8;

/** Matches share a transaction with the list of streams that remain. */
export function addDeferredMatches(dueWork: Pick<DueWork, 'add'>, options: DeferredMatchesOptions): void {
  for (const past of options.chains)
    dueWork.add<Deferred>({
      name: DEFERRED_MATCH_WORK,
      chain: past.chain,
      table: DUE_DEFERRED_MATCHES,
      returning: sql`work.key, work.block_number, work.streams`,
      concurrency: 1,
      risk: {
        kind: 'deferred-match',
        keyOf: ({ key, blockNumber }) => `${past.chain.key} ${blockNumber} ${key}`,
      },
      async perform(claims, signal) {
        for (const claim of claims) await matchDeferred(options, past, claim, signal);
      },
      retrySeconds: () => RETRY_SECONDS,
    });
}

async function matchDeferred(
  { database, logger, budget = BLOCK_BUDGET }: DeferredMatchesOptions,
  past: PastChain,
  claim: Claim<Deferred>,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = past;
  const { blockNumber, streams: ids } = claim.row;
  const later = ids.slice(STREAMS_PER_TURN);
  const rows = await database.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams
     WHERE id = ANY (${ids.slice(0, STREAMS_PER_TURN)}::uuid[]) AND deleted_at IS NULL ORDER BY id`,
  );
  let streams = rows.map((row) => compileStream(streamOf(row)));
  const range = { from: blockNumber, to: blockNumber };
  const matcherOf = (some: readonly CompiledStream[]) =>
    createPastMatcher(
      { ...past, logger },
      { streams: some, addresses: null, budget: { ...budget, admitsOne: true } },
    );
  const blocks = streams.length === 0 ? [] : await readPastBlocks(matcherOf(streams), chain, range, signal);
  for (let round = 1; ; round++) {
    const { matches, deferred } = await matcherOf(streams).match(database, blocks);
    streams = deferred.flatMap((of) => of.streams);
    const isOver = streams.length === 0 || round === ROUNDS_PER_TURN || signal.aborted;
    const left = [...streams.map(({ id }) => id), ...later];
    const isHeld = await database.transaction(async (transaction) => {
      await readFollowedHeight(transaction, past, 'hold');
      await holdStreamsVersion(transaction);
      if (blocks.length > 0) await requireCanonical(transaction, chain, blocks);
      // Not if a reorg has removed the block, or another process has claimed it.
      if (!(await keepLeft(transaction, claim, left, isOver))) return false;
      // As the follower does: its next block confirms them.
      if ((await recordMatches(transaction, chain, matches)) > 0) transaction.notify(DELIVERIES_CHANNEL);
      return true;
    });
    if (isOver || !isHeld) return;
  }
}

/** The rest has its turn after other keys. @returns true if the block was still claimed */
async function keepLeft(
  transaction: Transaction,
  claim: Claim<Deferred>,
  left: readonly string[],
  isOver: boolean,
): Promise<boolean> {
  const isHeld = isClaimed(DUE_DEFERRED_MATCHES, claim);
  const settled = isOver ? sql`, ${SETTLED}, due_at = now()` : sql``;
  const rows = await transaction.query(
    left.length === 0
      ? sql`DELETE FROM deferred_matches WHERE ${isHeld} RETURNING 1 AS one`
      : sql`UPDATE deferred_matches SET streams = ${left}::uuid[]${settled} WHERE ${isHeld} RETURNING 1 AS one`,
  );
  return rows.length === 1;
}
