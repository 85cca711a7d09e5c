/**
 * Reads a finalized range for the backfill: filtered logs and what is known of their blocks, or whole proven blocks.
 */
import type { Chain } from '@chainstead/chains';
import type { Address, BlockHeader, BlockRange, Hash, Log } from '@chainstead/core';
import { rangeSize } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { crossCheck } from './cross-check.ts';
import type { Dataset } from './dataset.ts';
import type { BatchDecoder, BlockFacts, HeldBatch } from './decoded-batch.ts';
import { ChainMovedError, UnprovenBlockError } from './errors.ts';
import { type LevelledBlock, type RangeLevels, rangeLevels } from './part-levels.ts';
import type { ProvenBlock } from './proven-block.ts';
import { readAhead } from './read-ahead.ts';
import { readWatchedBlock, type WatchedReader } from './read-watched-block.ts';
import { releaseBlock } from './release-block.ts';
import { type BlockPart, deepestPart, type PartProof } from './whole-block.ts';

/** What is known of a range that was read. */
export interface RangeRead {
  readonly range: BlockRange;
  /** Every block that has logs (fast mode), or every block of the range (proven mode). */
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  readonly levels: RangeLevels;
}

/** A range whose logs are decoded already. */
export interface DecodedRange extends RangeRead {
  readonly batch: HeldBatch;
  /** Logs that were read. */
  readonly logCount: number;
  /** Parts that blocks lack, with what is told of one of them. */
  readonly lacking: ReadonlyMap<BlockPart, Lacking>;
}

type Unavailable = Extract<PartProof, { level: 'unavailable' }>;

/** A part that blocks of a range lack. */
export interface Lacking extends Pick<Unavailable, 'reason' | 'isUnsupported'> {
  readonly block: number;
}

/** Which logs of a range are asked for. */
export interface LogsWanted {
  readonly topics: readonly Hash[];
  /** Contracts that emit them; absent: any. */
  readonly addresses?: readonly Address[];
}

/** All that the datasets decode of a chain's logs. */
export function logsWanted(chain: Chain, datasets: readonly Dataset[]): LogsWanted {
  const topics = [...new Set(datasets.flatMap((dataset) => dataset.topics(chain)))];
  const emitters = datasets.map((dataset) => dataset.emitters?.(chain) ?? null);
  const addresses = emitters.flatMap((own) => own ?? []);
  // By contracts only where each dataset names its own.
  return emitters.includes(null) || addresses.length === 0
    ? { topics }
    : { topics, addresses: [...new Set(addresses)] };
}

/** Filtered logs of a range. Level `none`: nothing proves that the upstream left no log out. */
export async function readRangeFast(
  pool: UpstreamPool,
  range: BlockRange,
  wanted: LogsWanted,
  signal: AbortSignal,
): Promise<RangeRead & { readonly logs: readonly Log[] }> {
  const answer = await pool.getLogs({ range, ...wanted }, { signal, minBlock: range.to });
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
 * What is known of the blocks of these logs: from the logs where they carry timestamps, else from headers.
 * @throws ChainMovedError when they name two hashes for a block, or another one than its header has.
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
        throw new ChainMovedError({
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

/** Of what is read here, nobody sees the blocks. */
const NO_WATCHER = { transactions: false, internalTransfers: false };

/** How whole blocks of a range are read. */
export interface ProvenReading extends WatchedReader {
  /** Blocks that are read at a time. */
  readonly depth: number;
  /** Whether blocks that nobody can prove under the policy `strict` are left out, as those that lack a part are. */
  readonly leavesOut?: boolean;
  /** Waits until the next block may be read. */
  readonly turn?: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** What of a block waits for the others of its range. */
interface DecodedBlock {
  readonly facts: BlockFacts;
  readonly levelled: LevelledBlock;
  readonly logCount: number;
}

/**
 * Whole blocks of a range, proven one by one, and decoded as they come: what nodes answer is heavy, and a block that waited for those before it
 * would be copied by the collector of new objects meanwhile. @throws UnprovenBlockError under the policy `strict`, unless left out
 */
export async function readRangeProven(
  reading: ProvenReading,
  range: BlockRange,
  decoder: BatchDecoder,
): Promise<DecodedRange> {
  const { chain, depth, turn, signal } = reading;
  const blocks = new Map<number, BlockFacts>();
  const proven: LevelledBlock[] = [];
  const lacking = new Map<BlockPart, Lacking>();
  let logCount = 0;
  const read = async (number: number): Promise<DecodedBlock | UnprovenBlockError | null> => {
    await turn?.(signal);
    try {
      const block = await readWatchedBlock(reading, number, NO_WATCHER, signal);
      return block === null ? null : decodeBlock(await crossCheck(reading, block, signal), decoder);
    } catch (error) {
      if (reading.leavesOut === true && error instanceof UnprovenBlockError) return error;
      throw error;
    }
  };
  for await (const block of readAhead(range, Math.min(depth, rangeSize(range)), read)) {
    if (block === null)
      throw new ChainMovedError({
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
  }
  return { range, blocks, logCount, levels: rangeLevels(proven), lacking, batch: decoder.batch() };
}

/** Rows have an order of their own, so that blocks may be decoded in any. Nothing else is made of what they hold. */
function decodeBlock(block: ProvenBlock, decoder: BatchDecoder): DecodedBlock {
  const { level, reason, parts, upstream, logs } = block;
  const facts = factsOf(block.header);
  decoder.add(logs, [facts], [block]);
  const logCount = logs.length;
  releaseBlock(block);
  return { facts, levelled: { header: facts, level, reason, parts, upstream }, logCount };
}

/** The datasets for which every block of the range has what they read. */
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
  throw new ChainMovedError({
    chain: `${pool.chainId}`,
    what: `logs of block ${header.number} name ${hash}, its header ${header.hash}`,
  });
}
