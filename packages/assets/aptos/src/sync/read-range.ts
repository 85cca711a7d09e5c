import { type BlockRange, rangeSize } from '@chainstead/core';
import { readAhead } from '@chainstead/sync/ingest';
import type { AptosDataset, DecodedRows } from '../dataset.ts';
import type { FullnodePage } from '../fullnode/fullnodes.ts';
import type { Markers } from '../fullnode/read-page.ts';
import { BLOCK_MARKER, createBlockHeights } from './block-heights.ts';
import type { BatchLimits, VersionWork } from './options.ts';

export interface VersionBatch {
  readonly range: BlockRange;
  readonly decoded: readonly { readonly dataset: string; readonly rows: DecodedRows }[];
  readonly root: string;
  readonly fullnode: string;
}

const PAGE_VERSIONS = 100;
const PAGES_AHEAD = 4;
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
  const reads = readAhead(spans, PAGES_AHEAD, (index) => {
    const from = range.from + index * PAGE_VERSIONS;
    return readSpan(fullnodes, markers, { from, to: Math.min(range.to, from + PAGE_VERSIONS - 1) }, stop);
  });
  try {
    for await (const pages of reads) yield* pages;
  } finally {
    left.abort();
  }
}

async function readSpan(
  fullnodes: VersionWork['fullnodes'],
  markers: Markers,
  { from, to }: BlockRange,
  signal: AbortSignal,
): Promise<FullnodePage[]> {
  const pages: FullnodePage[] = [];
  for (let next = from; next <= to; ) {
    const page = await fullnodes.page(next, to - next + 1, markers, signal);
    pages.push(page);
    next = page.last + 1;
  }
  return pages;
}
