/** One scripted chain that many sources serve: each fill begins without its rows. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createLogger, createMetricsRegistry } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import {
  type BlockSource,
  createHistorySources,
  type HistorySources,
  type SourceStatus,
} from '@chainstead/sources';
import { openEraSource, openHyperSyncSource, openPortalSource } from '@chainstead/sources/open';
import {
  type ChainSource,
  type Closable,
  closeOf,
  type EraFolderOptions,
  type ScriptedBlock,
  type SourceFaultSettings,
  serveHyperSync,
  servePortal,
  writeEraFolder,
} from '@chainstead/testkit';
import { expect } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import type { BackfillOptions } from '../backfill/backfill-options.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';
import { createMarkTables, marks } from './marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from './scripted-stage.ts';
import { createWholeBlockTables, outcomes } from './whole-block-datasets.ts';

export const SOURCED_BLOCKS = 90;
export const SOURCED_RANGE = { from: 1, to: SOURCED_BLOCKS } as const;
export const SOURCED_DATASETS = [outcomes, marks] as readonly Dataset[];

/** A warning about a source, with the fields of its log line. */
export interface SourceWarning {
  readonly source: string;
  readonly reason: string;
  readonly left_alone_ms?: number;
}

export interface SourcedFill {
  /** Rows of each table, as counts and digests. */
  readonly rows: Readonly<Record<string, string>>;
  /** Blocks that each dataset covers. */
  readonly covered: readonly unknown[];
  readonly status: SourceStatus | undefined;
  readonly warnings: readonly SourceWarning[];
  /** In Prometheus format. */
  readonly metrics: string;
}

/** @param parts closed after the fill */
export type OpenSource = (chain: SourcedChain, parts: AsyncDisposableStack) => Promise<BlockSource>;

export interface SourcedChain extends Closable {
  readonly stage: ScriptedStage;
  /** Blocks that a reorganisation replaced, by number. */
  readonly abandoned: ReadonlyMap<number, ScriptedBlock>;
  /** A block in the middle, of the branch that stayed, with several transactions and logs. */
  readonly middle: ScriptedBlock;
  readonly rowsOfNodes: SourcedFill['rows'];
  /** Removes all rows, then fills them. @param open null: nodes alone */
  fill(open: OpenSource | null, changes?: Partial<BackfillOptions>): Promise<SourcedFill>;
  /** Logs a damaged era file, as the session does. */
  onRefusal(reason: string): void;
}

/** With the tables of both datasets. @param chainId unique in the database */
export async function openSourcedChain(database: Database, chainId: number): Promise<SourcedChain> {
  await using parts = new AsyncDisposableStack();
  await createMarkTables(database);
  await createWholeBlockTables(database);
  const stage = await openScriptedStage(database, chainId, SOURCED_DATASETS, {
    ...{ blocks: SOURCED_BLOCKS, finalityDepth: 0, isSigned: true },
  });
  parts.defer(() => stage.close());
  const { chain, scripted, clock } = stage;
  const abandoned = new Map(scripted.blocksIn(SOURCED_RANGE).map((block) => [block.number, block]));
  scripted.reorg(60, 60);
  const middle = scripted.blocksIn({ from: 40, to: 70 }).find(hasMuch);
  if (middle === undefined) throw new Error('The script has no block with much in it');
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } });

  async function fill(open: OpenSource | null, changes: Partial<BackfillOptions> = {}): Promise<SourcedFill> {
    await using opening = new AsyncDisposableStack();
    await clearChain(database, chainId);
    lines.length = 0;
    const registry = createMetricsRegistry();
    const source = await open?.(opened, opening);
    let sources: HistorySources | undefined;
    if (source !== undefined) {
      sources = createHistorySources({ chain, clock, logger, metrics: registry, sources: [source] });
      opening.adopt(sources, (one) => one.close());
    }
    const knownContracts = createKnownContracts();
    const given = {
      ...stage,
      knownContracts,
      sources,
      order: 'oldest-first',
      proof: 'receipts',
      kind: 'add',
    } as const;
    await backfill({ ...given, ...changes }, [SOURCED_RANGE], new AbortController().signal);
    const [status] = sources?.statuses() ?? [];
    const metrics = await registry.metrics();
    const coverages = await Promise.all(SOURCED_DATASETS.map((dataset) => stage.coverageOf(dataset)));
    const warnings = lines
      .map((line): SourceWarning => JSON.parse(line))
      .filter(({ reason }) => reason !== undefined);
    const covered = coverages.flatMap(({ ranges }) => ranges);
    return { rows: await rowsOf(database, chainId), covered, status, warnings, metrics };
  }

  const onRefusal = (reason: string): void => logger.warn({ source: 'era', reason });
  const { rows: rowsOfNodes, covered } = await fill(null);
  expect(covered).toEqual([SOURCED_RANGE, SOURCED_RANGE]);
  const opened = { stage, abandoned, middle, rowsOfNodes, fill, onRefusal, ...closeOf(parts) };
  return opened;
}

/** The log, the status and the metrics name the source of the fill, with the reason. */
export function expectNamed({ status, warnings, metrics }: SourcedFill, reason: RegExp): void {
  const warning = warnings.find((one) => reason.test(one.reason));
  expect(warnings.map((one) => one.reason).join('\n')).toMatch(reason);
  expect(warning?.source).toBe(status?.name);
  expect(warning?.left_alone_ms).toBeGreaterThan(0);
  expect(metrics).toMatch(
    new RegExp(`chainstead_source_failures_total\\{[^}]*source="${status?.name}"[^}]*\\} [1-9]`),
  );
}

interface Served {
  readonly faults?: Partial<SourceFaultSettings>;
  /** Changes of the chain that it serves. */
  readonly chain?: Partial<ChainSource>;
  readonly deadlines?: Parameters<typeof openPortalSource>[0]['deadlines'];
}

export async function openPortal(
  { stage: { chain, clock, scripted } }: SourcedChain,
  parts: AsyncDisposableStack,
  { faults = {}, chain: changes = {}, deadlines = {} }: Served = {},
): Promise<BlockSource> {
  const portal = await servePortal({ ...scripted, ...placesOf(scripted), ...changes }, { faults });
  parts.defer(() => portal.close());
  return openPortalSource({ url: portal.url, chain, clock, deadlines });
}

export async function openHyperSync(
  { stage: { chain, clock, scripted } }: SourcedChain,
  parts: AsyncDisposableStack,
  faults: Partial<SourceFaultSettings>,
  changes: Partial<ChainSource> = {},
): Promise<BlockSource> {
  const hyperSync = await serveHyperSync({ ...scripted, ...placesOf(scripted), ...changes }, { faults });
  parts.defer(() => hyperSync.close());
  return openHyperSyncSource({ url: hyperSync.url, chain, clock });
}

const ERA_NETWORK = 'scripted';

export interface EraServed extends Partial<Pick<EraFolderOptions, 'format' | 'blocks'>> {
  /** Changes the folder's only file. */
  readonly change?: (bytes: Buffer) => Buffer;
  /** More files with the same era, in the folder before the source is opened. */
  readonly others?: readonly OtherEraFile[];
}

export interface OtherEraFile extends Partial<Pick<EraFolderOptions, 'format' | 'blocks'>> {
  /** Instead of the hash in the name: files are tried in the order of their names. */
  readonly hash: string;
  readonly change?: (bytes: Buffer) => Buffer;
}

export async function openEra(
  { stage: { chain, scripted }, onRefusal }: SourcedChain,
  parts: AsyncDisposableStack,
  {
    format = 'era1',
    change = (bytes) => bytes,
    blocks = scripted.blocksIn({ from: 0, to: SOURCED_BLOCKS }),
    others = [],
  }: EraServed = {},
): Promise<BlockSource> {
  const folder = await mkdtemp(join(tmpdir(), 'era-'));
  parts.defer(() => rm(folder, { recursive: true }));
  for (const other of others) await writeOtherEraFile(folder, { format, blocks, ...other });
  const [path = ''] = await writeEraFolder({ folder, network: ERA_NETWORK, format, blocks });
  await writeFile(path, change(await readFile(path)));
  return openEraSource({ folder, chain: { id: chain.id, key: ERA_NETWORK }, onRefusal });
}

export async function writeOtherEraFile(
  folder: string,
  { hash, change = (bytes) => bytes, format = 'era1', blocks = [] }: OtherEraFile,
): Promise<string> {
  const [path = ''] = await writeEraFolder({
    folder: join(folder, 'other'),
    network: ERA_NETWORK,
    format,
    blocks,
  });
  const name = basename(path).replace(/-[0-9a-f]{8}/, `-${hash}`);
  await writeFile(join(folder, name), change(await readFile(path)));
  await rm(join(folder, 'other'), { recursive: true });
  return join(folder, name);
}

/** Getters are lost in a copy. */
function placesOf({ head, finalized, firstBlock }: ChainSource) {
  return { head, finalized, firstBlock };
}

function hasMuch({ receipts }: ScriptedBlock): boolean {
  const logs = receipts.map((receipt) => (receipt.logs as readonly unknown[]).length);
  return logs.length > 2 && logs.filter((count) => count > 0).length > 1;
}

const DIGESTED = ['marks', 'outcomes', 'mark_totals', 'mark_highest', 'blocks'];

async function rowsOf(database: Database, chainId: number): Promise<Record<string, string>> {
  const rows: Record<string, string> = {};
  for (const table of DIGESTED) {
    const [found] = await database.query<{ text: string }>(
      sql`SELECT concat(count(*), ' ', md5(string_agg(t::text, E'\n' ORDER BY t::text))) AS text FROM ${rawSql(table)} AS t WHERE chain_id = ${chainId}`,
    );
    rows[table] = found?.text ?? '';
  }
  return rows;
}

/** All but where it begins. */
export async function clearChain(database: Database, chainId: number): Promise<void> {
  const tables = await database.query<{ name: string }>(
    sql`SELECT c.table_name AS name FROM information_schema.columns c JOIN pg_class ON relname = c.table_name AND relkind IN ('r', 'p')
      WHERE c.table_schema = 'public' AND column_name = 'chain_id' AND NOT relispartition AND c.table_name NOT IN ('sync_chains', 'projections')`,
  );
  await database.transaction(async (transaction) => {
    for (const { name } of tables)
      await transaction.query(sql`DELETE FROM ${rawSql(`"${name}"`)} WHERE chain_id = ${chainId}`);
  });
}
