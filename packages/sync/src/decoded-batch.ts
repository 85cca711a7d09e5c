/**
 * What a run of blocks causes, ready to be written: COPY lines by dataset with their token contracts, block rows. Pure.
 */
import type { Chain } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { COPY_NULL, copyHex, copyValue } from '@chainstead/db';
import type { Dataset, DecodeContext, MentionedContract } from './dataset.ts';

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

/**
 * Rows of a dataset that are decoded and held at a time. A row takes up to a kilobyte on its way to the database, and four
 * commits of a chain may be under way. Ordinary chunks stay far below.
 */
export const ROWS_AT_ONCE = 50_000;

/** Decodes logs in chain order. `blocks` must hold every block of the logs. */
export function decodeBatch(
  chain: Chain,
  datasets: readonly Dataset[],
  logs: readonly Log[],
  blocks: ReadonlyMap<number, BlockFacts>,
  rowsAtOnce: number = ROWS_AT_ONCE,
): DecodedBatch {
  const context = { chain, timestampOf: (number: number) => timestampOf(blocks, number) };
  function* decode(): Generator<DatasetLines> {
    for (const dataset of datasets) yield* decodeParts(dataset, logs, context, rowsAtOnce);
  }
  return {
    blockLines: [...blocks.values()].sort((a, b) => a.number - b.number).map((block) => blockLine(chain, block)),
    parts: onePartEach(decode()) ?? { [Symbol.iterator]: decode },
  };
}

/** All parts, unless a dataset has several. */
function onePartEach(parts: Iterable<DatasetLines>): readonly DatasetLines[] | null {
  const held: DatasetLines[] = [];
  for (const part of parts) {
    if (held.at(-1)?.dataset === part.dataset) return null;
    held.push(part);
  }
  return held;
}

/** At least one part. */
function* decodeParts(
  dataset: Dataset,
  logs: readonly Log[],
  context: DecodeContext,
  rowsAtOnce: number,
): Generator<DatasetLines> {
  let rows: unknown[] = [];
  for (const row of dataset.eachRow?.(logs, context) ?? dataset.decode(logs, context)) {
    if (rows.length === rowsAtOnce) {
      yield toPart(dataset, rows);
      rows = [];
    }
    rows.push(row);
  }
  yield toPart(dataset, rows);
}

function toPart(dataset: Dataset, rows: readonly unknown[]): DatasetLines {
  const lines = rows.map((row) => dataset.copyLine(row));
  return { dataset, lines: lines.sort(), mentions: [...(dataset.contracts?.(rows) ?? [])] };
}

/** Columns of `blocks` in the order of the lines. */
export const BLOCK_COLUMNS = ['chain_id', 'block_number', 'block_hash', 'parent_hash', 'block_timestamp'] as const;

function blockLine(chain: Chain, block: BlockFacts): string {
  const parent = block.parentHash === null ? COPY_NULL : copyHex(block.parentHash);
  return `${chain.id}\t${block.number}\t${copyHex(block.hash)}\t${parent}\t${copyValue(new Date(block.timestamp * 1000))}`;
}

function timestampOf(blocks: ReadonlyMap<number, BlockFacts>, number: number): number {
  const block = blocks.get(number);
  if (block === undefined) throw new RangeError(`Block ${number} has logs in this batch but no header`);
  return block.timestamp;
}
