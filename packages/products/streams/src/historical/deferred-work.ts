import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTurns, type Logger, type Turns } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { type Claim, isClaimed, SETTLED } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import type { WatchedBlock, WatchNeeds } from '@chainstead/sync';
import { DELIVERIES_CHANNEL } from '../delivery/outbox.ts';
import { type CompiledStream, compileStream } from '../matching/compile-stream.ts';
import { sizeOf } from '../matching/match.ts';
import { BLOCK_BUDGET, UNITS_PER_ITEM, type WorkBudget } from '../matching/work-budget.ts';
import { DEFERRED_MATCH_WORK, DUE_DEFERRED_MATCHES } from '../records/deferred-matches.ts';
import { holdStreamsVersion } from '../records/stream-addresses.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from '../records/stream-row.ts';
import type { BlockMatch, BlocksToMatch } from '../watching/match-blocks.ts';
import { recordMatches } from '../watching/record-matches.ts';
import { createPastMatcher, type PastMatcher, readPastBlock } from './match-past-blocks.ts';
import { type PastChain, readFollowedHeight, requireCanonical } from './past-chain.ts';

interface DeferredMatchesOptions {
  readonly database: Database;
  readonly chains: readonly PastChain[];
  readonly logger: Logger;
  readonly budget?: WorkBudget;
}

const RETRY_SECONDS = 10;
/** Each has the work of a key per block. Their matches share a transaction, during which the chain waits. */
const ROUNDS_PER_TURN = 8;

/** Matches share a transaction with the list of streams that remain. */
export function addDeferredMatches(dueWork: Pick<DueWork, 'add'>, options: DeferredMatchesOptions): void {
  // Rounds of many chains in parallel would leave little of the event loop to live blocks.
  const turns = createTurns({ atOnce: 1, atOncePerKey: 1, now: () => performance.now() });
  for (const past of options.chains)
    dueWork.add<DeferredBlock>({
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
        for (const claim of claims) await matchDeferred(options, past, turns, claim, signal);
      },
      retrySeconds: () => RETRY_SECONDS,
    });
}

/** Without a pause while no other key waits: the block is read once, and each stream compiled once. */
async function matchDeferred(
  options: DeferredMatchesOptions,
  past: PastChain,
  turns: Turns,
  claim: Claim<DeferredBlock>,
  signal: AbortSignal,
): Promise<void> {
  const { database, budget = BLOCK_BUDGET } = options;
  const { key, streams } = claim.row;
  const rounds = createDeferredRounds({ ...options, budget, past }, claim.row, signal);
  let left = streams;
  for (;;) {
    const matches: BlockMatch[] = [];
    let size = 0;
    for (let round = 1; left.length > 0 && round <= ROUNDS_PER_TURN && !signal.aborted; round++) {
      await rounds.prepare();
      const matched = await turns.run(`${past.chain.key} ${key}`, () => rounds.match(), signal);
      left = matched.left;
      matches.push(...matched.matches);
      size += matched.matches.reduce((sum, { match }) => sum + sizeOf(match), 0);
      if (UNITS_PER_ITEM * size > budget.perKey) break;
    }
    const isOver = left.length === 0 || signal.aborted || (await isOtherKeyDue(database, past, key));
    const turn: Turn = { block: rounds.block(), matches, left, isOver };
    if (!(await recordTurn(database, past, claim, turn)) || isOver) return;
  }
}

async function isOtherKeyDue(database: Database, { chain }: PastChain, key: string): Promise<boolean> {
  const rows = await database.query(
    sql`SELECT 1 AS one FROM deferred_matches
     WHERE chain_id = ${chain.id} AND coalesce(lease_until, due_at) <= now() AND key <> ${key} LIMIT 1`,
  );
  return rows.length > 0;
}

interface Turn {
  readonly block: WatchedBlock | null;
  readonly matches: readonly BlockMatch[];
  readonly left: readonly string[];
  readonly isOver: boolean;
}

/** @returns true if the block was still claimed */
function recordTurn(
  database: Database,
  past: PastChain,
  claim: Claim<DeferredBlock>,
  { block, matches, left, isOver }: Turn,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    await readFollowedHeight(transaction, past, 'hold');
    await holdStreamsVersion(transaction);
    if (block !== null) await requireCanonical(transaction, past.chain, [block]);
    // Not if a reorg has removed the block, or another process has claimed it.
    if (!(await keepLeft(transaction, claim, left, isOver))) return false;
    if (isOver) await letOthersPass(transaction, past, claim.row.key);
    // As the follower does: its next block confirms them.
    if ((await recordMatches(transaction, past.chain, matches)) > 0) transaction.notify(DELIVERIES_CHANNEL);
    return true;
  });
}

async function keepLeft(
  transaction: Transaction,
  claim: Claim<DeferredBlock>,
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

/** The key's next block is due after those of keys that wait. */
async function letOthersPass(transaction: Transaction, { chain }: PastChain, key: string): Promise<void> {
  const isDue = sql`key = ${key} AND chain_id = ${chain.id} AND lease_until IS NULL AND due_at <= now()`;
  await transaction.query(
    sql`UPDATE deferred_matches SET due_at = now()
     WHERE ${isDue} AND block_number = (SELECT min(block_number) FROM deferred_matches WHERE ${isDue})`,
  );
}

interface DeferredBlock {
  readonly key: string;
  readonly blockNumber: number;
  readonly streams: readonly string[];
}

interface DeferredRoundsOptions {
  readonly database: Database;
  readonly past: PastChain;
  readonly logger: Logger;
  readonly budget: WorkBudget;
}

/** Compiled filters take many times the memory of their configurations. */
const STREAMS_TOGETHER = 16;

/** Reads the block once for all of its streams, and compiles each stream when its round comes. */
function createDeferredRounds(
  { database, past, logger, budget }: DeferredRoundsOptions,
  { blockNumber, streams: ids }: DeferredBlock,
  signal: AbortSignal,
) {
  let unread = ids;
  let streams: readonly CompiledStream[] = [];
  /** Streams whose addresses are not read yet. */
  let late: readonly CompiledStream[] = [];
  let block: WatchedBlock | null = null;
  let opened: { readonly matcher: PastMatcher; readonly toMatch: Omit<BlocksToMatch, 'deferred'> } | null = null;

  async function compileNext(): Promise<CompiledStream[]> {
    const next = await compileStreams(database, unread.slice(0, STREAMS_TOGETHER));
    unread = unread.slice(STREAMS_TOGETHER);
    return next;
  }

  return {
    block: () => block,
    async prepare(): Promise<void> {
      if (streams.length > 0) return;
      opened = null;
      streams = late.length > 0 ? late : await compileNext();
      late = [];
      if (streams.length === 0) return;
      const matcher = createPastMatcher(
        { ...past, logger },
        { streams, addresses: null, budget: { ...budget, admitsOne: true } },
      );
      if (block === null || !hasAll(block, matcher.needs))
        block = await readPastBlock(matcher, past.chain, blockNumber, signal);
      const { deferred, ...toMatch } = await matcher.readMatchable(database, [block]);
      late = [...deferred];
      streams = streams.filter((stream) => !deferred.has(stream));
      opened = { matcher, toMatch };
    },
    /** @returns matches, and the ids of streams without a round yet */
    async match(): Promise<{ readonly matches: readonly BlockMatch[]; readonly left: readonly string[] }> {
      if (opened === null) return { matches: [], left: unread };
      const { matches, deferred } = await opened.matcher.matchSome(streams, opened.toMatch);
      streams = deferred.flatMap((of) => of.streams);
      return { matches, left: [...[...streams, ...late].map(({ id }) => id), ...unread] };
    },
  };
}

function hasAll({ block, internalTransfers }: WatchedBlock, needs: WatchNeeds): boolean {
  return (
    (!needs.transactions || block.transactions !== null) &&
    (!needs.internalTransfers || internalTransfers !== null)
  );
}

async function compileStreams(database: Database, ids: readonly string[]): Promise<CompiledStream[]> {
  const rows = await database.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams WHERE id = ANY (${ids}::uuid[]) AND deleted_at IS NULL ORDER BY id`,
  );
  const streams: CompiledStream[] = [];
  for (const row of rows) {
    streams.push(compileStream(streamOf(row)));
    // A filter may have 10,000 values.
    await nextTurn();
  }
  return streams;
}
