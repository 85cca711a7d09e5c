import { type BlockRange, rangeSize } from '@chainstead/core';
import { readAhead } from '@chainstead/sync/ingest';
import type { AptosDataset, DecodedRows } from '../dataset.ts';
import { FullnodeFault } from '../fullnode/errors.ts';
import type { FullnodePage, Fullnodes } from '../fullnode/fullnodes.ts';
import { wholeNumber } from '../fullnode/ledger-info.ts';
import type { Markers } from '../fullnode/read-page.ts';
import { jsonObject } from '../rows/insert-rows.ts';
import type { AptosTransaction } from '../transaction.ts';
import type { BatchLimits, VersionWork } from './options.ts';

export interface VersionBatch {
  readonly range: BlockRange;
  readonly decoded: readonly { readonly dataset: string; readonly rows: DecodedRows }[];
  readonly root: string;
  readonly fullnode: string;
}

const PAGE_VERSIONS = 100;
const PAGES_AHEAD = 4;
/** Read ahead of each span: its pages may be of one large transaction each. */
const SPAN_BYTES_AHEAD = 16 * 1024 * 1024;
const DEFAULT_BATCH: BatchLimits = { versions: 10_000, rows: 10_000 };

export async function* readRange(
  work: VersionWork,
  datasets: readonly AptosDataset[],
  range: BlockRange,
  signal: AbortSignal,
): AsyncGenerator<VersionBatch> {
  const { fullnodes } = work;
  const limits = { ...DEFAULT_BATCH, ...work.batch };
  const heights = datasets.some(({ needsBlockHeights }) => needsBlockHeights)
    ? createBlockHeights(fullnodes)
    : null;
  const noHeight = (): never => {
    throw new TypeError('A dataset asks for block heights without saying so');
  };
  let batch = startBatch(range.from);
  for await (const page of pagesOf(work, markersOf(datasets), range, signal)) {
    const blockHeight = heights === null ? noHeight : await heights.ofPage(page.transactions, signal);
    const slice = { network: fullnodes.network, transactions: page.transactions, blockHeight };
    if (page.transactions.length > 0)
      for (const dataset of datasets) {
        const rows = dataset.derive(slice);
        if (rows.count === 0) continue;
        batch.decoded.push({ dataset: dataset.name, rows });
        batch.rows += rows.count;
      }
    if (page.last < range.to && page.last - batch.from + 1 < limits.versions && batch.rows < limits.rows)
      continue;
    const { from, decoded } = batch;
    yield { range: { from, to: page.last }, decoded, root: page.root, fullnode: page.fullnode };
    batch = startBatch(page.last + 1);
  }
}

function startBatch(from: number): {
  from: number;
  rows: number;
  decoded: { dataset: string; rows: DecodedRows }[];
} {
  return { from, rows: 0, decoded: [] };
}

function markersOf(datasets: readonly AptosDataset[]): Markers {
  const markers = new Set<string>();
  for (const dataset of datasets) {
    if (dataset.markers === null) return null;
    for (const marker of dataset.markers) markers.add(marker);
    if (dataset.needsBlockHeights) markers.add(BLOCK_MARKER);
  }
  return [...markers].map((marker) => Buffer.from(marker));
}

async function* pagesOf(
  { fullnodes }: VersionWork,
  markers: Markers,
  range: BlockRange,
  signal: AbortSignal,
): AsyncGenerator<FullnodePage> {
  const left = new AbortController();
  const stop = AbortSignal.any([signal, left.signal]);
  const spans = { from: 0, to: Math.ceil(rangeSize(range) / PAGE_VERSIONS) - 1 };
  const read = (from: number, to: number) => fullnodes.page(from, to - from + 1, markers, stop);
  const reads = readAhead(spans, PAGES_AHEAD, async (index) => {
    const from = range.from + index * PAGE_VERSIONS;
    return readSpan(read, { from, to: Math.min(range.to, from + PAGE_VERSIONS - 1) });
  });
  try {
    for await (const { pages, rest } of reads) {
      for (let page = pages.shift(); page !== undefined; page = pages.shift()) yield page;
      for (let next = rest.from; next <= rest.to; ) {
        const page = await read(next, rest.to);
        yield page;
        next = page.last + 1;
      }
    }
  } finally {
    left.abort();
  }
}

/** `rest`: what {@link SPAN_BYTES_AHEAD} left. */
async function readSpan(
  read: (from: number, to: number) => Promise<FullnodePage>,
  { from, to }: BlockRange,
): Promise<{ readonly pages: FullnodePage[]; readonly rest: BlockRange }> {
  const pages: FullnodePage[] = [];
  let next = from;
  for (let bytes = 0; next <= to && bytes < SPAN_BYTES_AHEAD; ) {
    const page = await read(next, to);
    pages.push(page);
    bytes += page.bytes;
    next = page.last + 1;
  }
  return { pages, rest: { from: next, to } };
}

const BLOCK_MARKER = 'block_metadata_transaction';

/** A block begins with its height: only versions before the first one need a request. */
export function createBlockHeights(fullnodes: Pick<Fullnodes, 'block'>) {
  let current: number | null = null;
  return {
    /** In order, at least those with {@link BLOCK_MARKER}. */
    async ofPage(
      transactions: readonly AptosTransaction[],
      signal: AbortSignal,
    ): Promise<(version: number) => number> {
      const starts: { version: number; height: number }[] = [];
      for (const transaction of transactions) {
        const isStart = transaction.type === BLOCK_MARKER;
        if (!isStart && (current !== null || starts.length > 0)) continue;
        const reported = isStart ? heightReported(transaction) : null;
        const height = reported ?? (await fullnodes.block(transaction.version, signal)).height;
        starts.push({ version: transaction.version, height });
      }
      const before = current;
      current = starts.at(-1)?.height ?? current;
      return (version) => {
        const height = starts.findLast((start) => start.version <= version)?.height ?? before;
        if (height === null) throw new FullnodeFault('malformed', `the block of version ${version} is not known`);
        return height;
      };
    },
  };
}

function heightReported({ events, changes }: AptosTransaction): number | null {
  for (const { type, data } of events)
    if (type === '0x1::block::NewBlockEvent' || type === '0x1::block::NewBlock') {
      const height = wholeNumber(jsonObject(data)?.height);
      if (height !== undefined) return height;
    }
  for (const { data } of changes)
    if (jsonObject(data)?.type === '0x1::block::BlockResource')
      return wholeNumber(jsonObject(jsonObject(data)?.data)?.height) ?? null;
  return null;
}
