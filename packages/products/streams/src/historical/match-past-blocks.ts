import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange, Logger } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { ReorgedWhileReadingError, type WatchedBlock } from '@chainstead/sync';
import { readWatchedBlock } from '@chainstead/sync/ingest';
import { createReadNames } from '../contracts/read-names.ts';
import { DELIVERIES_CHANNEL, type DeliveryKind, type MatchKey } from '../delivery/outbox.ts';
import { deliveryId } from '../delivery-id.ts';
import { ANY_ADDRESS } from '../matching/block-sightings.ts';
import type { CompiledStream } from '../matching/compile-stream.ts';
import { indexStreams } from '../matching/stream-index.ts';
import { BLOCK_BUDGET, type WorkBudget } from '../matching/work-budget.ts';
import {
  type BlocksToMatch,
  type MatchedBlocks,
  matchSightings,
  readBlocksToMatch,
  type StreamMatcher,
} from '../watching/match-blocks.ts';
import { addDeliveries, type MatchToRecord, writeMatches } from '../watching/record-matches.ts';
import type { PastChain } from './past-chain.ts';

/** `addresses` replace those of the streams; null: those of the streams. */
interface PastStreams {
  readonly streams: readonly CompiledStream[];
  readonly addresses: readonly Address[] | null;
  /** @default one stream always has room, so that work makes progress */
  readonly budget?: WorkBudget;
}

export type PastMatcher = ReturnType<typeof createPastMatcher>;

export function createPastMatcher(
  past: PastChain & { readonly logger: Logger },
  { streams, addresses, budget = { ...BLOCK_BUDGET, admitsOne: true } }: PastStreams,
) {
  const { chain } = past;
  const index = indexStreams(streams, chain.id);
  const matcher: StreamMatcher = {
    version: 0,
    index,
    budget,
    needs: { ...index.needs, internalTransfers: index.needs.internalTransfers && chain.internalTransactions },
    mayWatch: ANY_ADDRESS,
    readNames: createReadNames('complete'),
  };
  const ids = streams.map(({ id }) => id);
  const watched = addresses === null ? undefined : new Map(addresses.map((address) => [address, ids]));
  const readMatchable = (reader: Pick<Database, 'query'>, blocks: readonly WatchedBlock[]) =>
    readBlocksToMatch(reader, chain, matcher, blocks, watched);
  return {
    needs: matcher.needs,
    /** Null: no node has it. @throws UnprovenBlockError, UpstreamsExhaustedError */
    read: (number: number, signal?: AbortSignal): Promise<WatchedBlock | null> =>
      readWatchedBlock(past, number, matcher.needs, signal),
    /** Outside of a transaction: it may take seconds. */
    match: async (reader: Pick<Database, 'query'>, blocks: readonly WatchedBlock[]): Promise<MatchedBlocks> =>
      matchSightings(matcher, await readMatchable(reader, blocks)),
    readMatchable,
    /** For rounds: some of the streams. */
    matchSome: (some: readonly CompiledStream[], read: Omit<BlocksToMatch, 'deferred'>): Promise<MatchedBlocks> =>
      matchSightings({ index: indexStreams(some, chain.id), budget }, { ...read, deferred: new Set() }),
  };
}

const READS_IN_FLIGHT = 8;
/** Length of logs and transactions in flight. They take several times as much memory. */
const LENGTH_IN_FLIGHT = 16_777_216;

/** In groups, so that long blocks are not held together. */
export async function* readPastBlocks(
  matcher: PastMatcher,
  chain: Chain,
  range: BlockRange,
  signal: AbortSignal,
): AsyncGenerator<WatchedBlock[]> {
  let count = 1;
  for (let from = range.from; from <= range.to; ) {
    const numbers = Array.from({ length: Math.min(count, range.to - from + 1) }, (_, index) => from + index);
    const blocks = await Promise.all(numbers.map((number) => readPastBlock(matcher, chain, number, signal)));
    const longest = Math.max(1, ...blocks.map(lengthOf));
    count = Math.min(READS_IN_FLIGHT, Math.max(1, Math.floor(LENGTH_IN_FLIGHT / longest)));
    from += blocks.length;
    yield blocks;
  }
}

export async function readPastBlock(
  matcher: PastMatcher,
  chain: Chain,
  number: number,
  signal: AbortSignal,
): Promise<WatchedBlock> {
  const block = await matcher.read(number, signal);
  if (block !== null) return block;
  throw new ReorgedWhileReadingError({ chain: chain.key, what: `block ${number} is not available` });
}

/** Characters of logs and inputs. */
export function lengthOf({ logs, block }: Pick<WatchedBlock, 'logs' | 'block'>): number {
  const ofInputs = (block.transactions ?? []).reduce(
    (sum, { input }) => sum + (typeof input === 'string' ? input.length : 0),
    0,
  );
  return logs.reduce((sum, { data }) => sum + data.length, ofInputs);
}

/**
 * Due even if sent before. Replaces a stored match unless one of its webhooks is pending.
 * @param requestedBy key whose limit of pending webhooks these count against; null: none
 */
export async function recordPastMatches(
  transaction: Transaction,
  chain: Chain,
  kind: Exclude<DeliveryKind, 'removed'>,
  matches: readonly MatchToRecord[],
  requestedBy: string | null = null,
): Promise<void> {
  if (matches.length === 0) return;
  await writeMatches(transaction, chain, matches, async (keys, insert) => {
    await transaction.query(
      sql`${insert}
       ON CONFLICT (chain_id, block_number, stream_id, block_hash) DO UPDATE SET matched = excluded.matched, body = NULL,
         logs = excluded.logs, txs = excluded.txs, txs_internal = excluded.txs_internal, length = excluded.length,
         removed_at = NULL
       WHERE NOT EXISTS (
         SELECT FROM stream_deliveries d WHERE d.chain_id = kept.chain_id AND d.block_number = kept.block_number
           AND d.stream_id = kept.stream_id AND d.block_hash = kept.block_hash AND d.status = 'pending')`,
    );
    if (kind === 'confirmed') await markConfirmed(transaction, keys);
    const ids = keys.map((key) => deliveryId(kind, key));
    await transaction.query(
      sql`UPDATE stream_deliveries SET status = 'pending', due_at = now(), retries = 0, resend = NULL, requested_by = NULL
       WHERE id = ANY (${ids}::uuid[]) AND status <> 'pending'`,
    );
    await addDeliveries(transaction, kind, keys);
    if (requestedBy !== null)
      await transaction.query(
        sql`UPDATE stream_deliveries SET requested_by = ${requestedBy} WHERE id = ANY (${ids}::uuid[])`,
      );
  });
  transaction.notify(DELIVERIES_CHANNEL);
}

async function markConfirmed(transaction: Transaction, keys: readonly MatchKey[]): Promise<void> {
  await transaction.query(
    sql`UPDATE stream_matches m SET confirmed = true
     FROM unnest(${keys.map(({ chainId }) => chainId)}::bigint[], ${keys.map(({ blockNumber }) => blockNumber)}::bigint[], ${keys.map(({ streamId }) => streamId)}::uuid[], ${keys.map(({ blockHash }) => blockHash.slice(2))}::text[]) AS one(chain_id, block_number, stream_id, block_hash)
     WHERE m.chain_id = one.chain_id AND m.block_number = one.block_number AND m.stream_id = one.stream_id
       AND m.block_hash = decode(one.block_hash, 'hex')`,
  );
}
