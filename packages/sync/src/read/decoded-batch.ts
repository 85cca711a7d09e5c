/**
 * Decoded rows of a run of blocks, ready to be written: COPY lines per dataset with their token contracts, and block
 * rows. Pure.
 */
import type { Chain } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { COPY_NULL, copyHex, copyValue } from '@chainstead/db';
import type { Dataset, DecodeContext, MentionedContract, WholeBlockDecoding } from '../dataset/dataset.ts';
import { deepestPart } from '../dataset/deepest-part.ts';
import type { WholeBlock } from '../dataset/whole-block.ts';
import type { DecodeFailure } from './dataset-failures.ts';
import { type DecodableBlock, type WholeBlockReader, wholeBlockReader } from './decodable-block.ts';

/** A block of the batch. */
export interface BlockFacts {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface DatasetLines {
  readonly dataset: Dataset;
  /** Sorted, so that inserts into the primary key index are local. */
  readonly lines: readonly string[];
  /** Token contracts that the rows mention. */
  readonly mentions: readonly MentionedContract[];
}

export interface DecodedBatch {
  /** Ascending by number. */
  readonly blockLines: readonly string[];
  /**
   * Each dataset once. A dataset with very many rows appears several times, with some rows each: these are decoded on
   * iteration and not held, so a second iteration decodes again.
   */
  readonly parts: Iterable<DatasetLines>;
  /** Blocks that datasets could not decode: the batch has no rows of the dataset there. */
  readonly failures: readonly DecodeFailure[];
}

/** A batch that can be released. */
export interface HeldBatch extends DecodedBatch {
  /**
   * Call it after the write: remains of a commit may stay reachable until a full garbage collection, and the lines with
   * them.
   */
  release(): void;
}

/**
 * Maximum decoded rows of a dataset in memory. A row takes up to a kilobyte on its way to the database, and four
 * commits of a chain may run concurrently. Ordinary chunks stay far below.
 */
export const ROWS_AT_ONCE = 50_000;

/**
 * Decodes logs as they are added: rows take a fraction of the memory that the logs of a range would take until its last
 * block arrives.
 */
export interface BatchDecoder {
  /**
   * Adds the logs of one or more whole blocks in chain order, after those added before. Blocks are needed if a dataset
   * reads more than logs.
   */
  add(logs: readonly Log[], blocks: Iterable<BlockFacts>, whole?: readonly DecodableBlock[]): void;
  /** Returns everything that was added. */
  batch(): HeldBatch;
}

/** Returns the part of the batch that belongs to some of its datasets. */
export function batchOf({ blockLines, parts, failures }: DecodedBatch, datasets: readonly Dataset[]): DecodedBatch {
  return {
    blockLines,
    parts: { [Symbol.iterator]: () => partsOf(parts, datasets) },
    failures: failures.filter(({ dataset }) => datasets.includes(dataset)),
  };
}

function* partsOf(parts: Iterable<DatasetLines>, datasets: readonly Dataset[]): Generator<DatasetLines> {
  for (const part of parts) if (datasets.includes(part.dataset)) yield part;
}

/** Returns a decoder for all given datasets. */
export function createBatchDecoder(
  chain: Chain,
  datasets: readonly Dataset[],
  rowsAtOnce: number = ROWS_AT_ONCE,
): BatchDecoder {
  const facts = new Map<number, BlockFacts>();
  const context = { chain, timestampOf: (number: number) => timestampOf(facts, number) };
  const decoders = datasets.map((dataset) => createDatasetDecoder(dataset, context, rowsAtOnce));
  return {
    add: (logs, blocks, whole = []) => {
      for (const block of blocks) facts.set(block.number, block);
      const readers = whole.map(wholeBlockReader);
      for (const decoder of decoders) decoder.add(logs, readers);
    },
    batch: () => ({
      blockLines: blockLinesOf(chain, [...facts.values()]),
      parts: { [Symbol.iterator]: () => partsOfAll(decoders) },
      failures: decoders.flatMap(({ failures }) => failures),
      release() {
        for (const decoder of decoders) decoder.release();
      },
    }),
  };
}

function* partsOfAll(decoders: readonly DatasetDecoder[]): Generator<DatasetLines> {
  for (const decoder of decoders) yield* decoder.parts();
}

/** Decodes logs in chain order. `blocks` must hold every block of the logs. */
export function decodeBatch(
  chain: Chain,
  datasets: readonly Dataset[],
  logs: readonly Log[],
  blocks: ReadonlyMap<number, BlockFacts>,
  rowsAtOnce: number = ROWS_AT_ONCE,
): DecodedBatch {
  const decoder = createBatchDecoder(chain, datasets, rowsAtOnce);
  decoder.add(logs, blocks.values());
  return decoder.batch();
}

/** A block counts as not decodable after this many attempts. */
const DECODE_ATTEMPTS = 3;

interface DatasetDecoder {
  readonly failures: readonly DecodeFailure[];
  add(logs: readonly Log[], whole: readonly WholeBlockReader[]): void;
  parts(): Iterable<DatasetLines>;
  release(): void;
}

/**
 * Holds the lines of one dataset while they fit into the limit. After that it holds the logs, which are decoded on
 * iteration.
 */
function createDatasetDecoder(dataset: Dataset, context: DecodeContext, rowsAtOnce: number): DatasetDecoder {
  const lines: string[] = [];
  const mentions: MentionedContract[] = [];
  const undecoded: Input[] = [];
  const failures: DecodeFailure[] = [];
  const part = deepestPart(dataset, context.chain);
  /** Adds all rows of the input, or none if the dataset throws. */
  const take = (input: Input): void => {
    const room = undecoded.length > 0 ? 0 : rowsAtOnce - lines.length;
    const rows = rowsUpTo(room, dataset, rowsOf(dataset, input, context));
    if (rows === null) {
      // Copied, because the caller may release the list.
      undecoded.push({ ...input, logs: [...input.logs] });
      return;
    }
    const added = rows.map((row) => dataset.table.copyLine(row));
    const mentioned = [...(dataset.contracts?.(rows) ?? [])];
    for (const line of added) lines.push(line);
    for (const mention of mentioned) mentions.push(mention);
  };
  return {
    failures,
    add: (logs, whole) => {
      const input: Input =
        part === 'logs' ? { logs, blocks: null } : { logs: [], blocks: whole.flatMap((read) => read(part) ?? []) };
      if (attempt(() => take(input)) === null) return;
      for (const [block, alone] of inputsByBlock(input)) {
        const failure = attempt(() => take(alone), DECODE_ATTEMPTS);
        if (failure !== null) failures.push({ dataset, block, error: failure.error });
      }
    },
    parts: () => partsOfDataset({ dataset, lines, mentions }, undecoded, context, rowsAtOnce),
    release: () => {
      for (const held of [lines, mentions, undecoded]) held.length = 0;
    },
  };
}

function* partsOfDataset(
  held: { readonly dataset: Dataset; readonly lines: string[]; readonly mentions: readonly MentionedContract[] },
  undecoded: readonly Input[],
  context: DecodeContext,
  rowsAtOnce: number,
): Generator<DatasetLines> {
  const { dataset, lines, mentions } = held;
  if (lines.length > 0 || undecoded.length === 0) yield { dataset, lines: lines.sort(), mentions };
  if (undecoded.length > 0) yield* decodeParts(dataset, joined(undecoded), context, rowsAtOnce);
}

/** @returns the error of the last attempt; null if one succeeded */
function attempt(decode: () => void, attemptsMax = 1): { readonly error: unknown } | null {
  for (let attempts = 1; ; attempts++)
    try {
      decode();
      return null;
    } catch (error) {
      if (attempts === attemptsMax) return { error };
    }
}

function inputsByBlock({ logs, blocks }: Input): readonly (readonly [number, Input])[] {
  if (blocks !== null) return blocks.map((block) => [block.header.number, { logs: [], blocks: [block] }]);
  return [...Map.groupBy(logs, ({ blockNumber }) => blockNumber)].map(([number, ofBlock]) => [
    number,
    { logs: ofBlock, blocks: null },
  ]);
}

/**
 * Returns the rows; null if there are more than `limit`. Then none is held, but each is still encoded once, because
 * decoding them again later must not fail.
 */
function rowsUpTo(limit: number, dataset: Dataset, rows: Iterable<unknown>): readonly unknown[] | null {
  let held: unknown[] | null = [];
  for (const row of rows) {
    if (held?.length === limit) {
      for (const one of held) linesOfRows(dataset, [one]);
      held = null;
    }
    if (held === null) linesOfRows(dataset, [row]);
    else held.push(row);
  }
  return held;
}

/** Input of a dataset's decoder. */
interface Input {
  readonly logs: readonly Log[];
  /** Null for datasets that read only logs. */
  readonly blocks: readonly WholeBlock[] | null;
}

function joined(inputs: readonly Input[]): Input {
  const isWhole = inputs.some(({ blocks }) => blocks !== null);
  return {
    logs: inputs.flatMap(({ logs }) => logs),
    blocks: isWhole ? inputs.flatMap(({ blocks }) => blocks ?? []) : null,
  };
}

function rowsOf(dataset: Dataset, { logs, blocks }: Input, context: DecodeContext): Iterable<unknown> {
  const { wholeBlocks } = dataset;
  if (blocks !== null && wholeBlocks !== undefined) return rowsOfBlocks(wholeBlocks, blocks, context);
  return dataset.eachRow?.(logs, context) ?? dataset.decode(logs, context);
}

function* rowsOfBlocks(
  wholeBlocks: WholeBlockDecoding,
  blocks: readonly WholeBlock[],
  context: DecodeContext,
): Generator<unknown> {
  for (const block of blocks) yield* wholeBlocks.decode(block, context);
}

/** Yields at least one part. */
function* decodeParts(
  dataset: Dataset,
  input: Input,
  context: DecodeContext,
  rowsAtOnce: number,
): Generator<DatasetLines> {
  let rows: unknown[] = [];
  for (const row of rowsOf(dataset, input, context)) {
    if (rows.length === rowsAtOnce) {
      yield linesOfRows(dataset, rows);
      rows = [];
    }
    rows.push(row);
  }
  yield linesOfRows(dataset, rows);
}

/** Returns rows of a dataset, ready to be written. */
export function linesOfRows<Row>(dataset: Dataset<Row>, rows: readonly Row[]): DatasetLines {
  const lines = rows.map((row) => dataset.table.copyLine(row));
  return { dataset, lines: lines.sort(), mentions: [...(dataset.contracts?.(rows) ?? [])] };
}

/** Columns of `blocks` in the order of the lines. */
export const BLOCK_COLUMNS = ['chain_id', 'block_number', 'block_hash', 'parent_hash', 'block_timestamp'] as const;

/** Lines of `blocks`, ascending by number. */
export function blockLinesOf(chain: Chain, blocks: readonly BlockFacts[]): readonly string[] {
  return blocks.toSorted((a, b) => a.number - b.number).map((block) => blockLine(chain, block));
}

function blockLine(chain: Chain, block: BlockFacts): string {
  const parent = block.parentHash === null ? COPY_NULL : copyHex(block.parentHash);
  return `${chain.id}\t${block.number}\t${copyHex(block.hash)}\t${parent}\t${copyValue(new Date(block.timestamp * 1000))}`;
}

function timestampOf(blocks: ReadonlyMap<number, BlockFacts>, number: number): number {
  const block = blocks.get(number);
  if (block === undefined) throw new RangeError(`Block ${number} has logs in this batch but no header`);
  return block.timestamp;
}
