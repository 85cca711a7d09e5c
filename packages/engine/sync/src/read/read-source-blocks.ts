/** Whole blocks from a source, in units that end at a block whose hash is known to be canonical. */
import { type BlockHeader, type BlockRange, rangeSize } from '@chainstead/core';
import { checkHeaderHash } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import { type BlockSource, type ChosenSource, type SourceBlock, SourceError } from '@chainstead/sources';
import { weighBlock } from './large-blocks.ts';
import {
  contradictionOf,
  derivedHeader,
  isDerivable,
  type SourceProof,
  withDerivedFees,
} from './prove-source-block.ts';
import type { ProvenBlock } from './proven-block.ts';
import { faultOf, isOfFile, ofFile, readParts, requireAtNodes, unitsOf } from './source-stream.ts';

interface SourceReading extends SourceProof {
  readonly pool: UpstreamPool;
  /** Logs of one unit, about. Bounds memory. */
  readonly unitWeight: number;
}

const UNIT_BLOCKS_MAX = 500;
/** A source may send long lists, which no weight counts. */
const UNIT_BYTES_MAX = 32 * 1024 * 1024;
/** As much memory as half a log. */
const TRANSACTION_WEIGHT = 0.5;

/** Ends early where the source does, or fails: the caller reads the rest elsewhere. */
export async function* readSourceBlocks(
  reading: SourceReading,
  chosen: ChosenSource,
  signal: AbortSignal,
): AsyncGenerator<readonly ProvenBlock[]> {
  const { pool } = reading;
  const sample = async ({ from, to }: BlockRange, stop: AbortSignal): Promise<boolean> => {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const read = numbers.map((number) => pool.getWholeBlock(number, { signal: stop, background: true }));
    return (await Promise.all(read)).every((block) => block !== null);
  };
  for await (const { blocks } of readParts(chosen, { pool, use: 'blocks', sample }, signal, (rest, stop) =>
    provenParts(reading, rest, { stop, signal }),
  ))
    yield blocks;
}

interface ProvenPart {
  readonly range: BlockRange;
  readonly blocks: readonly ProvenBlock[];
}

/** @throws SourceError at the first block that can't be proven, after the blocks before it */
async function* provenParts(
  reading: SourceReading,
  chosen: ChosenSource,
  { stop, signal }: { readonly stop: AbortSignal; readonly signal: AbortSignal },
): AsyncGenerator<ProvenPart> {
  const { source, range } = chosen;
  let next = range.from;
  let parent: string | null = null;
  const stream = source.readBlocks(range, reading, stop);
  for await (const unit of unitsOf(stream, () => createFullness(reading))) {
    const lacking = unit.findIndex(({ lacks }) => lacks.some(({ part }) => part !== 'header'));
    const provable = lacking < 0 ? unit : unit.slice(0, lacking);
    const end = unit.at(-1)?.block.header.number ?? next;
    const refused = (error: unknown): unknown => ofFile(chosen, error, unit, { from: next, to: end });
    const proven: ProvenUnit = await proveUnit(reading, chosen, { unit: provable, next, parent }, signal).catch(
      (error: unknown) => {
        throw refused(error);
      },
    );
    const { blocks, lack } = proven;
    const last = blocks.at(-1)?.header;
    if (last !== undefined) {
      yield { range: { from: next, to: last.number }, blocks };
      next = last.number + 1;
    }
    if (lack !== null) throw refused(lack);
    if (lacking >= 0 || last === undefined) throw refused(lackedBy(chosen, unit.slice(Math.max(0, lacking))));
    parent = last.hash;
  }
}

function createFullness({ unitWeight }: SourceReading): (block: SourceBlock) => boolean {
  let weight = 0;
  let blocks = 0;
  let bytes = 0;
  return (block) => {
    const logs = block.receipts.flatMap((receipt) => receipt.logs);
    weight += weighBlock({ ...block, logs, internalTransactions: null });
    weight += block.block.transactionHashes.length * TRANSACTION_WEIGHT;
    blocks += 1;
    bytes += block.bytes;
    return weight >= unitWeight || blocks >= UNIT_BLOCKS_MAX || bytes >= UNIT_BYTES_MAX;
  };
}

interface Unit {
  readonly unit: readonly SourceBlock[];
  readonly next: number;
  /** Hash of the block before; null at the start of the stream. */
  readonly parent: string | null;
}

interface ProvenUnit {
  readonly blocks: readonly ProvenBlock[];
  /** Belongs to the block after them. */
  readonly lack: SourceError | null;
}

/** @throws SourceError if a block is not what it must be, or the branch is another one */
async function proveUnit(
  reading: SourceReading,
  chosen: ChosenSource,
  { unit, next, parent }: Unit,
  signal: AbortSignal,
): Promise<ProvenUnit> {
  const proven: SourceBlock[] = [];
  let lack: SourceError | null = null;
  let expected = next;
  let previous = parent;
  for (const block of await withHeaders(reading, unit, signal)) {
    const { number, hash, parentHash } = block.block.header;
    if (number !== expected) throw faultOf(chosen, `sent block ${number} instead of ${expected}`);
    if (previous !== null && parentHash !== previous)
      throw faultOf(chosen, `block ${number} does not follow the one before`);
    const contradiction = await contradictionOf(reading, block);
    const receipts = reading.transactions
      ? withDerivedFees(block.block, block.receipts, reading.chain)
      : block.receipts;
    if (contradiction?.isLack === false)
      throw faultOf(chosen, `block ${number} does not hold: ${contradiction.what}`);
    if (contradiction !== null || receipts === null) {
      const what = contradiction?.what ?? 'its fees do not follow from its transactions';
      lack = faultOf(chosen, `block ${number} can't be proven: ${what}`, 'lacking');
      break;
    }
    proven.push({ ...block, receipts });
    expected += 1;
    previous = hash;
  }
  await requireCanonical(reading, chosen, proven.at(-1), signal);
  return { blocks: proven.map((block) => provenBlock(reading, chosen, block)), lack };
}

/** From nodes, where the source can't name all fields, or the chain has its own: the node's hash is then the anchor. */
async function withHeaders(
  { pool, chain, transactions }: SourceReading,
  unit: readonly SourceBlock[],
  signal: AbortSignal,
): Promise<readonly SourceBlock[]> {
  const hasOwnFields = ({ header }: SourceBlock['block']): boolean =>
    !chain.headerHash && checkHeaderHash(header.raw, header.hash).result !== 'verified';
  const numbers = unit
    .filter(
      ({ block, lacks, isCanonical }) =>
        !isCanonical && (lacks.length > 0 || hasOwnFields(block) || (transactions && !isDerivable(block.header))),
    )
    .map(({ block }) => block.header.number);
  if (numbers.length === 0) return unit;
  const headers = new Map<number, BlockHeader>();
  for (const { value } of await pool.getHeaders(numbers, { signal, background: true }))
    headers.set(value.number, value);
  return unit.map((one) => {
    const header = headers.get(one.block.header.number);
    return header === undefined ? one : { ...one, block: { ...one.block, header }, isCanonical: true };
  });
}

/** Parent links extend it to the whole unit. */
async function requireCanonical(
  { pool }: SourceReading,
  chosen: ChosenSource,
  last: SourceBlock | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (last === undefined || last.isCanonical) return;
  const { number, hash } = last.block.header;
  // Invariant: PROOF-SOURCE-CANONICAL
  await requireAtNodes(pool, chosen, { number, hash }, signal);
}

function provenBlock(
  { transactions, chain }: SourceReading,
  { source }: ChosenSource,
  { block, receipts, isCanonical }: SourceBlock,
): ProvenBlock {
  const header = transactions && !isCanonical ? derivedHeader(block, chain) : block.header;
  return {
    header,
    block: { ...block, header },
    receipts,
    logs: receipts.flatMap(({ logs }) => logs),
    internalTransfers: null,
    internalTransactions: null,
    level: 'receipts',
    reason: null,
    parts: transactions ? { transactions: { level: 'receipts', reason: null } } : {},
    upstream: source.name,
    isFromSource: true,
  };
}

function lackedBy(chosen: ChosenSource, [block]: readonly SourceBlock[]): SourceError {
  const fields = block?.lacks.map(({ field }) => field).join(', ');
  return faultOf(chosen, `lacks ${fields} of block ${block?.block.header.number}`, 'lacking');
}

interface SourceTrial {
  /** Blocks that were proven, from the start of the range. */
  readonly blocks: number;
  /** Null: the source returned no wrong or incomplete block. */
  readonly failure: SourceError | null;
}

/** Reads whole blocks as a backfill does, and writes nothing. */
export async function proveSourceRange(
  reading: Omit<SourceReading, 'unitWeight'>,
  source: BlockSource,
  range: BlockRange,
  signal: AbortSignal,
): Promise<SourceTrial> {
  let blocks = 0;
  const failures: unknown[] = [];
  const chosen = {
    source,
    range,
    succeeded(proven: BlockRange): void {
      blocks += rangeSize(proven);
    },
    completed: (): void => undefined,
    failed(error: unknown): void {
      if (!isOfFile(error)) failures.push(error);
    },
  };
  for await (const _ of readSourceBlocks({ ...reading, unitWeight: UNIT_WEIGHT }, chosen, signal));
  const [error] = failures;
  if (error === undefined) return { blocks, failure: null };
  // Nodes that fail are no failure of the source.
  if (!(error instanceof SourceError)) throw error;
  return { blocks, failure: error };
}

const UNIT_WEIGHT = 6_000;
