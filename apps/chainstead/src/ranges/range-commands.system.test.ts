import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import { loadRecordedChain } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it } from 'vitest';
import { jsonLines, openCommandStage } from '../testing/command-stage.ts';

const stage = stageOfFile(openCommandStage);
const run = (...args: string[]) => stage.run(...args);

describe('work on ranges', () => {
  it('backfills, lists gaps, verifies and reindexes, telling progress as JSON lines', async () => {
    const backfill = await run('backfill', '--chain', 'scripted', '--range', '0-19', '--range', '40-59');
    expect([backfill.exitCode, backfill.stderr]).toEqual([0, '']);
    const lines = jsonLines(backfill.stdout);
    expect(lines.at(-1)).toMatchObject({ work: 'backfill', chain: 'scripted', blocks: 40, finished: true });
    expect(lines.slice(0, -1).at(-1)).toMatchObject({ done: 40, total: 40, unit: 'blocks' });

    const rows = await stage.scratch.database.query<{ blocks: number }>(
      sql`SELECT count(DISTINCT block_number) AS blocks FROM erc20_transfer_sides WHERE block_number BETWEEN 20 AND 39`,
    );
    expect(rows).toEqual([{ blocks: 0 }]);

    const reindex = await run(
      'reindex',
      '--chain',
      '31337',
      '--from',
      '0',
      '--to',
      '19',
      '--dataset',
      'erc20-transfers',
    );
    expect(jsonLines(reindex.stdout).at(-1)).toMatchObject({
      work: 'reindex',
      blocks: 20,
      datasets: ['erc20-transfers'],
    });

    const verify = await run('verify', '--chain', 'scripted', '--from', '40', '--to', '59');
    expect(jsonLines(verify.stdout).at(-1)).toMatchObject({
      work: 'verify',
      // Nothing links the range to followed blocks, and there is no second upstream.
      levels: { record: 20 },
      repairs: [],
    });
    expect(verify.exitCode).toBe(0);
  });

  it('leaves indexes out of a bulk backfill and builds them afterwards', async () => {
    const indexes = (): Promise<object[]> =>
      stage.scratch.database.query(
        sql`SELECT indexname FROM pg_indexes WHERE indexname = 'erc20_transfer_sides_by_token'`,
      );
    const bulk = await run('backfill', '--chain', 'scripted', '--from', '60', '--to', '79', '--bulk');
    expect([bulk.exitCode, bulk.stderr]).toEqual([
      0,
      expect.stringContaining('building erc20_transfer_sides_by_token'),
    ]);
    expect(await indexes()).toHaveLength(1);

    await stage.scratch.database.query(sql`DROP INDEX erc20_transfer_sides_by_token`);
    const built = await run('indexes');
    expect(jsonLines(built.stdout)).toEqual([
      { work: 'indexes', built: ['erc20_transfer_sides_by_token'], finished: true },
    ]);
    expect(await indexes()).toHaveLength(1);
  });

  it('fails to verify what is not indexed, saying how much', async () => {
    const { exitCode, stderr } = await run('verify', '--chain', 'scripted', '--from', '79', '--to', '80');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('1 are not indexed');
  });

  it.each([
    [['reindex', '--chain', 'scripted', '--from', '0', '--to', '1', '--dataset', 'nfts'], 'Unknown dataset nfts'],
    [['backfill', '--chain', 'scripted'], 'No block range given'],
    [['backfill', '--chain', 'unheard-of', '--from', '1', '--to', '2'], 'unheard-of'],
  ])('ends with 2 for %j', async (args, message) => {
    const { exitCode, stderr } = await run(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('work on ranges that is left to a running program', () => {
  it('is a job, which is listed, and cancelled', async () => {
    const detached = await run('verify', '--chain', 'scripted', '--from', '1', '--to', '20', '--detach');
    expect([detached.exitCode, detached.stderr]).toEqual([0, '']);
    const [{ job } = {}] = jsonLines(detached.stdout);
    expect(job).toMatch(/^\d{16}[0-9a-f]{8}$/);
    const listed = await run('jobs', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { job, work: 'verify', chain: 'scripted', status: 'queued' },
    ]);
    expect((await run('jobs', 'list')).stdout).toContain('1-20');
    const again = await run('verify', '--chain', 'scripted', '--range', '1-20', '--detach');
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining(`as job ${job}`)]);
    expect((await run('jobs', 'cancel', String(job))).stdout).toContain('is cancelled');
    expect((await run('jobs', 'cancel', String(job))).exitCode).toBe(1);
    const [line] = await stage.scratch.database.query(
      sql`SELECT action, target FROM audit_log ORDER BY id DESC LIMIT 1`,
    );
    expect(line).toEqual({ action: 'job.cancel', target: job });
  });

  it('that ended its process is tried again by command', async () => {
    const { database } = stage.scratch;
    const work = 'block scripted 7 streams';
    await database.query(sql`INSERT INTO quarantined_work (name, crashes) VALUES (${work}, 3)`);
    expect((await run('jobs', 'retry', work)).stdout).toContain('no longer quarantined');
    expect(await database.query(sql`SELECT name FROM quarantined_work`)).toEqual([]);
    const again = await run('jobs', 'retry', work);
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining(`No work named ${work}`)]);
  });

  it.each([
    [['backfill', '--chain', 'base', '--from', '1', '--to', '2', '--detach'], 'is not in CHAINS'],
    [
      ['backfill', '--chain', 'scripted', '--from', '1', '--to', '2', '--detach', '--bulk'],
      "--bulk can't be combined",
    ],
    [['verify', '--chain', 'aptos', '--from', '1', '--to', '2', '--detach'], 'does not support Aptos'],
  ])('ends with 2 for %j', async (args, message) => {
    const { exitCode, stderr } = await run(...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('record', () => {
  it('writes blocks that the recorded-chain node can load', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-record-'));
    const { exitCode, stdout, stderr } = await run(
      'record',
      '--chain',
      'scripted',
      '--from',
      '3',
      '--to',
      '5',
      '--out',
      folder,
    );
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ work: 'record', blocks: 3 });
    expect(JSON.parse(await readFile(join(folder, 'chain-ids.json'), 'utf8'))).toEqual({ scripted: 31337 });
    const block: { hash: string; transactions: unknown[] } = JSON.parse(
      await readFile(join(folder, 'scripted/4/block.json'), 'utf8'),
    );
    expect(block.hash).toBe(stage.chain.blockAt(4)?.hash);
    const receipts: unknown[] = JSON.parse(await readFile(join(folder, 'scripted/4/receipts.json'), 'utf8'));
    expect(receipts).toHaveLength(block.transactions.length);
    expect(await loadRecordedChain({ folder, chain: 'scripted' })).toBeDefined();
  });
});
