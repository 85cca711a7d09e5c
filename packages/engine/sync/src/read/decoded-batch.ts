import type { Chain } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { COPY_NULL, copyHex, copyValue } from '@chainstead/db';
import type { Dataset, DecodeContext, MentionedContract } from '../dataset/dataset.ts';
import { deepestPart, type WholeBlock } from '../dataset/whole-block.ts';
import type { DecodeFailure } from './dataset-failures.ts';
import { type DecodableBlock, type WholeBlockReader, wholeBlockReader } from './executed-transactions.ts';

export interface BlockFacts {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash | null;
  /** Unix seconds. */
  readonly timestamp: number;
  /** The node or source that returned it, if known. */
  readonly upstream?: string | undefined;
}

export interface DatasetLines {
  readonly dataset: Dataset;
  /** Sorted, so that inserts into the primary key index are local. */
  readonly lines: readonly string[];
  readonly mentions: readonly MentionedContract[];
}

export interface DecodedBatch {
  readonly blockLines: readonly string[];
  /** Each dataset once, except with very many rows: parts are then decoded on each iteration. */
  readonly parts: Iterable<DatasetLines>;
  readonly failures: readonly DecodeFailure[];
}

export interface HeldBatch extends DecodedBatch {
  /** After the write: the lines may stay reachable until a full garbage collection. */
  release(): void;
}

/** Per dataset, in memory, up to a kilobyte each. Ordinary chunks stay far below. */
export const ROWS_AT_ONCE = 50_000;

/** Decodes logs as they are added: rows take a fraction of their memory. */
export interface BatchDecoder {
  /** Whole blocks, in chain order. `whole` is needed if a dataset reads more than logs. */
  add(logs: readonly Log[], blocks: Iterable<BlockFacts>, whole?: readonly DecodableBlock[]): void;
  batch(): HeldBatch;
}

export function batchOf(
  { blockLines, parts, failures }: DecodedBatch,
  datasets: readonly Dataset[],
): DecodedBatch {
  return {
    blockLines,
    parts: {
      *[Symbol.iterator]() {
        for (const part of parts) if (datasets.includes(part.dataset)) yield part;
      },
    },
    failures: failures.filter(({ dataset }) => datasets.includes(dataset)),
  };
}

export function createBatchDecoder(
  chain: Chain,
  datasets: readonly Dataset[],
  rowsAtOnce: number = ROWS_AT_ONCE,
): BatchDecoder {
  const facts = new Map<number, BlockFacts>();
  const timestampOf = (number: number): number => {
    const block = facts.get(number);
    if (block === undefined) throw new RangeError(`Block ${number} has logs in this batch but no header`);
    return block.timestamp;
  };
  // Invariant: SYNC-PURE-DECODING
  const context = { chain, timestampOf };
  const decoders = datasets.map((dataset) => createDatasetDecoder(dataset, context, rowsAtOnce));
  return {
    add: (logs, blocks, whole = []) => {
      for (const block of blocks) facts.set(block.number, block);
      const readers = whole.map(wholeBlockReader);
      for (const decoder of decoders) decoder.add(logs, readers);
    },
    batch: () => ({
      blockLines: blockLinesOf(chain, [...facts.values()]),
      parts: {
        *[Symbol.iterator]() {
          for (const decoder of decoders) yield* decoder.parts();
        },
      },
      failures: decoders.flatMap(({ failures }) => failures),
      release() {
        for (const decoder of decoders) decoder.release();
      },
    }),
  };
}

/** `blocks` must hold every block of the logs. */
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

/** Attempts before a block counts as not decodable. */
const DECODE_ATTEMPTS = 3;

/** Holds lines up to the limit; after that the logs, which are decoded on iteration. */
function createDatasetDecoder(dataset: Dataset, context: DecodeContext, rowsAtOnce: number) {
  const lines: string[] = [];
  const mentions: MentionedContract[] = [];
  const undecoded: Input[] = [];
  const failures: DecodeFailure[] = [];
  const part = deepestPart(dataset, context.chain);
  const ownLogs = createLogFilter(dataset, context.chain);
  const take = (input: Input): void => {
    const room = undecoded.length > 0 ? 0 : rowsAtOnce - lines.length;
    const rows = rowsUpTo(room, dataset, rowsOf(dataset, input, context));
    if (rows === null) {
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
    add: (logs: readonly Log[], whole: readonly WholeBlockReader[]): void => {
      const input: Input =
        part === 'logs'
          ? { logs: ownLogs(logs), blocks: null }
          : { logs: [], blocks: whole.flatMap((read) => read(part) ?? []) };
      if (attempt(() => take(input)) === null) return;
      for (const [block, alone] of inputsByBlock(input)) {
        const failure = attempt(() => take(alone), DECODE_ATTEMPTS);
        if (failure !== null) failures.push({ dataset, block, error: failure.error });
      }
    },
    *parts(): Generator<DatasetLines> {
      if (lines.length > 0 || undecoded.length === 0) yield { dataset, lines: lines.sort(), mentions };
      if (undecoded.length > 0) yield* decodeParts(dataset, joined(undecoded), context, rowsAtOnce);
    },
    release: (): void => {
      for (const held of [lines, mentions, undecoded]) held.length = 0;
    },
  };
}

/** Most logs are of other datasets: reading them too takes 6 % of a backfill with swaps. */
function createLogFilter(dataset: Dataset, chain: Chain): (logs: readonly Log[]) => readonly Log[] {
  const topics = new Set<string | undefined>(dataset.topics(chain));
  // Logs of named contracts: of `anyTopic`, or read for a request.
  return topics.size === 0 ? (logs) => logs : (logs) => logs.filter((log) => topics.has(log.topics[0]));
}

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
  const byBlock = [...Map.groupBy(logs, ({ blockNumber }) => blockNumber)];
  return byBlock.map(([number, ofBlock]) => [number, { logs: ofBlock, blocks: null }]);
}

/** Null: more than `limit`. All are encoded: decoding them later must not fail. */
function rowsUpTo(limit: number, dataset: Dataset, rows: Iterable<unknown>): readonly unknown[] | null {
  let held: unknown[] | null = [];
  for (const row of rows) {
    if (held?.length === limit) {
      for (const before of held) linesOfRows(dataset, [before]);
      held = null;
    }
    if (held === null) linesOfRows(dataset, [row]);
    else held.push(row);
  }
  return held;
}

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
  if (blocks !== null && wholeBlocks !== undefined)
    return Iterator.from(blocks).flatMap((block) => wholeBlocks.decode(block, context));
  return dataset.eachRow?.(logs, context) ?? dataset.decode(logs, context);
}

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

export function linesOfRows<Row>(dataset: Dataset<Row>, rows: readonly Row[]): DatasetLines {
  const lines = rows.map((row) => dataset.table.copyLine(row));
  return { dataset, lines: lines.sort(), mentions: [...(dataset.contracts?.(rows) ?? [])] };
}

export const BLOCK_COLUMNS = [
  'chain_id',
  'block_number',
  'block_hash',
  'parent_hash',
  'block_timestamp',
] as const;

export function blockLinesOf(chain: Chain, blocks: readonly BlockFacts[]): readonly string[] {
  return blocks
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, hash, parentHash, timestamp }) => {
      const parent = parentHash === null ? COPY_NULL : copyHex(parentHash);
      return [chain.id, number, copyHex(hash), parent, copyValue(new Date(timestamp * 1000))].join('\t');
    });
}
