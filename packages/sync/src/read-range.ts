/**
 * Reads a finalized range for the backfill: filtered logs and what is known of their blocks, or whole proven blocks.
 */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import type { BlockHeader, BlockRange, Hash, Log } from '@chainstead/core';
import { rangeSize } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { runsOfSameLevel } from './commit-followed.ts';
import type { Coverage } from './coverage.ts';
import { crossCheck } from './cross-check.ts';
import type { BatchDecoder, BlockFacts, DecodedBatch } from './decoded-batch.ts';
import { ChainMovedError } from './errors.ts';
import { type ProvenBlock, type ProvenLevel, readProvenBlock } from './proven-block.ts';
import { readAhead } from './read-ahead.ts';

/** What is known of a range that was read. */
export interface RangeRead {
  readonly range: BlockRange;
  /** Every block that has logs (fast mode), or every block of the range (proven mode). */
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  readonly levels: readonly Coverage[];
}

/** A range whose logs are decoded already. */
export interface DecodedRange extends RangeRead {
  readonly batch: DecodedBatch;
  /** Logs that were read. */
  readonly logCount: number;
}

/** Filtered logs of a range. Level `none`: nothing proves that the upstream left no log out. */
export async function readRangeFast(
  pool: UpstreamPool,
  range: BlockRange,
  topics: readonly Hash[],
  signal: AbortSignal,
): Promise<RangeRead & { readonly logs: readonly Log[] }> {
  const answer = await pool.getLogs({ range, topics }, { signal, minBlock: range.to });
  const { blocks } = await blocksOfLogs(pool, answer.logs, signal);
  const levels = answer.sources.map((source) => ({
    range: source.range,
    proof: 'none' as const,
    reason: null,
    upstream: source.upstream,
  }));
  return { range, logs: answer.logs, blocks, levels };
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

/** How whole blocks of a range are read. */
export interface ProvenReading {
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly policy: ProofPolicy;
  /** Blocks that are read at a time. */
  readonly depth: number;
  /** Waits until the next block may be read. */
  readonly turn?: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Whole blocks of a range, proven and decoded one by one. @throws UnprovenBlockError under the policy `strict` */
export async function readRangeProven(
  { pool, chain, policy, depth, turn, signal }: ProvenReading,
  range: BlockRange,
  decoder: BatchDecoder,
): Promise<DecodedRange> {
  const blocks = new Map<number, BlockFacts>();
  const proven: ProvenLevel[] = [];
  let logCount = 0;
  const read = async (number: number): Promise<ProvenBlock | null> => {
    await turn?.(signal);
    const block = await readProvenBlock(pool, chain, policy, number, signal);
    return block === null ? null : crossCheck(pool, chain, policy, block, signal);
  };
  for await (const block of readAhead(range, Math.min(depth, rangeSize(range)), read)) {
    if (block === null)
      throw new ChainMovedError({
        chain: chain.key,
        what: `a block of ${range.from} to ${range.to} could not be read`,
      });
    // Of a block only this waits for the others: its answer and its logs are heavy.
    const header = factsOf(block.header);
    decoder.add(block.logs, [header]);
    blocks.set(header.number, header);
    proven.push({ header, level: block.level, reason: block.reason, upstream: block.upstream });
    logCount += block.logs.length;
  }
  return { range, blocks, logCount, levels: runsOfSameLevel(proven), batch: decoder.batch() };
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
