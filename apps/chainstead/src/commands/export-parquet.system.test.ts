import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';
import { jsonLines, openCommandStage } from '../testing/command-stage.ts';

const stage = stageOfFile(openCommandStage);
const RANGE = ['--table', 'erc20_transfers', '--chain', 'scripted', '--from', '0', '--to', '79'];
const exportTo = (out: string, ...args: string[]) =>
  stage.run('export', 'parquet', ...RANGE, '--out', out, ...args);
const newFolder = () => mkdtemp(join(tmpdir(), 'chainstead-lake-'));
const manifestOf = async (out: string) =>
  JSON.parse(await readFile(join(out, '_export/table=erc20_transfers/chain=31337/manifest.json'), 'utf8'));
const countTransfers = async () => {
  const [row] = await stage.scratch.database.query<{ rows: number }>(
    sql`SELECT count(*) AS rows FROM erc20_transfer_sides WHERE direction <> 1 AND block_number <= 79`,
  );
  return row?.rows;
};

beforeAll(async () => {
  await stage.run('backfill', '--chain', 'scripted', '--from', '0', '--to', '99');
  await stage.scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed) VALUES (31337, 'scripted', 0, 100) ON CONFLICT DO NOTHING`,
  );
});

describe('export parquet', () => {
  it('reports its result, and writes again what a reindex changed', async () => {
    const out = await newFolder();
    const rows = await countTransfers();
    expect(rows).toBeGreaterThan(50);
    const [{ ctid } = { ctid: '' }] = await stage.scratch.database.query<{ ctid: string }>(
      sql`DELETE FROM erc20_transfer_sides WHERE (account_key, block_number, transaction_index, log_index, direction) IN
         (SELECT account_key, block_number, transaction_index, log_index, direction FROM erc20_transfer_sides
           WHERE direction <> 1 AND block_number < 20 LIMIT 1) RETURNING ctid::text`,
    );
    expect(ctid).not.toBe('');
    const first = await exportTo(out, '--blocks-per-file', '20');
    expect([first.exitCode, first.stderr]).toEqual([0, '']);
    expect(jsonLines(first.stdout).at(-1)).toEqual({
      ...{ work: 'export', kind: 'parquet', chain: 'scripted', table: 'erc20_transfers' },
      folder: join(out, 'table=erc20_transfers/chain=31337'),
      ...{ blocks: 80, to: 79, rows: Number(rows) - 1, files: 4, rewritten: 0, finished: true },
    });
    await stage.run('reindex', '--chain', 'scripted', '--from', '0', '--to', '99');
    const second = await exportTo(out, '--blocks-per-file', '20');
    expect(second.stderr).toBe('Rewrote blocks 0-19 of erc20_transfers: reindex\n');
    expect(jsonLines(second.stdout).at(-1)).toMatchObject({ files: 1, rewritten: 1 });
    expect((await manifestOf(out)).rows).toBe(rows);
  });

  it('finds the chain in the database, where it is not configured', async () => {
    const out = await newFolder();
    const environment = { DATABASE_URL: stage.scratch.url };
    const { exitCode, stderr } = await runCaptured(['export', 'parquet', ...RANGE, '--out', out], environment);
    expect([exitCode, stderr]).toEqual([
      0,
      'scripted (31337) is not configured here. Blocks count as final 64 blocks below the newest one.\n',
    ]);
    expect((await manifestOf(out)).rows).toBe(await countTransfers());
  });

  it('continues after a SIGKILL', async () => {
    const out = await newFolder();
    const program = join(import.meta.dirname, '../../bin/chainstead.js');
    const args = [program, 'export', 'parquet', ...RANGE, '--out', out, '--blocks-per-file', '1'];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...stage.environment } });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const next = await exportTo(out, '--blocks-per-file', '1');
    expect([next.exitCode, next.stderr]).toEqual([0, '']);
    expect(jsonLines(next.stdout).at(-1)).toMatchObject({ blocks: 80, rewritten: 0 });
    const manifest = await manifestOf(out);
    expect([manifest.rows, manifest.ranges]).toEqual([await countTransfers(), [{ from: 0, to: 79 }]]);
  });

  it.each([
    [
      ['--table', 'nothing'],
      'There is no table nothing to export. Use one of erc20_transfers, erc20_transfer_sides, ',
    ],
    [['--chain', 'unheard-of'], '--chain unheard-of is not a known chain'],
    [['--from', '80'], 'The last block 79 is below the first 80. Swap the two'],
    [['--from', 'x'], '--from x is not a valid number'],
    [['--blocks-per-file', '0'], '--blocks-per-file 0 is not a valid number. Use a whole number from 1'],
    [['--blocks-per-file', '100001'], '--blocks-per-file 100001 is too large. Use at most 100000'],
  ])('ends with 2 for %j', async (args, message) => {
    const { exitCode, stderr } = await exportTo(await newFolder(), ...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each([
    [['--to', '100'], 'Block 100 of scripted is not final here. The newest final block is 99'],
    [
      ['--table', 'nft_trades', '--to', '99'],
      'nft-trades of scripted lacks blocks 0-99. Run "chainstead backfill ',
    ],
  ])('ends with 1 for %j', async (args, message) => {
    const { exitCode, stderr } = await exportTo(await newFolder(), ...args);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});
