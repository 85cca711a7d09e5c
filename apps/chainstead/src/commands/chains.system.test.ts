import { rawSql, sql } from '@chainstead/db';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandOutcome, runCaptured } from '../testing/captured-context.ts';
import { type CommandStage, openCommandStage } from '../testing/command-stage.ts';

let stage: CommandStage;
/** Settings of a program that doesn't index the chain of the stage any more. */
let others: Readonly<Record<string, string>>;

beforeAll(async () => {
  stage = await openCommandStage();
  others = { DATABASE_URL: stage.scratch.url, CHAINS: 'eth' };
  const filled = await stage.run('backfill', '--chain', 'scripted', '--from', '0', '--to', '100');
  expect([filled.exitCode, filled.stderr]).toEqual([0, expect.any(String)]);
  await stage.scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, head, updated_at)
     VALUES (31337, 'scripted', 0, 101, 100, 100, '2026-05-01T00:00:00Z')`,
  );
});
afterAll(() => stage?.close());

const remove = (environment: Readonly<Record<string, string>>, ...options: string[]): Promise<CommandOutcome> =>
  runCaptured(['chains', 'remove', 'scripted', ...options], environment);

describe('chains', () => {
  it('lists a stored chain, and whether it is configured here', async () => {
    const line = /^scripted +31337 +0 to 100 +not configured here, not indexed since 2026-05-01T00:00:00.000Z/m;
    expect((await runCaptured(['chains', 'list'], others)).stdout).toMatch(line);
    const { stdout } = await stage.run('chains', 'list', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { chain: 'scripted', chain_id: 31_337, configured: true, indexed: false, from_block: 0, to_block: 100 },
    ]);
  });

  it('is named by status as stored, with the command that deletes it', async () => {
    const { stdout } = await runCaptured(['status'], others);
    expect(stdout).toContain(
      'scripted (31337)\n  not configured: stored, not indexed since 2026-05-01T00:00:00.000Z;',
    );
    expect(stdout).not.toContain('0 blocks behind');
    // Without any chain, the configuration is elsewhere.
    expect((await runCaptured(['status'], { DATABASE_URL: stage.scratch.url })).stdout).not.toContain(
      'not configured',
    );
  });

  it('removes no configured chain, none without a confirmation, and none that is unknown', async () => {
    expect(await remove(stage.environment, '--yes')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/is in the configuration[\s\S]*Remove scripted from CHAINS/),
    });
    expect(await remove(others)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('add --yes') });
    expect(await runCaptured(['chains', 'remove', 'other', '--yes'], others)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Use a stored chain: scripted'),
    });
  });

  it('shows rows and bytes, and deletes them', async () => {
    const planned = await remove(others, '--dry-run');
    expect(planned.stderr).toMatch(/^blocks +\d+ +[\d.]+ kB$/m);
    expect(planned.stderr).toMatch(
      /All rows of scripted will be deleted: [\d,]+ rows, [\d.]+ [kM]B with indexes\./,
    );
    const { rows } = JSON.parse(planned.stdout);
    const removed = await remove(others, '--yes');
    expect([removed.exitCode, removed.stderr]).toEqual([0, expect.stringContaining('"work":"remove"')]);
    expect(JSON.parse(removed.stdout)).toMatchObject({ work: 'remove', chain: 'scripted', finished: true });
    expect(rows).toBeGreaterThan(1_000);
    expect((await runCaptured(['chains', 'list'], others)).stdout).toMatch(/^No chain has been ingested/);
    const audited = await stage.scratch.database.query(
      sql`SELECT target FROM audit_log WHERE action = 'chain.remove'`,
    );
    expect(audited).toEqual([{ target: 'scripted' }]);
    // The chain can be indexed again.
    expect((await stage.run('backfill', '--chain', 'scripted', '--from', '0', '--to', '100')).exitCode).toBe(0);
    expect((await stage.run('chains', 'list')).stdout).toMatch(
      /^scripted +31337 +0 to 100 +configured, not indexed/m,
    );
  });

  it('removes an Aptos network, and leaves the other one', async () => {
    const { database } = stage.scratch;
    const networks = "unnest(ARRAY['mainnet', 'testnet']) AS network";
    await database.query(
      sql`INSERT INTO aptos_networks (network, chain_id, history_start, first_followed) SELECT network, 1, 0, 0 FROM ${rawSql(networks)}`,
    );
    await database.query(
      sql`INSERT INTO aptos_ranges (network, dataset, first_version, last_version) SELECT network, 'coins', 0, 9 FROM ${rawSql(networks)}`,
    );
    const { exitCode, stdout } = await runCaptured(['chains', 'remove', 'aptos', '--yes'], others);
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { chain: 'aptos', rows: 2, finished: true }]);
    expect(
      await database.query(sql`SELECT network FROM aptos_networks UNION ALL SELECT network FROM aptos_ranges`),
    ).toEqual([{ network: 'testnet' }, { network: 'testnet' }]);
  });
});
