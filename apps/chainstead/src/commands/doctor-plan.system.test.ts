/** `chainstead doctor --plan` against a Portal and a node, and the backfill that it estimates. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rawSql, sql } from '@chainstead/db';
import {
  createScratchDatabase,
  createScriptedChain,
  type SourceFaultSettings,
  servePortal,
  serveScriptedChain,
} from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

async function openStage(blocks: number, faults: Partial<SourceFaultSettings> = {}) {
  const chain = createScriptedChain({ seed: 71, finalityDepth: 8, isSigned: true, creationShare: 0.1 });
  chain.mine(blocks);
  const [node, portal] = await Promise.all([serveScriptedChain(chain), servePortal(chain, { faults })]);
  const folder = await mkdtemp(join(tmpdir(), 'plan-'));
  onTestFinished(async () => {
    await Promise.all([node.close(), portal.close(), rm(folder, { recursive: true })]);
  });
  const environment = {
    DATA_DIR: join(folder, 'data'),
    CHAINS: 'scripted',
    CHAIN_ID_SCRIPTED: '31337',
    RPC_URLS_SCRIPTED: node.url,
    REORG_DEPTH_MAX_SCRIPTED: '8',
    TRANSACTIONS_SCRIPTED: 'all',
    LOGS_SCRIPTED: 'all',
    INTERNAL_TRANSFERS_SCRIPTED: 'off',
    BACKFILL_PROOF: 'receipts',
    HISTORY_SCRIPTED: `portal:${portal.url}`,
  };
  const run = (
    args: readonly string[],
    changes: Record<string, string> = {},
    ask?: Parameters<typeof runCaptured>[3],
  ) => runCaptured(args, { ...environment, ...changes }, undefined, ask);
  return { chain, folder, run };
}

interface JsonFinding {
  readonly subject: string;
  readonly verdict: string;
  readonly found: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

const findingsOf = (stdout: string): readonly JsonFinding[] => JSON.parse(stdout).plan[0].findings;

/** The figures of each source, of each dataset, and of all. */
function plannedOf(stdout: string) {
  const findings = findingsOf(stdout);
  const withFigure = (name: string) => findings.filter(({ facts }) => facts !== undefined && name in facts);
  const factsOf = (subject: string) => findings.find((finding) => finding.subject === subject)?.facts;
  return {
    findings,
    sources: withFigure('reads').map(({ subject, facts }) => ({ source: subject, ...facts })) as Source[],
    datasets: withFigure('bytes_from').map(({ subject, facts }) => ({ name: subject, ...facts })) as Dataset[],
    blocks: Number(factsOf('total')?.blocks),
    rows: Number(factsOf('total')?.rows),
    ranges: factsOf('total')?.ranges,
    hours: Number(factsOf('time')?.hours),
  };
}

interface Source {
  readonly source: string;
  readonly blocks_per_second: number;
  readonly failure: string | null;
}

interface Dataset {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

const TABLES: Readonly<Record<string, string>> = {
  'erc20-transfers': 'erc20_transfer_sides',
  transactions: 'transactions',
  'account-transactions': 'account_transactions',
  logs: 'logs',
  'block-headers': 'block_headers',
};

it('estimates the rows and the disk space that a backfill then takes', async () => {
  const { run } = await openStage(800);
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const stored = { DATABASE_URL: scratch.url };
  const plan = ['doctor', '--plan', '--chain', 'scripted', '--from', '1', '--json'];
  const planned = plannedOf((await run(plan, stored)).stdout);
  expect(planned).toMatchObject({
    ...{ blocks: 792, ranges: [{ from: 1, to: 792 }] },
    sources: [/^portal /, /^nodes$/].map((source) => ({
      ...{ source: expect.stringMatching(source), reads: 'whole blocks' },
      ...{ blocks: 792, sampled_blocks: 200, failure: null },
    })),
  });
  const fill = ['backfill', '--chain', 'scripted', '--from', '1', '--to', '792'];
  expect(await run(fill, stored)).toMatchObject({ exitCode: 0 });
  for (const [name, table] of Object.entries(TABLES)) {
    const dataset = planned.datasets.find((one) => one.name === name) ?? { rows: 0, bytes: 0 };
    const [actual] = await scratch.database.query<{ rows: number }>(
      rawSql(`SELECT count(*)::int AS rows FROM ${table}`),
    );
    // A quarter of the blocks stands for all.
    expect(Math.abs(dataset.rows / (actual?.rows ?? 0) - 1), `rows of ${name}`).toBeLessThan(0.1);
    // Pages that are full, as those of large tables: partitions of so few rows are mostly empty.
    await scratch.database.query(rawSql(`CREATE TABLE full_${table} (LIKE ${table} INCLUDING ALL)`));
    await scratch.database.query(rawSql(`INSERT INTO full_${table} SELECT * FROM ${table}`));
    const [size] = await scratch.database.query<{ bytes: number }>(
      rawSql(`SELECT pg_total_relation_size('full_${table}')::float8 AS bytes`),
    );
    const perRow = (size?.bytes ?? 0) / (actual?.rows ?? 0);
    expect(Math.abs(dataset.bytes / dataset.rows / perRow - 1), `bytes of ${name}`).toBeLessThan(0.25);
  }
  // Indexed blocks are left out.
  expect(plannedOf((await run(plan, stored)).stdout)).toMatchObject({ blocks: 0, rows: 0, hours: 0 });
});

it('needs no database, and makes none', async () => {
  const { chain, folder, run } = await openStage(300);
  const [start, end] = [100, 250].map((number) => {
    const [block] = chain.blocksIn({ from: number, to: number });
    return new Date(Number(block?.header.timestamp) * 1_000).toISOString().replace('.000Z', 'Z');
  });
  const { exitCode, stdout, stderr } = await run([
    ...['doctor', '--plan', '--chain', '31337', '--from', start ?? '', '--to', end ?? ''],
  ]);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^scripted: blocks 100 to 250, 151 to index$/m);
  expect(stdout).toMatch(/^ {2}ok +connection +no database in .* yet; the first start creates it$/m);
  expect(stdout).toMatch(/^ {2}ok +erc20-transfers +[\d,]+ rows, \d+\.\d kB; bytes per row from sample$/m);
  expect(stdout).toMatch(
    /^ {2}ok +portal 127\.0\.0\.1:\d+ +whole blocks: 151 blocks at [\d.,]+ per second, [\d.]+ hours; 151 of 151 blocks sampled$/m,
  );
  expect(stdout).toMatch(/^ {2}ok +nodes +whole blocks: 151 blocks .* 151 of 151 blocks sampled$/m);
  expect(stdout).toMatch(/^ {2}ok +disk +[\d.]+ MB needed, [\d.]+ .B free$/m);
  expect(await readdir(folder)).toEqual([]);
});

it('leaves a database without the schema, or out of reach, as it is', async () => {
  const { run } = await openStage(40);
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  await scratch.database.query(rawSql('DROP SCHEMA public CASCADE'));
  await scratch.database.query(rawSql('CREATE SCHEMA public'));
  for (const [url, problem] of [
    [scratch.url, { subject: 'schema', found: 'empty; the first start creates it' }],
    [
      'postgres://nobody@127.0.0.1:1/none',
      { subject: 'connection', verdict: 'bad', found: expect.stringContaining("can't be reached") },
    ],
  ] as const) {
    const outcome = await run(['doctor', '--plan', '--chain', 'scripted', '--from', '1', '--json'], {
      DATABASE_URL: url,
    });
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(plannedOf(outcome.stdout)).toMatchObject({ blocks: 32 });
    expect(findingsOf(outcome.stdout)[0]).toMatchObject(problem);
  }
  const tables = rawSql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  expect(await scratch.database.query(tables)).toEqual([]);
});

it('names what a source lacks, and counts with the next one', async () => {
  const { run } = await openStage(40, { missingColumns: ['transactions.r'] });
  const { exitCode, stdout } = await run(['doctor', '--plan', '--chain', 'scripted', '--from', '1', '--json']);
  expect(exitCode).toBe(0);
  const { sources, findings, hours } = plannedOf(stdout);
  expect(sources).toMatchObject([
    { failure: expect.stringMatching(/lacks r of transaction/) },
    { source: 'nodes', sampled_blocks: 32, failure: null },
  ]);
  expect(hours).toBeGreaterThan(0);
  expect(findings).toContainEqual(
    expect.objectContaining({
      verdict: 'warning',
      found: expect.stringContaining(sources[0]?.failure ?? 'none'),
    }),
  );
});

it('counts with a source for all blocks but those that it fails to prove', async () => {
  const { run } = await openStage(408, {
    tamper: (line) =>
      Number((line.header as { number: number }).number) <= 100 ? { ...line, transactions: [] } : line,
  });
  const { stdout } = await run(['doctor', '--plan', '--chain', 'scripted', '--from', '1', '--json']);
  const { sources, findings, hours } = plannedOf(stdout);
  // 5 of 20 runs lie in the blocks without transactions.
  expect(sources).toMatchObject([
    { blocks: 400, sampled_blocks: 150, failure: expect.any(String) },
    { source: 'nodes', sampled_blocks: 200, failure: null },
  ]);
  expect(hours).toBeCloseTo(
    (300 / (sources[0]?.blocks_per_second ?? 0) + 100 / (sources[1]?.blocks_per_second ?? 0)) / 3_600,
    10,
  );
  expect(findings).toContainEqual(
    expect.objectContaining({
      found: expect.stringMatching(/^whole blocks: 400 blocks .* 150 of 200 blocks sampled: /),
    }),
  );
});

it('refuses ranges that are none', async () => {
  const { run } = await openStage(40);
  for (const [args, message] of [
    [['--from', 'yesterday'], '--from yesterday is not a block or a date'],
    [['--from', '2023-02-30'], '--from 2023-02-30 is not a block or a date'],
    [['--from', '0x10'], '--from 0x10 is not a block or a date'],
    [['--from', '9999-01-01'], '--from: scripted has no block since 9999-01-01'],
    [['--from', '1', '--to', '1999-01-01'], '--to: scripted has no block before 1999-01-01'],
    [['--from', '1', '--to', '39'], 'Block 39 is not final: the newest final block is 32'],
    [['--from', '20', '--to', '10'], 'The last block 10 is below the first 20'],
    [['--from', '1', '--chain', 'unheard-of'], 'unheard-of'],
    [['--from', '1', '--chain', 'aptos'], '--plan does not support Aptos'],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(['doctor', '--plan', '--chain', 'scripted', ...args]);
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
  }
});

it('is shown before a large backfill, which a person confirms and a script does not', async () => {
  const { run } = await openStage(40);
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const fill = ['backfill', '--chain', 'scripted', '--from', '1', '--to', '1000001'];
  const questions: string[] = [];
  const answering = (args: readonly string[], answer?: string | null) =>
    run(
      args,
      { DATABASE_URL: scratch.url },
      answer === undefined
        ? undefined
        : async (question) => {
            questions.push(question);
            return answer;
          },
    );
  for (const answer of ['n', '', null]) {
    const { exitCode, stderr } = await answering(fill, answer);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('the backfill was not confirmed')]);
    expect(stderr).toMatch(/^ {2}\S+ +nodes +whole blocks: 1,000,001 blocks/m);
  }
  expect(questions).toEqual(Array.from({ length: 3 }, () => 'Continue? [y/N] '));
  // The chain is shorter: the backfill that begins is refused.
  const begun = /exceed 32, the highest final block/;
  for (const [args, answer, shown] of [
    [fill, 'y', true],
    [fill, undefined, true],
    [[...fill, '--yes'], 'n', false],
    [[...fill.slice(0, -1), '1000000'], 'n', false],
  ] as const) {
    const { exitCode, stderr } = await answering(args, answer);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(begun)]);
    expect(stderr.includes('estimating from a sample')).toBe(shown);
  }
  expect(questions).toHaveLength(4);
  // Jobs are confirmed too, before they are queued.
  const jobs = sql`SELECT count(*)::int AS jobs FROM range_jobs`;
  for (const [args, answer, exitCode, shown] of [
    [fill, 'n', 2, true],
    [[...fill, '--yes'], 'n', 0, false],
  ] as const) {
    const detached = await answering([...args, '--detach'], answer);
    expect([detached.exitCode, detached.stderr.includes('estimating')]).toEqual([exitCode, shown]);
    expect(await scratch.database.query(jobs)).toEqual([{ jobs: shown ? 0 : 1 }]);
  }
  // Indexed blocks are not counted.
  const plan = await answering(['doctor', '--plan', '--chain', 'scripted', '--from', '1', '--json']);
  const names = plannedOf(plan.stdout).datasets.map(({ name }) => name);
  await scratch.database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
        SELECT 31337, unnest(${names}::text[]), 3, 1000001, 'none'`,
  );
  expect((await answering(fill, 'n')).stderr).not.toContain('estimating');
});
