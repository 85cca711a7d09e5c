/** Recorded and real blocks from each source of history: for every dataset, the rows that a backfill from nodes writes. */
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import {
  type BlockSource,
  openEraSource,
  openHyperSyncSource,
  openPortalSource,
  type SourceStatus,
} from '@chainstead/sources';
import { datasetsOf } from '@chainstead/sync/datasets';
import {
  type ChainSource,
  chainOfBlocks,
  listenOnLoopback,
  loadRecordedChain,
  readTableRows,
  recordedData,
  type SourceServer,
  serveHyperSync,
  servePortal,
  type TableRows,
  writeEraFolder,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { indexRecordedBlocks, recordedRanges } from './recorded-blocks.ts';

const { folder, isMissing, title } = recordedData('data/evm');
const PROOFS = recordedData('data/proofs');
/** Each fills its own tables. */
const scratches = {
  ...{ nodes: scratchOfFile(), portal: scratchOfFile(), hypersync: scratchOfFile() },
  ...{ nodesOfEra: scratchOfFile(), era: scratchOfFile() },
};
type From = keyof typeof scratches;

const KNOWN = createChainRegistry();

/** With transactions, headers, logs and swaps of every block; traces were not recorded. */
const keepingAll = (chain: Chain): Chain => ({
  ...chain,
  transactions: { mode: 'all', input: 'full', verifiesSenders: true },
  logs: 'all',
  swaps: 'all',
});

const eth = keepingAll(KNOWN.get('eth'));
const ETH = { chain: eth, name: 'ethereum' } as const;

interface Filling {
  readonly chain: Chain;
  readonly name: string;
  readonly backfillProof: 'none' | 'receipts';
  readonly ranges: readonly BlockRange[];
  readonly served: ChainSource;
  readonly again?: boolean;
}

async function fill(from: From, filling: Filling, source?: BlockSource) {
  const { database } = scratches[from];
  const [status] = await indexRecordedBlocks({ ...filling, database, folder, ...(source && { source }) });
  const rows = await readTableRows(database, filling.chain.id, datasetsOf(filling.chain, datasets));
  return { rows, status };
}

/** Closed when the test ends. */
async function serving(server: Promise<SourceServer>): Promise<string> {
  const { url, close } = await server;
  onTestFinished(() => close());
  return url;
}

const countRows = (rows: TableRows): number => Object.values(rows).reduce((sum, table) => sum + table.length, 0);
const blocksOf = (ranges: readonly BlockRange[]): number => ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
const readOf = (status: SourceStatus | undefined): number =>
  (status?.uses.blocks.blocks ?? 0) + (status?.uses.logs.blocks ?? 0);

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  const chainIds: Record<string, number> = isMissing
    ? {}
    : JSON.parse(readFileSync(join(folder, 'chain-ids.json'), 'utf8'));
  const additional = Object.entries(chainIds)
    .filter(([, id]) => KNOWN.find(id) === null)
    .map(([key, id]) => ({ key, id }));
  const chains = createChainRegistry({ additional });

  // Filtered logs first, then whole blocks in their place.
  describe.each(['none', 'receipts'] as const)('with the proof %s', (backfillProof) => {
    test.each(Object.entries(chainIds))('of %s give the same rows from a Portal and a HyperSync', async (name, id) => {
      const chain = keepingAll(chains.get(id));
      const served = await loadRecordedChain({ folder, chain: name });
      const ranges = recordedRanges(folder, name);
      const filling = { chain, name, backfillProof, ranges, served, again: backfillProof === 'receipts' };
      const { rows } = await fill('nodes', filling);
      const nested = { faults: { nestedLists: true } };
      const portal = openPortalSource({ url: await serving(servePortal(served)), chain });
      const ofPortal = await fill('portal', filling, portal);
      expect(ofPortal.rows).toEqual(rows);
      const hyperSync = openHyperSyncSource({ url: await serving(serveHyperSync(served, nested)), chain });
      const ofHyperSync = await fill('hypersync', filling, hyperSync);
      expect(ofHyperSync.rows).toEqual(rows);
      console.log(name, backfillProof, countRows(rows), blocksOf(ranges), readOf(ofPortal.status), readOf(ofHyperSync.status), ofPortal.status?.uses.blocks.reason, ofHyperSync.status?.uses.blocks.reason);
    });
  });
});

describe.skipIf(isMissing || PROOFS.isMissing)(PROOFS.title('era files'), () => {
  async function folderWith(path: string): Promise<string> {
    const own = await mkdtemp(join(tmpdir(), 'era-'));
    onTestFinished(() => rm(own, { recursive: true }));
    await cp(path, own, { recursive: true });
    return own;
  }

  test.each(['era1', 'ere'] as const)('%s of recorded blocks give the rows of nodes', async (format) => {
    const range = { from: 14_000_020, to: 14_000_021 };
    const served = await loadRecordedChain({ folder, chain: ETH.name });
    const own = await mkdtemp(join(tmpdir(), 'era-'));
    onTestFinished(() => rm(own, { recursive: true }));
    await writeEraFolder({ folder: own, network: 'mainnet', format, blocks: served.blocksIn(range) });
    const filling = { ...ETH, backfillProof: 'receipts', ranges: [range], served } as const;
    const { rows } = await fill('nodesOfEra', filling);
    const ofEra = await fill('era', filling, openEraSource({ folder: own, chain: eth }));
    expect(ofEra.status?.uses.blocks).toMatchObject({ blocks: 2, failures: 0 });
    expect(ofEra.rows).toEqual(rows);
  });

  test('real ones give the rows that nodes, a Portal and a HyperSync give', async () => {
    const range = { from: 19_426_586, to: 19_426_587 };
    const served = await constructedChain(range);
    const filling = { ...ETH, backfillProof: 'receipts', ranges: [range], served } as const;
    const { rows } = await fill('nodesOfEra', filling);
    expect(countRows(rows)).toBeGreaterThan(500);
    const files = await folderWith(join(PROOFS.folder, 'files'));
    const ofEra = await fill('era', filling, openEraSource({ folder: files, chain: eth }));
    expect(ofEra.status?.uses.blocks).toMatchObject({ blocks: 2, failures: 0 });
    expect(ofEra.rows).toEqual(rows);
  });
});

/** Real blocks in the form of a Portal, as a node has them. */
async function constructedChain(range: BlockRange): Promise<ChainSource> {
  const file = `portal-${range.from}-${range.to}.constructed.jsonl.gz`;
  const server = createServer((_, response) => {
    response.end(readFileSync(join(PROOFS.folder, 'sources', file)));
  });
  const { url, close } = await listenOnLoopback(server, 0);
  onTestFinished(() => close());
  const portal = openPortalSource({ url, chain: eth });
  onTestFinished(() => portal.close());
  const read = await Array.fromAsync(
    portal.readBlocks(range, { transactions: true }, new AbortController().signal),
  );
  const blocks = read.map(({ block: { header, transactions }, receipts }) => ({
    number: header.number,
    hash: header.hash,
    header: header.raw,
    transactions: transactions ?? [],
    receipts: receipts.map(({ raw }) => raw),
  }));
  return chainOfBlocks(eth.id, blocks);
}
