import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { WatchedBlock, WatchNeeds } from '@chainstead/sync';
import { type CompiledStream, compileStream } from '../matching/compile-stream.ts';
import type { WorkBudget } from '../matching/work-budget.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from '../records/stream-row.ts';
import type { BlockMatch, BlocksToMatch } from '../watching/match-blocks.ts';
import { createPastMatcher, type PastMatcher, readPastBlock } from './match-past-blocks.ts';
import type { PastChain } from './past-chain.ts';

export interface DeferredBlock {
  readonly key: string;
  readonly blockNumber: number;
  readonly streams: readonly string[];
}

export interface DeferredRoundsOptions {
  readonly database: Database;
  readonly past: PastChain;
  readonly logger: Logger;
  readonly budget: WorkBudget;
}

/** Compiled filters take many times the memory of their configurations. */
const STREAMS_TOGETHER = 16;

/** Reads the block once for all of its streams, and compiles each stream when its round comes. */
export function createDeferredRounds(
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
