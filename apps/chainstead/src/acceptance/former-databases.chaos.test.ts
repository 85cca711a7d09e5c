/**
 * Upgrades from every state that a database may be in: the program of the commit that brought a migration fills one from recorded blocks, then the
 * present program migrates it, goes on, and has the rows and the answers of a database that it filled alone. Three of them here, all by
 * `npm run upgrades`.
 */
import { createChainRegistry } from '@chainstead/chains';
import { type BlockRange, mergeRanges } from '@chainstead/core';
import { datasets } from '@chainstead/datasets';
import type { Database } from '@chainstead/db';
import { datasetsOf, listCoverage } from '@chainstead/sync';
import {
  checkOutProgram,
  createScratchDatabase,
  type Program,
  recordedEvmFolder,
  type ScratchDatabase,
  serveRecordedChain,
  startProgram,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersOf, busiest } from './citus-answers.ts';
import { countRows, dumpEverything, keepEverything } from './citus-rows.ts';
import { waitUntil } from './indexed-chain.ts';
import { findMigrationCommits, type MigrationCommit } from './migration-commits.ts';

/** Blocks in a row, with sales of NFTs. The former program has the first of them. */
const RECORDED = { chain: 'polygon', blocks: { from: 35_779_967, to: 35_779_990 } };
const FORMER_BLOCKS: BlockRange = { from: RECORDED.blocks.from, to: 35_779_980 };
/** Of each kind of subject; each is counted in transactions of its own. */
const KEPT_MAX = 4;
const TIMEOUT_MS = 240_000;

const chains = createChainRegistry();
const chain = chains.get(RECORDED.chain);
const folder = recordedEvmFolder();
const states = folder === null ? 'no recorded blocks beside the checkout' : await findMigrationCommits();
const chosen = typeof states === 'string' ? [] : choose(states, process.env.UPGRADES);
if (typeof states === 'string')
  process.stdout.write(`NOT RUN: upgrades from databases of former commits (${states})\n`);

/** @param wanted `all`, or what the last migration's name begins with: `0039`. Absent: some */
function choose(all: readonly MigrationCommit[], wanted: string | undefined): readonly MigrationCommit[] {
  if (wanted === undefined) return someOf(all);
  return wanted === 'all' ? all : all.filter(({ last }) => last.startsWith(wanted));
}

/** The first, the one before rows moved to partitions, and the newest but one. */
function someOf(all: readonly MigrationCommit[]): MigrationCommit[] {
  const beforePartitions = all.findLast(({ last }) => last < '0019');
  return [all[0], beforePartitions, all.at(-2)].filter((one) => one !== undefined);
}

interface Run {
  readonly scratch: ScratchDatabase;
  readonly blocks: BlockRange;
  /** Its `chainstead.js`. Default: this tree's. */
  readonly entry?: string;
  /** Null: done. */
  missing(): Promise<string | null>;
}

/** Runs a program's ingestion over recorded blocks until nothing is missing, and stops it. */
async function index({ scratch, blocks, entry, missing }: Run): Promise<void> {
  const node = await serveRecordedChain({ folder: folder ?? '', chain: RECORDED.chain, blocks });
  const key = RECORDED.chain.toUpperCase();
  const environment = {
    DATABASE_URL: scratch.url,
    CHAINS: RECORDED.chain,
    [`RPC_URLS_${key}`]: node.url,
    [`START_BLOCK_${key}`]: String(blocks.from),
    [`PROOF_${key}`]: 'record',
    LOG_LEVEL: 'warn',
  };
  const program: Program = startProgram(['start', '--roles', 'ingest'], {
    environment,
    ...(entry !== undefined && { entry }),
  });
  const ended = program.exited.then((code) => {
    throw new Error(`The program ended (${code})`);
  });
  try {
    await Promise.race([waitUntil(missing, TIMEOUT_MS / 2), ended]);
  } catch (error) {
    throw new Error(`${String(error)}\n${program.output().slice(-4_000)}`);
  } finally {
    program.signal('SIGTERM');
    await program.exited;
    await ended.catch(() => undefined);
    await node.close();
  }
}

/** What a former program's database has to cover: whatever datasets it had. */
async function formerMissing(database: Database): Promise<string | null> {
  const rows = await database.query<{ dataset: string; blocks: number }>(
    `SELECT dataset, sum(last_block - first_block + 1)::int AS blocks FROM sync_ranges WHERE chain_id = $1 GROUP BY dataset`,
    [chain.id],
  );
  const wanted = FORMER_BLOCKS.to - FORMER_BLOCKS.from + 1;
  if (rows.every(({ dataset }) => dataset !== 'erc20-transfers')) return 'nothing is covered';
  const lacking = rows.filter(({ blocks }) => blocks < wanted);
  return lacking.length === 0 ? null : JSON.stringify(lacking);
}

/** What the present program has to have done: every dataset of every block, every derived state, every row where it belongs. */
async function presentMissing(database: Database): Promise<string | null> {
  const coverage = await listCoverage(database, chain.id);
  for (const { name, table } of datasetsOf(chain, datasets)) {
    const covered = mergeRanges(coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range));
    if (JSON.stringify(covered) !== JSON.stringify([RECORDED.blocks]))
      return `of ${name} ${JSON.stringify(covered)} are covered`;
    const former = table.former?.table;
    if (former === undefined) continue;
    const [there] = await database.query<{ is_there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS is_there', [
      former,
    ]);
    const rows = there?.is_there === true ? await database.query(`SELECT FROM ${former} LIMIT 1`) : [];
    if (rows.length > 0) return `${former} has rows`;
  }
  const building = await database.query<{ state: string }>(
    "SELECT state FROM derived_states WHERE chain_id = $1 AND status <> 'built'",
    [chain.id],
  );
  return building.length === 0 ? null : `${building.map(({ state }) => state).join(', ')} are being built`;
}

const indexPresent = (scratch: ScratchDatabase): Promise<void> =>
  index({ scratch, blocks: RECORDED.blocks, missing: () => presentMissing(scratch.database) });

describe.skipIf(chosen.length === 0)('a database of a former commit', () => {
  let fresh: ScratchDatabase;
  let rows: Awaited<ReturnType<typeof dumpEverything>>;
  let asked: Awaited<ReturnType<typeof busiest>>;
  let answers: Awaited<ReturnType<typeof answersOf>>;

  beforeAll(async () => {
    fresh = await createScratchDatabase();
    await indexPresent(fresh);
    await keepEverything(fresh.database, chain, KEPT_MAX);
    rows = await dumpEverything(fresh.database, chain);
    asked = await busiest(fresh.database, chain, 2);
    await answersOf(fresh, chains, chain, asked);
    answers = await answersOf(fresh, chains, chain, asked);
  }, TIMEOUT_MS);
  afterAll(() => fresh?.drop());

  it('is compared with one that has rows of every kind', () => {
    const counts = countRows(rows);
    for (const table of ['erc20_transfers', 'nft_transfers', 'nft_trades', 'nft_sale_days', 'erc20_approvals'])
      expect(counts[table], table).toBeGreaterThan(0);
    expect(Object.values(answers).filter(([answer]) => answer?.startsWith('200') === true).length).toBeGreaterThan(30);
  });

  it.each(chosen)(
    'that ends with $last ($commit) has the rows and the answers of a fresh one',
    { timeout: TIMEOUT_MS },
    async ({ commit, last }) => {
      const former = await checkOutProgram(commit);
      const scratch = await createScratchDatabase({ migrated: false });
      const { database } = scratch;
      try {
        await index({ scratch, blocks: FORMER_BLOCKS, entry: former.entry, missing: () => formerMissing(database) });
        const [newest] = await database.query<{ name: string }>('SELECT max(name) AS name FROM schema_migrations');
        expect(newest?.name).toBe(last);
        await indexPresent(scratch);
        await keepEverything(database, chain, KEPT_MAX);
        expect(await dumpEverything(database, chain)).toEqual(rows);
        await answersOf(scratch, chains, chain, asked);
        expect(await answersOf(scratch, chains, chain, asked)).toEqual(answers);
      } finally {
        await scratch.drop();
        await former.remove();
      }
    },
  );
});
