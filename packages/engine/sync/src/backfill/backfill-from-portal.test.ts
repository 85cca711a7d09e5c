import { sql } from '@chainstead/db';
import { createHistorySources, type HistorySources, openPortalSource } from '@chainstead/sources';
import { type JsonObject, type SourceFaultSettings, type SourceServer, servePortal } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listCoverage } from '../coverage/coverage.ts';
import { rangesFromSource } from '../coverage/source-ranges.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import {
  createWholeBlockTables,
  expectedOutcomes,
  outcomes,
  storedOutcomes,
} from '../testing/whole-block-datasets.ts';
import { backfill } from './backfill.ts';
import type { BackfillOptions } from './backfill-options.ts';

const PROVABLE = [outcomes, marks] as readonly Dataset[];
const BLOCKS = 90;
const RANGE = { from: 1, to: BLOCKS };
const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 961_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

interface SourceStage {
  readonly stage: ScriptedStage;
  readonly portal: SourceServer;
  readonly sources: HistorySources;
}

async function openStage(faults: Partial<SourceFaultSettings> = {}): Promise<SourceStage> {
  const stage = await openScriptedStage(scratch.database, nextChainId++, PROVABLE, {
    ...{ blocks: BLOCKS, finalityDepth: 0, isSigned: true },
  });
  onTestFinished(() => stage.close());
  const portal = await servePortal(stage.scripted, { faults });
  onTestFinished(() => portal.close());
  const { chain, clock, logger } = stage;
  const sources = createHistorySources({
    ...{ chain, clock, logger },
    sources: [openPortalSource({ url: portal.url, chain, clock })],
  });
  onTestFinished(() => sources.close());
  return { stage, portal, sources };
}

const optionsOf = ({ stage, sources }: SourceStage, changes: Partial<BackfillOptions> = {}): BackfillOptions => ({
  ...stage,
  ...{ sources, order: 'newest-first', proof: 'receipts', kind: 'add' },
  ...changes,
});

async function expectTruth({ stage }: SourceStage, datasets: readonly Dataset[] = PROVABLE): Promise<void> {
  const { chain, scripted, database } = stage;
  const { stored, expected } = await stage.marksOf(RANGE.from, RANGE.to);
  expect(stored).toBe(expected);
  if (datasets.includes(outcomes as Dataset))
    expect(await storedOutcomes(database, chain.id)).toEqual(expectedOutcomes(scripted, RANGE));
  expect(await misderived(database, chain.id)).toEqual([]);
  for (const dataset of datasets) expect((await stage.coverageOf(dataset)).ranges).toEqual([RANGE]);
}

describe('a backfill with a Portal', () => {
  it.each(['newest-first', 'oldest-first'] as const)('proves whole blocks of it, %s', async (order) => {
    const own = await openStage();
    await backfill(optionsOf(own, { order }), [RANGE], never);
    await expectTruth(own);
    for (const dataset of PROVABLE) expect((await own.stage.coverageOf(dataset)).levels).toEqual(['receipts']);
    // The pool's own check of the node.
    expect(own.stage.callsOf('eth_getBlockReceipts')).toBeLessThanOrEqual(1);
    expect(own.sources.statuses()[0]?.uses.blocks).toEqual({
      blocks: BLOCKS,
      failures: 0,
      reason: null,
      until: null,
    });
  });

  it('reads filtered logs of it, which nothing proves', async () => {
    const own = await openStage();
    const datasets = [marks] as readonly Dataset[];
    await backfill(optionsOf(own, { datasets, proof: 'none' }), [RANGE], never);
    await expectTruth(own, datasets);
    expect((await own.stage.coverageOf(marks)).levels).toEqual(['none']);
    expect(own.stage.callsOf('eth_getLogs')).toBe(0);
    expect(own.sources.statuses()[0]?.uses.logs.blocks).toBe(BLOCKS);
  });

  it('reads what it lacks at the end from nodes, and names it in the coverage of its blocks', async () => {
    const own = await openStage({ servedTo: 50, pageBlocks: 7 });
    await backfill(optionsOf(own, { order: 'oldest-first' }), [RANGE], never);
    await expectTruth(own);
    const coverage = await listCoverage(own.stage.database, own.stage.chain.id);
    const [{ name = '' } = {}] = own.sources.statuses();
    expect(rangesFromSource(coverage, name)).toEqual([{ from: 1, to: 50 }]);
    expect(new Set(coverage.map(({ upstream }) => upstream))).toEqual(new Set([name, null]));
    expect(coverage).toHaveLength(2 * PROVABLE.length);
    expect(own.stage.callsOf('eth_getBlockReceipts')).toBeLessThanOrEqual(BLOCKS - 50 + 5);
  });

  it('puts what it reads anew in the place of what was there', async () => {
    const own = await openStage({ servedTo: 50 });
    await backfill(optionsOf(own), [RANGE], never);
    await backfill(optionsOf(own, { kind: 'replace', order: 'oldest-first' }), [RANGE], never);
    await expectTruth(own);
  });
});

const AT = 40;
type Lines = Readonly<Record<'header' | 'transactions' | 'logs', JsonObject & readonly JsonObject[]>>;

/** Changes the line of a block in the middle, if it has what is to be changed. */
const lieAt =
  (change: (line: Lines) => JsonObject | null, at = AT) =>
  (line: JsonObject): JsonObject | null =>
    (line.header as JsonObject).number === at ? change(line as Lines) : line;

const withHeader = (changes: JsonObject) =>
  lieAt((line) => ({ ...line, header: { ...line.header, ...changes } }));
const someHash = `0x${'ab'.repeat(32)}`;

// Invariant: PROOF-SOURCE-CANONICAL
describe('a Portal that lies', () => {
  const first = ({ transactions }: Lines): JsonObject => transactions[0] as JsonObject;
  const withFirst = (changes: (transaction: JsonObject) => JsonObject) =>
    lieAt((line) => ({
      ...line,
      transactions: [{ ...first(line), ...changes(first(line)) }, ...line.transactions.slice(1)],
    }));
  it.each<readonly [string, (line: JsonObject) => JsonObject | null, RegExp]>([
    ['drops a log', lieAt((line) => ({ ...line, logs: line.logs.slice(1) })), /root-mismatch|log-index/],
    [
      'drops a transaction',
      lieAt((line) => ({ ...line, transactions: line.transactions.slice(1) })),
      /ransaction/,
    ],
    [
      'changes an amount',
      lieAt((line) => ({ ...line, logs: line.logs.map((log) => ({ ...log, data: `0x${'11'.repeat(32)}` })) })),
      /root-mismatch/,
    ],
    ['changes a field of a header', withHeader({ gasLimit: '0x1' }), /header-hash-mismatch/],
    ['changes a time', withHeader({ timestamp: 5 }), /header-hash-mismatch|times/],
    ['names another hash', withHeader({ hash: someHash }), /hash|follow/],
    ['names another parent', withHeader({ parentHash: someHash }), /follow|hash|parent/],
    ['leaves out a block', lieAt(() => null), /instead of|hole|missing|block/],
    ['names another sender', withFirst(() => ({ from: `0x${'12'.repeat(20)}` })), /sender|receipt-mismatch/],
    ['names another use of gas', withFirst(() => ({ gasUsed: '0x1' })), /receipt-mismatch/],
    ['changes a transaction', withFirst(() => ({ value: '0x123' })), /transaction-hash-mismatch/],
  ])('%s: no row is wrong or missing, and the reason is told', async (_name, tamper, reason) => {
    const own = await openStage({ tamper });
    const block = own.stage.scripted.blockAt(AT);
    expect(block?.receipts.some(({ logs }) => (logs as readonly unknown[]).length > 0)).toBe(true);
    await backfill(optionsOf(own, { order: 'oldest-first' }), [RANGE], never);
    await expectTruth(own);
    const [status] = own.sources.statuses();
    expect(status?.uses.blocks.reason).toMatch(reason);
    expect(status?.uses.blocks.reason).toContain(status?.name);
  });

  it('names a fee that does not follow from transaction and header: the block is read from nodes', async () => {
    const own = await openStage({ tamper: withFirst(() => ({ effectiveGasPrice: '0x1' })) });
    const before = own.stage.callsOf('eth_getBlockReceipts');
    await backfill(optionsOf(own, { order: 'oldest-first' }), [RANGE], never);
    await expectTruth(own);
    expect(own.stage.callsOf('eth_getBlockReceipts')).toBeGreaterThan(before);
    expect(own.sources.statuses()[0]?.uses.blocks.blocks).toBeGreaterThanOrEqual(AT - 1);
  });

  it('serves another branch: the hash of a node decides', async () => {
    const own = await openStage();
    const { scripted } = own.stage;
    const abandoned = new Map(scripted.blocksIn(RANGE).map((block) => [block.number, block]));
    scripted.reorg(60, 60);
    const portal = await servePortal({
      ...scripted,
      head: BLOCKS,
      finalized: BLOCKS,
      firstBlock: 0,
      blockAt: (number) => abandoned.get(number),
    });
    onTestFinished(() => portal.close());
    const { chain, clock, logger } = own.stage;
    const sources = createHistorySources({
      ...{ chain, clock, logger },
      sources: [openPortalSource({ url: portal.url, chain, clock })],
    });
    onTestFinished(() => sources.close());
    await backfill(optionsOf({ ...own, sources }, { order: 'oldest-first' }), [RANGE], never);
    await expectTruth(own);
    expect(sources.statuses()[0]?.uses.blocks.reason).toMatch(/nodes have/);
  });
});

describe('a Portal that fails', () => {
  const status = (code: number, retryAfterSeconds?: number): Partial<SourceFaultSettings> => ({
    status: { rate: 0.6, status: code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
  });
  it.each<readonly [string, Partial<SourceFaultSettings>]>([
    ['responds 429', status(429)],
    ['responds 429 with a time to wait', status(429, 30)],
    ['responds 503', status(503)],
    ['responds 529 with a time to wait', status(529, 5)],
    ['responds 500', status(500)],
    ['responds 409', status(409)],
    ['responds 204 for ever', { emptyRate: 1 }],
    ['ends streams after a line', { cut: { rate: 1, afterLines: 5, where: 'line' } }],
    ['ends streams inside a line', { cut: { rate: 1, afterLines: 5, where: 'inside' } }],
    ['loses connections', { cut: { rate: 0.8, afterLines: 5, where: 'connection' } }],
    ['truncates gzip', { encoding: 'gzip', truncateRate: 0.7 }],
    ['returns few blocks a response, in zstd', { encoding: 'zstd', pageBlocks: 3 }],
    ['repeats a block', { tamper: repeated() }],
    ['returns HTML', { status: { rate: 1, status: 200, body: '<html>down for maintenance</html>' } }],
  ])('%s: no row is wrong or missing', async (_name, faults) => {
    const own = await openStage(faults);
    await backfill(optionsOf(own), [RANGE], never);
    await expectTruth(own);
  });

  function repeated(): (line: JsonObject) => JsonObject {
    let before: JsonObject | null = null;
    return (line) => {
      const sent = (line.header as JsonObject).number === AT && before !== null ? before : line;
      before = line;
      return sent;
    };
  }

  it('at any time, while transactions are lost', async () => {
    const own = await openStage({ pageBlocks: 10, cut: { rate: 0.3, afterLines: 4, where: 'connection' } });
    let transactions = 0;
    const database: typeof own.stage.database = {
      ...own.stage.database,
      transaction: (work) =>
        own.stage.database.transaction(async (transaction) => {
          const result = await work(transaction);
          transactions += 1;
          if (transactions % 3 === 0) throw new Error('The connection was lost before the commit');
          return result;
        }),
    };
    await backfill(optionsOf(own, { database }), [RANGE], never);
    await expectTruth(own);
    const claims = await own.stage.database.query(
      sql`SELECT * FROM sync_claims WHERE chain_id = ${own.stage.chain.id}`,
    );
    expect(claims).toEqual([]);
  });

  it('is exchanged for another one, after a stop in the middle', async () => {
    const own = await openStage();
    const stop = new AbortController();
    const database: typeof own.stage.database = {
      ...own.stage.database,
      transaction: (work) =>
        own.stage.database.transaction(work).finally(() => stop.abort(new Error('The process ends'))),
    };
    await expect(backfill(optionsOf(own, { database }), [RANGE], stop.signal)).rejects.toThrow(
      'The process ends',
    );
    const other = await servePortal(own.stage.scripted, { faults: { pageBlocks: 9 } });
    onTestFinished(() => other.close());
    const { chain, clock, logger } = own.stage;
    const sources = createHistorySources({
      ...{ chain, clock, logger },
      sources: [openPortalSource({ url: other.url, chain, clock })],
    });
    onTestFinished(() => sources.close());
    await backfill(optionsOf({ ...own, sources }), [RANGE], never);
    await expectTruth(own);
  });
});

it('a chain is followed by nodes above what a Portal has, through a reorg, and the prover reads the Portal', async () => {
  const stage = await openScriptedStage(scratch.database, nextChainId++, PROVABLE, {
    ...{ blocks: BLOCKS, finalityDepth: 8, isSigned: true, firstFollowed: null },
    facts: { pollIntervalMs: 10, reorgDepthMax: 8 },
  });
  onTestFinished(() => stage.close());
  const portal = await servePortal(stage.scripted);
  onTestFinished(() => portal.close());
  const { chain, clock, logger, scripted } = stage;
  const sources = createHistorySources({
    ...{ chain, clock, logger },
    sources: [openPortalSource({ url: portal.url, chain, clock })],
  });
  onTestFinished(() => sources.close());
  stage.sync([marks as Dataset], undefined, sources);
  await stage.untilCovered(marks, BLOCKS);
  scripted.reorg(6, 9);
  await stage.untilCovered(marks);
  await expect
    .poll(async () => (await stage.coverageOf(marks)).levels, { timeout: 20_000 })
    .toEqual(['receipts']);
  const { stored, expected } = await stage.marksOf(1, scripted.head);
  expect(stored).toBe(expected);
  const uses = sources.statuses()[0]?.uses;
  expect(uses?.logs.blocks).toBeGreaterThan(0);
  expect(uses?.blocks.blocks).toBeGreaterThan(0);
});
