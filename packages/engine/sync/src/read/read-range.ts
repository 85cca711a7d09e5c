import type { Chain } from '@chainstead/chains';
import { type Address, type BlockRange, type Hash, type Log, rangeSize } from '@chainstead/core';
import { RangeTooLargeError, type UpstreamPool } from '@chainstead/rpc';
import { type ChosenSource, isGap } from '@chainstead/sources';
import type { Dataset } from '../dataset/dataset.ts';
import { type BlockPart, deepestPart, type PartProof } from '../dataset/whole-block.ts';
import { ReorgedWhileReadingError, UnprovenBlockError } from '../errors.ts';
import { crossCheck } from './cross-check.ts';
import type { BatchDecoder, BlockFacts, HeldBatch } from './decoded-batch.ts';
import { AHEAD_BYTES_MAX, CHARACTERS_PER_LOG, holdLargeBlock, weighBlock } from './large-blocks.ts';
import { type LevelledBlock, type RangeLevels, rangeLevels } from './part-levels.ts';
import { canProveBlocks } from './prove-source-block.ts';
import type { ProvenBlock } from './proven-block.ts';
import { readAhead } from './read-ahead.ts';
import { readSourceBlocks } from './read-source-blocks.ts';
import { readWatchedBlock, type WatchedReader } from './read-watched-block.ts';

export interface RangeRead {
  readonly range: BlockRange;
  /** Every block with logs (fast mode), or every block of the range (proven mode). */
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  readonly levels: RangeLevels;
  /** Whole blocks that are tied to the followed chain. @default false */
  readonly isLinked?: boolean;
}

export interface DecodedRange extends RangeRead {
  readonly batch: HeldBatch;
  readonly logCount: number;
  /** Logs; one with much data counts as several. */
  readonly weight: number;
  /** The reason is that of one block. */
  readonly lacking: ReadonlyMap<BlockPart, Lacking>;
}

type Unavailable = Extract<PartProof, { level: 'unavailable' }>;

export interface Lacking extends Pick<Unavailable, 'reason' | 'isUnsupported'> {
  readonly block: number;
}

export interface LogsWanted {
  /** Alternatives for topic0; empty: any. */
  readonly topics: readonly Hash[];
  /** Absent: any contract. */
  readonly addresses?: readonly Address[];
}

export function logsWanted(chain: Chain, datasets: readonly Dataset[]): LogsWanted {
  const hasAnyTopic = datasets.some((dataset) => dataset.anyTopic?.(chain) === true);
  const topics = hasAnyTopic ? [] : [...new Set(datasets.flatMap((dataset) => dataset.topics(chain)))];
  const emitters = datasets.map((dataset) => dataset.emitters?.(chain) ?? null);
  const addresses = emitters.flatMap((own) => own ?? []);
  return emitters.includes(null) || addresses.length === 0
    ? { topics }
    : { topics, addresses: [...new Set(addresses)] };
}

const RANGE_BYTES_MAX = 32 * 1024 * 1024;

/** Level `none`: the upstream may have omitted logs. @throws RangeTooLargeError */
export async function readRangeFast(
  pool: UpstreamPool,
  range: BlockRange,
  wanted: LogsWanted,
  signal: AbortSignal,
): Promise<RangeRead & { readonly logs: readonly Log[] }> {
  const answer = await pool.getLogs(
    { range, ...wanted },
    { signal, minBlock: range.to, bytesMax: RANGE_BYTES_MAX },
  );
  const { blocks } = await blocksOfLogs(pool, answer.logs, signal);
  const levels = answer.sources.map((source) => ({ ...source, proof: 'none' as const, reason: null }));
  return { range, logs: answer.logs, blocks, levels: { logs: levels } };
}

/** From logs with timestamps, or headers. @throws ReorgedWhileReadingError if hashes differ */
export async function blocksOfLogs(
  pool: UpstreamPool,
  logs: readonly Log[],
  signal: AbortSignal,
): Promise<{ readonly blocks: ReadonlyMap<number, BlockFacts>; readonly headersRead: number }> {
  const blocks = new Map<number, BlockFacts>();
  const unknown = new Map<number, Hash>();
  const chain = `${pool.chainId}`;
  for (const { blockNumber: number, blockHash: hash, blockTimestamp: timestamp } of logs) {
    const before = blocks.get(number)?.hash ?? unknown.get(number);
    if (before !== undefined && before !== hash)
      throw new ReorgedWhileReadingError({ chain, what: `logs of block ${number} name two block hashes` });
    if (before !== undefined) continue;
    if (timestamp === null) unknown.set(number, hash);
    else blocks.set(number, { number, hash, parentHash: null, timestamp });
  }
  const headers = unknown.size === 0 ? [] : await pool.getHeaders([...unknown.keys()], { signal });
  for (const { value: header, upstream } of headers) {
    const hash = unknown.get(header.number);
    if (header.hash !== hash) {
      pool.reportFault(upstream, 'log-block-hash-mismatch', {
        block: header.number,
        header: header.hash,
        logs: hash,
      });
      const what = `logs of block ${header.number} name ${hash}, its header ${header.hash}`;
      throw new ReorgedWhileReadingError({ chain, what });
    }
    blocks.set(header.number, header);
  }
  return { blocks, headersRead: unknown.size };
}

const NO_WATCHER = { transactions: false, internalTransfers: false };

export interface ProvenReading extends WatchedReader {
  readonly depth: number;
  /** Skips blocks that the era files of a chain without nodes don't prove, like blocks that lack a part. @default false */
  readonly leavesFileGaps?: boolean;
  /** Skips blocks that fail policy `strict` too. */
  readonly leavesOut?: boolean;
  /** Above, the caller reads smaller ranges: a very large block is then a separate range. @default unlimited */
  readonly weightMax?: number;
  /** Waits before each block. */
  readonly turn?: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

interface DecodedBlock {
  readonly facts: BlockFacts;
  readonly levelled: LevelledBlock;
  readonly logCount: number;
  readonly dataWeight: number;
}

interface LeftOutBlock {
  readonly number: number;
  readonly reason: string;
}

/** From nodes. Decodes on arrival: spares the GC. @throws UnprovenBlockError, RangeTooLargeError */
export async function readRangeProven(
  reading: ProvenReading,
  range: BlockRange,
  decoder: BatchDecoder,
): Promise<DecodedRange> {
  const { chain, depth, turn, signal, weightMax } = reading;
  const gathered = gatherBlocks(decoder);
  const requireSmaller = (bytes_max: number): void => {
    if (weightMax !== undefined && rangeSize(range) > 1)
      throw new RangeTooLargeError({ chain: chain.key, ...range, bytes_max });
  };
  const read = async (number: number): Promise<DecodedBlock | LeftOutBlock | null> => {
    await turn?.(signal);
    const holds: (() => void)[] = [];
    const enterLarge = async (): Promise<void> => {
      requireSmaller(AHEAD_BYTES_MAX);
      holds.push(await holdLargeBlock(signal));
    };
    try {
      const large = { enterLarge, leavesGaps: true };
      const block = await readWatchedBlock({ ...reading, ...large }, number, NO_WATCHER, signal);
      if (block === null) return null;
      const decoded = decodeBlock(await crossCheck(reading, block, signal), decoder);
      // A range of one block is held until its commit.
      if (weightMax !== undefined) gathered.hold(holds.splice(0));
      return decoded;
    } catch (error) {
      if (reading.leavesOut === true && error instanceof UnprovenBlockError)
        return { number, reason: String(error.facts.reason) };
      if (reading.leavesFileGaps === true && isGap(error)) return { number, reason: String(error.facts.what) };
      throw error;
    } finally {
      for (const end of holds) end();
    }
  };
  for await (const block of readAhead(range, Math.min(depth, rangeSize(range)), read)) {
    const what = `a block of ${range.from} to ${range.to} could not be read`;
    if (block === null) throw new ReorgedWhileReadingError({ chain: chain.key, what });
    if ('reason' in block) gathered.lack(block, reading.parts ?? new Set());
    else gathered.take(block);
    if (weightMax !== undefined && gathered.dataWeight() > weightMax)
      requireSmaller(weightMax * CHARACTERS_PER_LOG);
  }
  return gathered.decoded(range);
}

/** Blocks of a source as it streams them: each part can be committed. Ends early where the source does. */
export async function* readSourceParts(
  reading: ProvenReading & { readonly unitWeight: number },
  chosen: ChosenSource,
  newDecoder: () => BatchDecoder,
): AsyncGenerator<DecodedRange> {
  for await (const blocks of readSourceBlocks(sourceReading(reading), chosen, reading.signal)) {
    const decoder = newDecoder();
    const gathered = gatherBlocks(decoder);
    for (const block of blocks) gathered.take(decodeBlock(block, decoder));
    const [first, last] = [blocks[0], blocks.at(-1)];
    if (first !== undefined && last !== undefined)
      yield gathered.decoded({ from: first.header.number, to: last.header.number });
  }
}

/** No root covers traces, and not all chains have roots. */
export function mayReadFromSource(chain: Chain, parts: ReadonlySet<BlockPart>): boolean {
  return !parts.has('internalTransactions') && canProveBlocks(chain, parts.has('transactions'));
}

function sourceReading({
  pool,
  chain,
  parts,
  storesSender,
  recoverSigners,
  unitWeight,
}: ProvenReading & { readonly unitWeight: number }) {
  const transactions = parts?.has('transactions') ?? false;
  return { pool, chain, transactions, storesSender, recoverSigners, unitWeight };
}

function gatherBlocks(decoder: BatchDecoder) {
  const blocks = new Map<number, BlockFacts>();
  const proven: LevelledBlock[] = [];
  const lacking = new Map<BlockPart, Lacking>();
  let logCount = 0;
  let dataWeight = 0;
  const holds: (() => void)[] = [];
  return {
    decoder,
    hold: (ends: readonly (() => void)[]): void => void holds.push(...ends),
    dataWeight: () => dataWeight,
    take(block: DecodedBlock): void {
      const { facts, levelled } = block;
      blocks.set(facts.number, facts);
      proven.push(levelled);
      for (const [part, { isUnsupported, reason }] of unavailable(levelled.parts))
        lacking.set(part, { block: facts.number, reason, isUnsupported });
      logCount += block.logCount;
      dataWeight += block.dataWeight;
    },
    lack({ number: block, reason }: LeftOutBlock, parts: ReadonlySet<BlockPart>): void {
      const lack = { block, reason, isUnsupported: false };
      for (const part of parts) lacking.set(part, lack);
    },
    decoded(range: BlockRange): DecodedRange {
      const weight = logCount + dataWeight;
      const decoded = decoder.batch();
      const release = (): void => {
        decoded.release();
        for (const end of holds.splice(0)) end();
      };
      const batch = { ...decoded, release };
      return { range, blocks, logCount, weight, levels: rangeLevels(proven), lacking, batch };
    },
  };
}

/** In any order: rows are sorted later. Then releases the contents. */
function decodeBlock(block: ProvenBlock, decoder: BatchDecoder): DecodedBlock {
  const { level, reason, parts, upstream, isFromSource = false, logs } = block;
  const { number, hash, parentHash, timestamp } = block.header;
  const facts = { number, hash, parentHash, timestamp, upstream };
  decoder.add(logs, [facts], [block]);
  const logCount = logs.length;
  const dataWeight = weighBlock(block) - logCount - (block.internalTransactions?.length ?? 0);
  const { transactions, transactionHashes } = block.block;
  // Promises that waited for the node hold their results until a full garbage collection.
  for (const list of [transactions ?? [], transactionHashes, block.receipts, logs])
    (list as unknown[]).length = 0;
  return {
    facts,
    levelled: { header: facts, level, reason, parts, upstream, isFromSource },
    logCount,
    dataWeight,
  };
}

/** Their parts were read in every block of the range. */
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
