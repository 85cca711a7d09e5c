/** A block that ends the process that backfills it: its range is narrowed, and the block alone stays a gap with its reason. */
import { createMetricsRegistry } from '@chainstead/core';
import { createWorkJournal, type Database, readSetAsideWork, sql } from '@chainstead/db';
import { type BlockSource, createHistorySources } from '@chainstead/sources';
import { openPortalSource } from '@chainstead/sources/open';
import { servePortal } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createClaimOwner } from '../coverage/claims.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { readRecordedFailures } from '../read/dataset-failures.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import { createWholeBlockTables, outcomes } from '../testing/whole-block-datasets.ts';
import { backfill } from './backfill.ts';
import type { BackfillProgress } from './backfill-options.ts';

const scratch = scratchOfFile();
const BLOCKS = 150;
const RANGE = { from: 1, to: BLOCKS };
const DEADLY = 77;
const NODES_ALONE = { order: 'newest-first', proof: 'none' } as const;
const ALL = [marks, outcomes] as readonly Dataset[];
let nextChainId = 966_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

interface Deadly {
  died: () => void;
  ended: Promise<void>;
}

interface DeadlyStage {
  readonly stage: ScriptedStage;
  readonly deadly: Deadly;
  /** Read before the node. */
  readonly source?: BlockSource;
}

/** A stage whose process dies at a call of its node for the deadly block. */
async function openDeadlyStage(method: 'eth_getLogs' | 'eth_getBlockByNumber'): Promise<DeadlyStage> {
  const deadly: Deadly = { died: () => undefined, ended: Promise.resolve() };
  const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, {
    blocks: BLOCKS,
    async answer(called, params, own) {
      if (called !== method || !isOfDeadly(params)) return own(params);
      deadly.died();
      await deadly.ended;
      return own(params);
    },
  });
  onTestFinished(() => stage.close());
  // The node has the followed block, so nothing asks it for the last block of a range.
  stage.scripted.mine(1);
  const followed = Buffer.from(stage.scripted.blockAt(BLOCKS + 1)?.hash.slice(2) ?? '', 'hex');
  await stage.database.query(
    sql`UPDATE blocks SET block_hash = ${followed} WHERE chain_id = ${stage.chain.id} AND block_number = ${BLOCKS + 1}`,
  );
  return { stage, deadly };
}

/** A stage whose process dies when a source sends the deadly block. Each block has its own commit. */
async function openDeadlySource(): Promise<DeadlyStage & { readonly harmless: BlockSource }> {
  const deadly: Deadly = { died: () => undefined, ended: Promise.resolve() };
  const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, {
    ...{ blocks: BLOCKS, finalityDepth: 0, isSigned: true },
  });
  onTestFinished(() => stage.close());
  const portal = await servePortal(stage.scripted);
  onTestFinished(() => portal.close());
  const source = openPortalSource({ ...stage, url: portal.url });
  onTestFinished(() => source.close());
  const readBlocks: BlockSource['readBlocks'] = async function* (range, options, signal) {
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    for await (const block of source.readBlocks(range, options, signal)) {
      if (block.block.header.number === DEADLY) {
        deadly.died();
        await Promise.race([deadly.ended, stopped]);
        signal.throwIfAborted();
      }
      yield { ...block, bytes: 40_000_000 };
    }
  };
  return { stage, deadly, source: { ...source, readBlocks }, harmless: source };
}

function isOfDeadly([first]: readonly unknown[]): boolean {
  if (typeof first === 'string') return Number(first) === DEADLY;
  const { fromBlock, toBlock } = first as { readonly fromBlock: string; readonly toBlock: string };
  return Number(fromBlock) <= DEADLY && DEADLY <= Number(toBlock);
}

/** Backfills as a process does. @returns null if it died */
async function runProcess(
  { stage, deadly, source }: DeadlyStage,
  kind: 'add' | 'replace',
): Promise<BackfillProgress | null> {
  const ending = new AbortController();
  const database = stage.database.until(ending.signal);
  const open = (of: Database) =>
    createWorkJournal({ database: of, logger: stage.logger, metrics: createMetricsRegistry() });
  const [journal, owner] = [open(database), await createClaimOwner(stage.database)];
  await journal.start();
  const ended = Promise.withResolvers<void>();
  const died = Promise.withResolvers<null>();
  deadly.ended = ended.promise;
  deadly.died = () => died.resolve(null);
  const { chain, clock, logger } = stage;
  const ofProcess = source && { ...source, close: () => Promise.resolve() };
  const sources = ofProcess && createHistorySources({ chain, clock, logger, sources: [ofProcess] });
  const how = source ? ({ order: 'oldest-first', proof: 'receipts' } as const) : NODES_ALONE;
  const options = { ...stage, database, owner, journal, sources, kind, ...how };
  const running = backfill(options, [RANGE], ending.signal);
  const done = await Promise.race([running, died.promise]);
  if (done === null) {
    // A dead process writes nothing more, and another one takes its record over.
    ending.abort(new Error('The process died'));
    await expect(running).rejects.toThrow('The process died');
    await stage.database.query(sql`UPDATE inflight_work SET alive_until = now() - interval '1 second'`);
    const next = open(stage.database);
    await next.start();
    await next.close();
    ended.resolve();
  } else await journal.close();
  await owner.close();
  await sources?.close();
  return done;
}

/** @returns its result, after so many deaths */
async function runUntilItEnds(
  given: DeadlyStage,
  kind: 'add' | 'replace',
): Promise<{ readonly done: BackfillProgress; readonly deaths: number }> {
  for (let deaths = 0; deaths < 12; deaths += 1) {
    const done = await runProcess(given, kind);
    if (done !== null) return { done, deaths };
  }
  throw new Error('Each process died');
}

const WITHOUT = [
  { from: 1, to: DEADLY - 1 },
  { from: DEADLY + 1, to: BLOCKS },
];

test.each([
  { method: 'eth_getLogs', reads: 'logs', lacking: marks, whole: outcomes },
  { method: 'eth_getBlockByNumber', reads: 'transactions', lacking: outcomes, whole: marks },
] as const)(
  'a block that ends each process at $method stays a gap, and all others are filled',
  async ({ method, reads, lacking, whole }) => {
    const opened = await openDeadlyStage(method);
    const { stage } = opened;
    const { done, deaths } = await runUntilItEnds(opened, 'add');
    // The chunk, a part of it unless it is small, and twice the block alone.
    expect(deaths).toBeLessThanOrEqual(4);
    expect(deaths).toBeGreaterThanOrEqual(3);
    expect((await stage.coverageOf(lacking)).ranges).toEqual(WITHOUT);
    expect((await stage.coverageOf(whole)).ranges).toEqual([RANGE]);
    expect(done.unavailable).toMatchObject({
      code: 'DATASET_FAILED',
      facts: { dataset: lacking.name, block: DEADLY },
    });
    expect((await readRecordedFailures(stage.database)).get(stage.chain.id)).toMatchObject([
      {
        ...{ dataset: lacking.name, range: { from: DEADLY, to: DEADLY } },
        message: expect.stringContaining('Work quarantined: the process ended 3 times'),
      },
    ]);
    const name = `block ${stage.chain.key} ${DEADLY} backfill ${reads}`;
    expect(await readSetAsideWork(stage.database, 1)).toMatchObject([{ name, crashes: 3 }]);
    // Nothing else stays recorded, and the next process leaves the block out at once.
    expect(await recordsOf(stage)).toEqual([name]);
    expect(await runUntilItEnds(opened, 'add')).toMatchObject({ deaths: 0 });
    expect(await runUntilItEnds(opened, 'replace')).toMatchObject({ deaths: 0 });
    expect((await stage.coverageOf(lacking)).ranges).toEqual(WITHOUT);

    await stage.database.query(sql`DELETE FROM quarantined_work`);
    const { deadly } = opened;
    deadly.ended = Promise.resolve();
    deadly.died = () => undefined;
    await backfill({ ...stage, ...NODES_ALONE, kind: 'add' }, [RANGE], new AbortController().signal);
    expect((await stage.coverageOf(lacking)).ranges).toEqual([RANGE]);
  },
);

test('only the blocks under way are suspect: each is read from nodes, all others from the source', async () => {
  const opened = await openDeadlySource();
  const { stage, harmless } = opened;
  expect(await runProcess(opened, 'add')).toBeNull();
  // The block before may be committed already.
  const underWay = [DEADLY - 1, DEADLY].map((from) => `range ${stage.chain.key} ${from}-${from + 3}`);
  const records = await recordsOf(stage);
  expect(records).toHaveLength(1);
  expect(underWay).toContain(records[0]);
  expect(await runProcess({ ...opened, source: harmless }, 'add')).not.toBeNull();
  for (const dataset of ALL) expect((await stage.coverageOf(dataset)).ranges).toEqual([RANGE]);
  // Four suspects, and the pool's own check of the node.
  expect(stage.callsOf('eth_getBlockReceipts')).toBeLessThanOrEqual(5);
  expect(await recordsOf(stage)).toEqual([]);
});

test('a block of a source that ends the process once is read from a node, and leaves no gap', async () => {
  const opened = await openDeadlySource();
  const { stage } = opened;
  const { deaths } = await runUntilItEnds(opened, 'add');
  expect(deaths).toBe(1);
  for (const dataset of ALL) expect((await stage.coverageOf(dataset)).ranges).toEqual([RANGE]);
  expect(await recordsOf(stage)).toEqual([]);
});

async function recordsOf({ database, chain }: ScriptedStage): Promise<readonly string[]> {
  const rows = await database.query<{ readonly name: string }>(
    sql`SELECT name FROM quarantined_work WHERE name LIKE ${`% ${chain.key} %`} ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}
