/** Recorded and real blocks from each source of history: for every dataset, the rows that a backfill from nodes writes. */
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import type { BlockSource } from '@chainstead/sources';
import { openEraSource, openHyperSyncSource, openPortalSource } from '@chainstead/sources/open';
import {
  type ChainSource,
  chainOfBlocks,
  listenOnLoopback,
  loadRecordedChain,
  recordedData,
  type SourceServer,
  serveHyperSync,
  servePortal,
  writeEraFolder,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { readBlockRows } from 'chainstead/src/testing/block-rows.ts';
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
  transactions: { mode: 'all', input: 'full', verifiesSenders: false },
  logs: 'all',
  swaps: 'all',
});

const eth = keepingAll(KNOWN.get('eth'));
const ETH = { chain: eth, name: 'ethereum' } as const;

/** Polygon's run of 66 blocks is alike. */
const RUN_MAX = 3;
/** The first has neither the block's size nor blob gas, which readers of sources derive; the second not all receipts. */
const INCOMPLETE: readonly number[] = [19_529_493, 22_743_478];

/** Blocks that are proven, at least; or why none is; null: not read, as roots don't contain all that is stored. */
type Proven = number | RegExp | null;
const NOT_READ = [null, null] as const;
const MISMATCH = [/does not hold: root-mismatch/, /does not hold: root-mismatch/] as const;

/** By a Portal and by a HyperSync: deposits have a field that Portals don't send. */
const PROVEN: Readonly<Record<string, readonly [portal: Proven, hyperSync: Proven]>> = {
  ...{ ethereum: [12, 12], arbitrum: [1, 1], optimism: [1, 1], mumbai: [1, 1] },
  ...{ 'devnet-7011893062': [1, 1], 'tempo-moderato': [1, 1] },
  ...{ base: [/lacks .*sourceHash/, 1], 'base-goerli': [/lacks .*sourceHash/, 1] },
  ...{ cronos: NOT_READ, hyperliquid: NOT_READ, polygon: NOT_READ },
  ...{ ropsten: MISMATCH, 'stable-testnet': [/log-index-mismatch/, /root-mismatch/] },
};

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
  const { blocks = [], ...rows } = await readBlockRows(database, filling.chain.id);
  // Parents of blocks are not read with filtered logs.
  return { rows: filling.backfillProof === 'none' ? rows : { ...rows, blocks }, status };
}

/** Closed when the test ends. */
async function serving(server: Promise<SourceServer>): Promise<string> {
  const { url, close } = await server;
  onTestFinished(() => close());
  return url;
}

const countRows = (rows: Readonly<Record<string, readonly string[]>>): number =>
  Object.values(rows).reduce((sum, table) => sum + table.length, 0);
const blocksOf = (ranges: readonly BlockRange[]): number =>
  ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
describe.skipIf(isMissing)(title('recorded blocks'), () => {
  const chainIds: Record<string, number> = isMissing
    ? {}
    : JSON.parse(readFileSync(join(folder, 'chain-ids.json'), 'utf8'));
  const additional = Object.entries(chainIds)
    .filter(([, id]) => KNOWN.find(id) === null)
    .map(([key, id]) => ({ key, id }));
  const chains = createChainRegistry({ additional });

  // First filtered logs, with whole blocks for transactions; then whole blocks for logs too, in their place.
  describe.each(['none', 'receipts'] as const)('with the proof %s', (backfillProof) => {
    test.each(Object.entries(chainIds))(
      'of %s give the same rows from a Portal and a HyperSync',
      async (name, id) => {
        const found = chains.get(id);
        const chain = backfillProof === 'none' && found.uncommitted === 'none' ? keepingAll(found) : found;
        const served = await loadRecordedChain({ folder, chain: name });
        const ranges = recordedRanges(folder, name)
          .filter(({ from }) => !INCOMPLETE.includes(from))
          .map(({ from, to }) => ({ from, to: Math.min(to, from + RUN_MAX) }));
        const filling = { chain, name, backfillProof, ranges, served, again: backfillProof === 'receipts' };
        const { rows } = await fill('nodes', filling);
        const nested = { faults: { nestedLists: true } };
        const portal = openPortalSource({ url: await serving(servePortal(served)), chain });
        const ofPortal = await fill('portal', filling, portal);
        expect(ofPortal.rows).toEqual(rows);
        const hyperSync = openHyperSyncSource({ url: await serving(serveHyperSync(served, nested)), chain });
        const ofHyperSync = await fill('hypersync', filling, hyperSync);
        expect(ofHyperSync.rows).toEqual(rows);
        const [portalProves, hyperSyncProves] = PROVEN[name] ?? NOT_READ;
        for (const [{ status }, expected] of [
          [ofPortal, portalProves],
          [ofHyperSync, hyperSyncProves],
        ] as const) {
          if (backfillProof === 'none') expect(status?.uses.logs.blocks).toBe(blocksOf(ranges));
          else if (expected === null) expect(status?.uses.blocks).toMatchObject({ blocks: 0, failures: 0 });
          else if (typeof expected === 'number')
            expect(status?.uses.blocks.blocks).toBeGreaterThanOrEqual(expected);
          else expect(status?.uses.blocks).toMatchObject({ blocks: 0, reason: expect.stringMatching(expected) });
        }
      },
    );
  });
});

describe.skipIf(isMissing || PROOFS.isMissing)(PROOFS.title('era files'), () => {
  async function folderWith(path: string): Promise<string> {
    const own = await mkdtemp(join(tmpdir(), 'era-'));
    onTestFinished(() => rm(own, { recursive: true }));
    await cp(path, own, { recursive: true });
    return own;
  }

  test.each([
    ['era1', { from: 14_000_020, to: 14_000_020 }],
    ['ere', { from: 14_000_021, to: 14_000_021 }],
  ] as const)('%s of recorded blocks give the rows of nodes', async (format, range) => {
    const served = withoutDifficulty(await loadRecordedChain({ folder, chain: ETH.name }));
    const own = await mkdtemp(join(tmpdir(), 'era-'));
    onTestFinished(() => rm(own, { recursive: true }));
    await writeEraFolder({ folder: own, network: 'mainnet', format, blocks: served.blocksIn(range) });
    const filling = { ...ETH, backfillProof: 'receipts', ranges: [range], served } as const;
    const { rows } = await fill('nodesOfEra', filling);
    const ofEra = await fill('era', filling, openEraSource({ folder: own, chain: eth }));
    expect(ofEra.status?.uses.blocks).toMatchObject({ blocks: blocksOf([range]), failures: 0 });
    expect(ofEra.rows).toEqual(rows);
  });

  test('real ones give the rows of nodes', async () => {
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

  test.each(['ere', 'e2hs'])(
    'an %s file whose proofs a list contradicts is left to nodes, by name',
    async (format) => {
      const range = { from: 19_426_586, to: 19_426_587 };
      const served = await constructedChain(range);
      const filling = { ...ETH, backfillProof: 'receipts', ranges: [range], served } as const;
      const { rows } = await fill('nodesOfEra', filling);
      const own = await mkdtemp(join(tmpdir(), 'era-'));
      onTestFinished(() => rm(own, { recursive: true }));
      const name = `mainnet-02371-f8e2f40d.${format}`;
      await cp(join(PROOFS.folder, 'files', name), join(own, name));
      const list = await readFile(join(PROOFS.folder, 'lists/historical-summaries-with-proof-epoch-364328.ssz'));
      const others = list.subarray(SUMMARIES_START).map((byte) => byte ^ 1);
      await writeFile(join(own, 'historical-summaries.ssz'), others);
      const ofEra = await fill('era', { ...filling, again: true }, openEraSource({ folder: own, chain: eth }));
      expect(ofEra.rows).toEqual(rows);
      expect(ofEra.status?.uses.blocks).toMatchObject({
        blocks: 0,
        reason: expect.stringContaining(`${name}: the proof of block 19426586 is wrong`),
      });
    },
  );
});

/** Epoch, offset, six proof nodes; then the entries. */
const SUMMARIES_START = 204;

/** As new nodes have blocks, and files of which the public list proves no difficulty. */
function withoutDifficulty(chain: ChainSource): ChainSource {
  const blocks = [...chain.blocksIn({ from: 0, to: Number.MAX_SAFE_INTEGER })];
  return chainOfBlocks(
    chain.chainId,
    blocks.map(({ header: { totalDifficulty: _, ...header }, ...block }) => ({ ...block, header })),
  );
}

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
