/**
 * What a run of blocks causes, ready to be written: COPY lines by dataset with their token contracts, block rows. Pure.
 */
import type { Chain } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { COPY_NULL, copyHex, copyValue } from '@chainstead/db';
import type { Dataset, DecodeContext, MentionedContract, WholeBlockDecoding } from './dataset.ts';
import { type DecodableBlock, type WholeBlockReader, wholeBlockReader } from './decodable-block.ts';
import { deepestPart, type WholeBlock } from './whole-block.ts';

/** What the batch knows of one block. */
export interface BlockFacts {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface DatasetLines {
  readonly dataset: Dataset;
  /** Sorted, so that the primary key index is filled with locality. */
  readonly lines: readonly string[];
  /** Token contracts that the rows mention. */
  readonly mentions: readonly MentionedContract[];
}

export interface DecodedBatch {
  /** Ascending by number. */
  readonly blockLines: readonly string[];
  /**
   * Each dataset once; one that has very many rows several times, with some of them. Then nothing is decoded before its turn,
   * nor held after it: to go through them again is to decode again.
   */
  readonly parts: Iterable<DatasetLines>;
}

/** A batch that can be let go. */
export interface HeldBatch extends DecodedBatch {
  /** Once it is written: what remains of a commit may be reached until all that is old is collected, and its lines with it. */
  release(): void;
}

/**
 * Rows of a dataset that are decoded and held at a time. A row takes up to a kilobyte on its way to the database, and four
 * commits of a chain may be under way. Ordinary chunks stay far below.
 */
export const ROWS_AT_ONCE = 50_000;

/** Decodes as it is given logs: rows take a fraction of the memory that the logs of a range would until its last block is there. */
export interface BatchDecoder {
  /**
   * The logs of one or more whole blocks, in chain order, after those that were added before; and the blocks themselves where a
   * dataset reads more than logs.
   */
  add(logs: readonly Log[], blocks: Iterable<BlockFacts>, whole?: readonly DecodableBlock[]): void;
  /** All that was added. */
  batch(): HeldBatch;
}

/** What of the batch some of its datasets cause. */
export function batchOf({ blockLines, parts }: DecodedBatch, datasets: readonly Dataset[]): DecodedBatch {
  return { blockLines, parts: { [Symbol.iterator]: () => partsOf(parts, datasets) } };
}

function* partsOf(parts: Iterable<DatasetLines>, datasets: readonly Dataset[]): Generator<DatasetLines> {
  for (const part of parts) if (datasets.includes(part.dataset)) yield part;
}

/** Decodes with each of the datasets. */
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

interface DatasetDecoder {
  add(logs: readonly Log[], whole: readonly WholeBlockReader[]): void;
  parts(): Iterable<DatasetLines>;
  release(): void;
}

/** Keeps the lines of one dataset for as long as they are few enough to be held; from then on the logs, to be decoded in their turn. */
function createDatasetDecoder(dataset: Dataset, context: DecodeContext, rowsAtOnce: number): DatasetDecoder {
  const lines: string[] = [];
  const mentions: MentionedContract[] = [];
  const undecoded: Input[] = [];
  const part = deepestPart(dataset, context.chain);
  return {
    add: (logs, whole) => {
      const input: Input =
        part === 'logs' ? { logs, blocks: null } : { logs: [], blocks: whole.flatMap((read) => read(part) ?? []) };
      const rows = undecoded.length > 0 ? null : rowsUpTo(rowsAtOnce - lines.length, rowsOf(dataset, input, context));
      if (rows === null) {
        // Whoever gave them may let go of them.
        undecoded.push({ ...input, logs: [...input.logs] });
        return;
      }
      for (const row of rows) lines.push(dataset.table.copyLine(row));
      for (const mention of dataset.contracts?.(rows) ?? []) mentions.push(mention);
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

/** Null when there are more than `limit`. */
function rowsUpTo(limit: number, rows: Iterable<unknown>): readonly unknown[] | null {
  const held: unknown[] = [];
  for (const row of rows) {
    if (held.length === limit) return null;
    held.push(row);
  }
  return held;
}

/** What a dataset is decoded from. */
interface Input {
  readonly logs: readonly Log[];
  /** Null for datasets that read logs alone. */
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

/** At least one part. */
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

/** Rows of a dataset, ready to be written. */
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
