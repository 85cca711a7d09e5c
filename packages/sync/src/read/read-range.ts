/** Reads a finalized range for the backfill: filtered logs with facts of their blocks, or whole proven blocks. */
import type { Chain } from '@chainstead/chains';
import { type Address, type BlockHeader, type BlockRange, type Hash, type Log, rangeSize } from '@chainstead/core';
import { RangeTooLargeError, type UpstreamPool } from '@chainstead/rpc';
import type { Dataset } from '../dataset/dataset.ts';
import { deepestPart } from '../dataset/deepest-part.ts';
import type { BlockPart, PartProof } from '../dataset/whole-block.ts';
import { ReorgedWhileReadingError, UnprovenBlockError } from '../errors.ts';
import { crossCheck } from './cross-check.ts';
import type { BatchDecoder, BlockFacts, HeldBatch } from './decoded-batch.ts';
import { holdLargeBlock } from './large-blocks.ts';
import { type LevelledBlock, type RangeLevels, rangeLevels } from './part-levels.ts';
import type { ProvenBlock } from './proven-block.ts';
import { readAhead } from './read-ahead.ts';
import { readWatchedBlock, type WatchedReader } from './read-watched-block.ts';
import { CHARACTERS_PER_LOG, weighBlock } from './weigh.ts';

/** A range that was read. */
export interface RangeRead {
  readonly range: BlockRange;
  /** Every block with logs (fast mode), or every block of the range (proven mode). */
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  readonly levels: RangeLevels;
}

/** A range with decoded logs. */
export interface DecodedRange extends RangeRead {
  readonly batch: HeldBatch;
  /** Number of logs read. */
  readonly logCount: number;
  /** Logs, of which one with much data counts as several. */
  readonly weight: number;
  /** Parts that blocks lack, each with the reason for one block. */
  readonly lacking: ReadonlyMap<BlockPart, Lacking>;
}

type Unavailable = Extract<PartProof, { level: 'unavailable' }>;

/** A part that blocks of a range lack. */
export interface Lacking extends Pick<Unavailable, 'reason' | 'isUnsupported'> {
  readonly block: number;
}

/** Filter of a range's logs. */
export interface LogsWanted {
  /** Alternatives for topic0; empty: any. */
  readonly topics: readonly Hash[];
  /** Emitting contracts; absent: any. */
  readonly addresses?: readonly Address[];
}

/** Returns a filter for all logs that the datasets decode. */
export function logsWanted(chain: Chain, datasets: readonly Dataset[]): LogsWanted {
  // No topic means any.
  const hasAnyTopic = datasets.some((dataset) => dataset.anyTopic?.(chain) === true);
  const topics = hasAnyTopic ? [] : [...new Set(datasets.flatMap((dataset) => dataset.topics(chain)))];
  const emitters = datasets.map((dataset) => dataset.emitters?.(chain) ?? null);
  const addresses = emitters.flatMap((own) => own ?? []);
  // Filtered by contract only if every dataset limits its contracts.
  return emitters.includes(null) || addresses.length === 0
    ? { topics }
    : { topics, addresses: [...new Set(addresses)] };
}

/** Largest logs of a range of several blocks, bytes of responses: a chunk of ordinary logs has a fifth of it. */
const RANGE_BYTES_MAX = 32 * 1024 * 1024;

/** Returns filtered logs of a range. Their level is `none`: nothing proves that the upstream omitted no log. @throws RangeTooLargeError */
export async function readRangeFast(
  pool: UpstreamPool,
  range: BlockRange,
  wanted: LogsWanted,
  signal: AbortSignal,
): Promise<RangeRead & { readonly logs: readonly Log[] }> {
  const answer = await pool.getLogs({ range, ...wanted }, { signal, minBlock: range.to, bytesMax: RANGE_BYTES_MAX });
  const { blocks } = await blocksOfLogs(pool, answer.logs, signal);
  const levels = answer.sources.map((source) => ({
    range: source.range,
    proof: 'none' as const,
    reason: null,
    upstream: source.upstream,
  }));
  return { range, logs: answer.logs, blocks, levels: { logs: levels } };
}

/**
 * Returns the blocks of these logs: from the logs if they have timestamps, otherwise from headers.
 * @throws ReorgedWhileReadingError if logs have two hashes for a block, or a different hash than its header.
 */
export async function blocksOfLogs(
  pool: UpstreamPool,
  logs: readonly Log[],
  signal: AbortSignal,
): Promise<{ readonly blocks: ReadonlyMap<number, BlockFacts>; readonly headersRead: number }> {
  const blocks = new Map<number, BlockFacts>();
  const unknown = new Map<number, Hash>();
  for (const log of logs) {
    const known = blocks.get(log.blockNumber)?.hash ?? unknown.get(log.blockNumber);
    if (known !== undefined) {
      if (known !== log.blockHash)
        throw new ReorgedWhileReadingError({
          chain: `${pool.chainId}`,
          what: `logs of block ${log.blockNumber} name two block hashes`,
        });
    } else if (log.blockTimestamp === null) unknown.set(log.blockNumber, log.blockHash);
    else
      blocks.set(log.blockNumber, {
        number: log.blockNumber,
        hash: log.blockHash,
        parentHash: null,
        timestamp: log.blockTimestamp,
      });
  }
  await addHeaders(pool, blocks, unknown, signal);
  return { blocks, headersRead: unknown.size };
}

/** Backfilled blocks have no watcher. */
const NO_WATCHER = { transactions: false, internalTransfers: false };

/** Options of whole block reads. */
export interface ProvenReading extends WatchedReader {
  /** Blocks read concurrently. */
  readonly depth: number;
  /** Whether to skip blocks that no upstream can prove under the policy `strict`, like blocks that lack a part. */
  readonly leavesOut?: boolean;
  /** Largest weight of data in a range of several blocks. @default unlimited */
  readonly weightMax?: number;
  /** Waits until the next block may be read. */
  readonly turn?: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Facts of a decoded block, held until the range is complete. */
interface DecodedBlock {
  readonly facts: BlockFacts;
  readonly levelled: LevelledBlock;
  readonly logCount: number;
  /** What its data weighs in addition to the number of logs. */
  readonly dataWeight: number;
}

/**
 * Reads whole blocks of a range, proves each and decodes it on arrival. Responses are large: a block that waited for
 * earlier ones would be copied by the garbage collector meanwhile.
 * @throws UnprovenBlockError under the policy `strict`, unless such blocks are skipped; RangeTooLargeError
 */
export async function readRangeProven(
  reading: ProvenReading,
  range: BlockRange,
  decoder: BatchDecoder,
): Promise<DecodedRange> {
  const { chain, depth, turn, signal, weightMax = Number.POSITIVE_INFINITY } = reading;
  const blocks = new Map<number, BlockFacts>();
  const proven: LevelledBlock[] = [];
  const lacking = new Map<BlockPart, Lacking>();
  let logCount = 0;
  let dataWeight = 0;
  const read = async (number: number): Promise<DecodedBlock | UnprovenBlockError | null> => {
    await turn?.(signal);
    const holds: (() => void)[] = [];
    const enterLarge = async (): Promise<void> => {
      holds.push(await holdLargeBlock(signal));
    };
    try {
      const large = { enterLarge, leavesGaps: true };
      const block = await readWatchedBlock({ ...reading, ...large }, number, NO_WATCHER, signal);
      return block === null ? null : decodeBlock(await crossCheck(reading, block, signal), decoder);
    } catch (error) {
      if (reading.leavesOut === true && error instanceof UnprovenBlockError) return error;
      throw error;
    } finally {
      for (const end of holds) end();
    }
  };
  for await (const block of readAhead(range, Math.min(depth, rangeSize(range)), read)) {
    if (block === null)
      throw new ReorgedWhileReadingError({
        chain: chain.key,
        what: `a block of ${range.from} to ${range.to} could not be read`,
      });
    if (block instanceof UnprovenBlockError) {
      const facts = { block: Number(block.facts.block), reason: String(block.facts.reason), isUnsupported: false };
      for (const part of reading.parts ?? []) lacking.set(part, facts);
      continue;
    }
    const { facts, levelled } = block;
    blocks.set(facts.number, facts);
    proven.push(levelled);
    for (const [part, { isUnsupported, reason: why }] of unavailable(levelled.parts))
      lacking.set(part, { block: facts.number, reason: why, isUnsupported });
    logCount += block.logCount;
    dataWeight += block.dataWeight;
    if (dataWeight > weightMax && rangeSize(range) > 1)
      throw new RangeTooLargeError({ chain: chain.key, ...range, bytes_max: weightMax * CHARACTERS_PER_LOG });
  }
  return {
    range,
    blocks,
    logCount,
    weight: logCount + dataWeight,
    levels: rangeLevels(proven),
    lacking,
    batch: decoder.batch(),
  };
}

/** Decodes a block, in any order, because rows are sorted later. Then releases its contents. */
function decodeBlock(block: ProvenBlock, decoder: BatchDecoder): DecodedBlock {
  const { level, reason, parts, upstream, logs } = block;
  const facts = factsOf(block.header);
  decoder.add(logs, [facts], [block]);
  const logCount = logs.length;
  const dataWeight = weighBlock(block) - logCount - (block.internalTransactions?.length ?? 0);
  releaseBlock(block);
  return { facts, levelled: { header: facts, level, reason, parts, upstream }, logCount, dataWeight };
}

/** Returns the datasets whose required parts were read in every block of the range. */
export function wholeDatasets(
  { chain, datasets }: { readonly chain: Chain; readonly datasets: readonly Dataset[] },
  { lacking }: Pick<DecodedRange, 'lacking'>,
): readonly Dataset[] {
  return lacking.size === 0 ? datasets : datasets.filter((dataset) => !lacking.has(deepestPart(dataset, chain)));
}

function unavailable(parts: ProvenBlock['parts']): [BlockPart, Unavailable][] {
  return Object.entries(parts).flatMap(([part, proof]) =>
    proof.level === 'unavailable' ? [[part as BlockPart, proof] satisfies [BlockPart, Unavailable]] : [],
  );
}

function factsOf({ number, hash, parentHash, timestamp }: BlockHeader): BlockFacts {
  return { number, hash, parentHash, timestamp };
}

async function addHeaders(
  pool: UpstreamPool,
  blocks: Map<number, BlockFacts>,
  unknown: ReadonlyMap<number, Hash>,
  signal: AbortSignal,
): Promise<void> {
  if (unknown.size === 0) return;
  const answers = await pool.getHeaders([...unknown.keys()], { signal });
  for (const { value: header, upstream } of answers) {
    requireSameHash(pool, header, unknown.get(header.number), upstream);
    blocks.set(header.number, header);
  }
}

function requireSameHash(pool: UpstreamPool, header: BlockHeader, hash: Hash | undefined, upstream: string): void {
  if (header.hash === hash) return;
  pool.reportFault(upstream, 'log-block-hash-mismatch', { block: header.number, header: header.hash, logs: hash });
  throw new ReorgedWhileReadingError({
    chain: `${pool.chainId}`,
    what: `logs of block ${header.number} name ${hash}, its header ${header.hash}`,
  });
}

/**
 * Empties a block's lists once they are decoded. Promises that waited for the node are in the old generation by then,
 * and hold their results until a full garbage collection. That applies to most blocks of a node 50 ms away.
 */
function releaseBlock({ block, receipts, logs }: Pick<ProvenBlock, 'block' | 'receipts' | 'logs'>): void {
  for (const held of [block.transactions ?? [], block.transactionHashes, receipts, logs])
    (held as unknown[]).length = 0;
}
