/** `chainstead doctor --upgrade` of this version and of a next one, which has more migrations. */
import { rawSql, sql } from '@chainstead/db';
import { migrate } from '@chainstead/db/server';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CommandOutcome, runCaptured } from '../testing/captured-context.ts';
import { makeNextVersion, type NextVersion } from '../testing/next-version.ts';

const NEXT = '0001_next';

let scratch: ScratchDatabase;
let next: NextVersion;
beforeAll(async () => {
  next = await makeNextVersion();
  await next.writeMigration(
    NEXT,
    `-- Adds a column and removes a view.
ALTER TABLE "blocks" ADD COLUMN "next" bigint;--> statement-breakpoint
CREATE INDEX "blocks_by_time" ON "blocks" ("block_timestamp");--> statement-breakpoint
DROP VIEW analytics.coverage;`,
  );
});
beforeEach(async () => {
  scratch = await createScratchDatabase();
});
afterEach(() => scratch.drop());
afterAll(() => next.remove());

type Environment = Readonly<Record<string, string>>;
const environmentOf = (more: Environment = {}): Environment => ({
  DATABASE_URL: scratch.url,
  CHAINS: 'eth',
  ...more,
});
const check = (args: readonly string[] = []) => runCaptured(['doctor', '--upgrade', ...args], environmentOf());
const checkNext = (args: readonly string[] = [], more?: Environment) =>
  next.run(['doctor', '--upgrade', ...args], environmentOf(more));

interface JsonFinding {
  readonly subject: string;
  readonly verdict: string;
  readonly facts: Readonly<Record<string, unknown>>;
}
const findingsOf = ({ stdout }: CommandOutcome): readonly JsonFinding[] => JSON.parse(stdout).upgrade[0].findings;
const factsOf = (outcome: CommandOutcome, subject: string) =>
  findingsOf(outcome).find((finding) => finding.subject === subject)?.facts;

/** Blocks, coverage, and a derived state of an earlier version. */
const ROWS = [
  `INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (1, 0, 9)`,
  `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (1, 'erc20-transfers', 0, 99, 'none'), (1, 'nft-transfers', 0, 99, 'none')`,
  `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) SELECT 1, n, decode(repeat('e4', 32), 'hex'), now() FROM generate_series(1, 20000) AS n`,
  `INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES
     (1, 'nft-sale-days', 'nft-trades', 999, 'built', 0), (1, 'nft-metadata-due', 'nft-metadata-events', 1, 'built', 0)`,
  'ANALYZE',
];

async function fill(): Promise<void> {
  for (const statement of ROWS) await scratch.database.query(rawSql(statement));
}

/** Everything that the command could change: definitions, settings and rows. */
async function stateOf({ database }: ScratchDatabase): Promise<unknown> {
  return [
    await database.query(
      sql`SELECT oid::text, relname, relfilenode::text, reloptions FROM pg_class ORDER BY oid`,
    ),
    await database.query(sql`SELECT * FROM schema_migrations ORDER BY name`),
    await database.query(sql`SELECT * FROM projections`),
  ];
}

describe('doctor --upgrade', () => {
  it('reports nothing to do for a database that is up to date', async () => {
    const { exitCode, stdout, stderr } = await check();
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Upgrade to \d.*\n {2}ok +version +Postgres \d+.*15 or newer is supported$/m);
    expect(stdout).toMatch(/^ {2}ok +schema +up to date \(1 migrations\)$/m);
    expect(stdout).toMatch(/^All checks passed\.$/m);
    const outcome = await check(['--json']);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ verdict: 'ok' });
    expect(findingsOf(outcome).map(({ subject }) => subject)).toEqual([
      ...['version', 'schema', 'connected processes', 'disk'],
    ]);
  });

  it('lists pending migrations with their locks, rebuilds and new datasets, and the upgrade applies them', async () => {
    await fill();
    const outcome = await checkNext(['--json']);
    expect(outcome.exitCode).toBe(0);
    expect(factsOf(outcome, 'schema')).toMatchObject({ applied: 1, pending: 1 });
    expect(factsOf(outcome, NEXT)).toMatchObject({
      summary: 'Adds a column and removes a view.',
      locks: [{ table: 'blocks', lock: 'all' }],
      rewrites: [],
    });
    // An index of 20,000 blocks.
    const disk = { needed_bytes: expect.any(Number), free_bytes: null };
    expect(factsOf(outcome, 'disk')).toEqual(disk);
    expect(factsOf(outcome, 'disk')?.needed_bytes).toBeGreaterThan(500_000);
    expect(factsOf(outcome, 'nft-sale-days')).toMatchObject({ built_version: 999 });
    expect(factsOf(outcome, 'erc20-approvals')).toEqual({ chain_id: 1, chain: 'eth', blocks: 100 });
    expect(factsOf(outcome, 'nft-transfers')).toBe(undefined);

    const migrated = await next.run(['migrate'], environmentOf());
    expect([migrated.exitCode, migrated.stdout]).toEqual([0, expect.stringContaining(`applied ${NEXT}`)]);
    expect(factsOf(await checkNext(['--json']), 'schema')).toMatchObject({ applied: 2, pending: 0 });
  });

  it('changes nothing', async () => {
    await fill();
    const before = await stateOf(scratch);
    await checkNext();
    expect(await stateOf(scratch)).toEqual(before);
  });

  it('shows a person the same', async () => {
    await fill();
    const { stdout, stderr } = await checkNext([], { PAGE_LIMIT_MAXX: '5' });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^ {2}ok +0001_next +under 1 s, locks all of blocks: Adds a column/m);
    expect(stdout).toMatch(/^ {2}ok +nft-sale-days +chain 1: version 999 to \d+, built from stored rows/m);
    expect(stdout).toMatch(/^ {2}ok +erc20-approvals +eth: new, backfilled from your nodes: 100 blocks$/m);
    expect(stdout).toMatch(/^ {2}WARNING +PAGE_LIMIT_MAXX +PAGE_LIMIT_MAXX .* has no effect/m);
    expect(stdout).toMatch(/ migrates in about .* when it starts/);
  });

  it('ends with 1 if the upgrade would fail, with the reason and the remedy', async () => {
    await scratch.database.query(sql`CREATE VIEW mine AS SELECT dataset FROM analytics.coverage`);
    const { exitCode, stdout, stderr } = await checkNext();
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^ {2}BAD +UPGRADE_BLOCKED_BY_VIEW +The view mine reads analytics\.coverage, .*\n +The upgrade to .* would fail\.\n +Save its definition /m,
    );
    expect(stderr).toMatch(/Checks failed: Upgrade to .*\[EXAMINATION_FAILED\]/);
    const bad = findingsOf(await checkNext(['--json'])).filter(({ verdict }) => verdict === 'bad');
    expect(bad).toMatchObject([{ subject: 'UPGRADE_BLOCKED_BY_VIEW' }]);
  });

  it('ends with 1 for a database of a newer version', async () => {
    expect((await next.run(['migrate'], environmentOf())).exitCode).toBe(0);
    const outcome = await check(['--json']);
    expect(outcome.exitCode).toBe(1);
    expect(findingsOf(outcome)).toContainEqual({
      subject: 'schema',
      verdict: 'bad',
      found: expect.stringContaining(NEXT),
      meaning: "This version can't start on this database.",
      remedy: expect.stringContaining('newer version'),
      facts: { code: 'SCHEMA_NEWER' },
    });
  });

  it('reports all migrations as due for an empty database', async () => {
    const empty = await createScratchDatabase({ migrated: false });
    try {
      const environment = { DATABASE_URL: empty.url, CHAINS: 'eth' };
      const outcome = await next.run(['doctor', '--upgrade', '--json'], environment);
      expect(outcome.exitCode).toBe(0);
      expect(factsOf(outcome, 'schema')).toMatchObject({ applied: 0, pending: 2 });
      const subjects = findingsOf(outcome).map(({ subject }) => subject);
      const around = ['version', 'schema', 'connected processes', 'disk'];
      expect(subjects).toEqual(around.toSpliced(3, 0, '0000_initial', NEXT));
      expect((await migrate(empty.database)).applied).toEqual(['0000_initial']);
    } finally {
      await empty.drop();
    }
  });
});
