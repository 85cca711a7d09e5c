/** A chain without nodes whose era files lack blocks: its head, and the histories that are requested. */
import { createMetricsRegistry, mergeRanges } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import type { BlockSource } from '@chainstead/sources';
import { createEraPool, openPortalSource } from '@chainstead/sources/open';
import { addressOf, servePortal } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createChainSync } from '../chain-sync.ts';
import { listSubjectRanges } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { enqueueHistory } from './enqueue-history.ts';
import { readHistories } from './history-record.ts';
import { readHistory } from './read-history.ts';

const BLOCKS = 60;
const scratch = scratchOfFile();
const ofWallets: Dataset = {
  ...(marks as Dataset),
  histories: { ofWallet: (chain) => [{ topics: marks.topics(chain) }], ofContract: () => [] },
};
let nextChainId = 983_001;

beforeAll(() => createMarkTables(scratch.database));

type Ranges = Awaited<ReturnType<BlockSource['available']>>;

/** A stage whose pool serves only the blocks of files, which a public list contains. @param facts the chain's sync sets its start */
async function openNodeless(files: () => Ranges, facts?: { readonly reorgDepthMax: number }) {
  const { database } = scratch;
  const stage = await openScriptedStage(database, nextChainId++, [ofWallets], {
    ...{ blocks: BLOCKS, finalityDepth: 0, isSigned: true },
    ...(facts ? { facts, firstFollowed: null } : { firstFollowed: BLOCKS + 1 }),
  });
  onTestFinished(() => stage.close());
  const { chain, clock, logger } = stage;
  const portal = await servePortal(stage.scripted);
  onTestFinished(() => portal.close());
  const whole = openPortalSource({ url: portal.url, chain, clock });
  const source: BlockSource = {
    ...whole,
    available: async () => files(),
    async *readBlocks(range, options, signal) {
      const file = files().find(({ from, to }) => from <= range.from && range.from <= to);
      if (file === undefined) return;
      const inFile = { from: range.from, to: Math.min(range.to, file.to) };
      for await (const block of whole.readBlocks(inFile, options, signal)) yield { ...block, isCanonical: true };
    },
  };
  const nodeless = createUpstreamPool({ chain, upstreams: [], logger, metrics: createMetricsRegistry(), clock });
  // Files are listed again at each read.
  let now = 0;
  const hurried = { ...clock, now: () => (now += 60_000) };
  const pool = createEraPool({ chain, clock: hurried, sources: [source], nodeless });
  onTestFinished(() => pool.close());
  const subject = { chainId: chain.id, kind: 'wallet', address: addressOf(1) } as const;
  const options = { ...stage, pool, datasets: [ofWallets], maxCalls: 1_000, sliceMs: 1e9 };
  const { signal } = new AbortController();
  return {
    stage,
    pool,
    chain,
    request: () => enqueueHistory(database, { subject, requestedBy: null, perKey: 10, maxCalls: 1_000 }),
    read: () => readHistory(options, subject, signal),
    covered: async () => mergeRanges((await listSubjectRanges(database, subject)).map(({ range }) => range)),
    error: async () =>
      (await readHistories(database, 10)).unfinished.find((one) => one.subject.chainId === chain.id)?.error,
    async restForHours() {
      await database.query(
        sql`UPDATE backfill_requests SET updated_at = now() - interval '2 hours' WHERE chain_id = ${chain.id}`,
      );
    },
  };
}

test.each([
  ['below the first file', [{ from: 31, to: BLOCKS }], 30],
  [
    'in a hole',
    [
      { from: 0, to: 19 },
      { from: 31, to: BLOCKS },
    ],
    30,
  ],
])('it is refused at the blocks %s, and is read once the files are there', async (_name, ranges, lacking) => {
  let files: Ranges = ranges;
  const history = await openNodeless(() => files);
  expect(await history.request()).toBe('requested');
  expect(await history.read()).toBe('refused');
  expect(await history.covered()).toEqual([{ from: lacking + 1, to: BLOCKS }]);
  expect(await history.error()).toEqual({
    code: 'FILES_LACK_BLOCKS',
    message: expect.stringMatching(
      new RegExp(`has block ${lacking}\\. Add the file .*RPC_URLS_STAGE_${history.chain.id}$`),
    ),
  });
  expect(await history.request()).toBe('known');
  files = [{ from: 0, to: BLOCKS }];
  await history.restForHours();
  expect(await history.request()).toBe('requested');
  expect(await history.read()).toBe('done');
  expect(await history.covered()).toEqual([{ from: 0, to: BLOCKS }]);
});

test('a chain indexes the blocks below a hole above its head, then stops and names the block', async () => {
  const files = [
    { from: 0, to: 30 },
    { from: 41, to: BLOCKS },
  ];
  const FIRST_FOLLOWED = 28;
  const { stage, pool } = await openNodeless(() => files, { reorgDepthMax: BLOCKS - FIRST_FOLLOWED });
  const atHole = Promise.withResolvers<void>();
  const gated: typeof pool = {
    ...pool,
    async getWholeBlock(at, options) {
      // The backfill reads nothing until the follower is at the hole.
      if (typeof at === 'number' && at < FIRST_FOLLOWED) await atHole.promise;
      return pool.getWholeBlock(at, options).catch((error: unknown) => {
        atHole.resolve();
        throw error;
      });
    },
  };
  const settings = {
    startBlock: 1,
    endBlock: null,
    proof: 'strict',
    backfillProof: 'receipts',
    backfillOrder: 'newest-first',
    verifyBlocksPerSecond: 1_000,
  } as const;
  const ending = new AbortController();
  const running = createChainSync({ ...stage, pool: gated, settings }).run(ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await running;
  });
  await vi.waitFor(async () => {
    const [stopped] = await scratch.database.query(
      sql`SELECT checkpoint, stop_code, stop_message FROM sync_chains WHERE chain_id = ${stage.chain.id}`,
    );
    expect(stopped).toMatchObject({
      ...{ checkpoint: 30, stopCode: 'FILES_LACK_BLOCKS' },
      stopMessage: expect.stringContaining('has block 31. Add the file'),
    });
  }, 20_000);
  expect(await stage.coverageOf(marks)).toEqual({ ranges: [{ from: 1, to: 30 }], levels: ['receipts'] });
});
