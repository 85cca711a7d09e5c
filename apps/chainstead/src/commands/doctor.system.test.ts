/** `chainstead doctor` over a separate database and nodes that are good, bad, and unavailable. */
import { sql } from '@chainstead/db';
import { startScratchRedis } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';
import { openCommandStage } from '../testing/command-stage.ts';

const KEY = 'secret-key-0123456789';

const stage = stageOfFile(openCommandStage);

interface UpstreamReport {
  readonly verdict: string;
  readonly findings: readonly { readonly subject: string; readonly verdict: string }[];
}

/** What `--json` wrote. */
function parsed(text: string): {
  readonly verdict: string;
  readonly storage: UpstreamReport[];
  readonly nodes: UpstreamReport[];
} {
  return JSON.parse(text);
}

describe('doctor', () => {
  it('looks at nodes and database, and ends with 1 exactly where something is bad', async () => {
    const { exitCode, stdout } = await stage.run('doctor', '--json');
    const { verdict, storage, nodes } = parsed(stdout);
    expect(storage).toMatchObject([{ name: expect.stringContaining('Postgres'), findings: expect.any(Array) }]);
    expect(nodes).toMatchObject([{ chain: 'scripted', findings: expect.any(Array) }]);
    const bad = [...storage, ...nodes]
      .flatMap(({ findings }) => findings)
      .filter((finding) => finding.verdict === 'bad')
      .map(({ subject }) => subject);
    // Servers of tests don't wait for their disks.
    expect(bad.filter((subject) => subject !== 'durability')).toEqual([]);
    expect([exitCode, verdict === 'bad']).toEqual([bad.length === 0 ? 0 : 1, bad.length > 0]);
  });

  it('tells in words what was found', async () => {
    const { stdout } = await stage.run('doctor');
    expect(stdout).toMatch(/^Postgres postgres/m);
    expect(stdout).toMatch(/^ {2}ok +version +Postgres \d+/m);
    expect(stdout).toMatch(/^scripted: 127\.0\.0\.1:\d+ \(\d+ calls/m);
    expect(stdout).toMatch(/^ {2}ok +chain id +31337 \(scripted\)/m);
    expect(stdout).toMatch(
      /^scripted: datasets\n {2}ok +erc20-transfers +on: filtered logs, \d+\.\d and \d+(?:\.\d)? k?B per block, /m,
    );
    expect(stdout).toMatch(
      /^ {2}ok +swaps +off: whole blocks and receipts, 2 calls per block, .* per day\. SWAPS_SCRIPTED=all turns it on$/m,
    );
  });

  it('tells what swaps, prices and proofs of an ingested chain wait for', async () => {
    await stage.run('backfill', '--chain', 'scripted', '--from', '1', '--to', '20');
    const { stdout } = await stage.run('doctor');
    expect(stdout).toMatch(/^scripted: progress\n {2}ok +swaps +off: set SWAPS_SCRIPTED=all and restart$/m);
    expect(stdout).toMatch(
      /^ {2}ok +prices +complete from block 1 to 20; waiting for a token with a known price: /m,
    );
    expect(stdout).toMatch(/^ {2}ok +proofs +\S/m);
  });

  it('tells why a chain is stopped, and what to do', async () => {
    const { database } = stage.scratch;
    const stop = (code: string | null, message: string | null) =>
      database.query(sql`UPDATE sync_chains SET stop_code = ${code}, stop_message = ${message}`);
    const [chain] = await database.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (31337, 0, 0) ON CONFLICT DO NOTHING RETURNING chain_id`,
    );
    await stop('CHAIN_RESET', 'Block 1 is another one. Remove the chain');
    const { exitCode, stdout, stderr } = await stage.run('doctor');
    await stop(null, null);
    if (chain !== undefined) await database.query(sql`DELETE FROM sync_chains`);
    expect(stdout).toMatch(
      /^scripted: progress\n {2}BAD +stopped +CHAIN_RESET\n +Block 1 is another one. Remove the chain$/m,
    );
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/EXAMINATION_FAILED/)]);
    expect(stderr).toMatch(/Checks failed: .*scripted/);
  });

  it('tries a node that is not configured, also one whose chain it says itself, and shows no key', async () => {
    const node = await stage.run('doctor', '--chain', 'eth', '--url', `http://127.0.0.1:9/v2/${KEY}`);
    expect(node.exitCode).toBe(1);
    expect(node.stdout).toMatch(/BAD +connection +no answer/);
    expect(node.stderr).toContain('EXAMINATION_FAILED');
    expect(node.stdout + node.stderr).not.toContain(KEY);
    const unknown = await stage.run('doctor', '--url', `http://127.0.0.1:9/v2/${KEY}`);
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('--chain')]);
    expect(unknown.stderr).not.toContain(KEY);
    const itself = await stage.run('doctor', '--url', stage.nodeUrl);
    expect([itself.exitCode, itself.stdout]).toEqual([0, expect.stringContaining('31337 (scripted)')]);
  });

  it.each([
    [['--chain', 'nowhere'], 2],
    [['--url', 'ftp://example.com'], 2],
    [['--upgrade', '--chain', 'scripted'], 2],
    [['--plan', '--chain', 'scripted'], 2],
    [['--plan', '--upgrade'], 2],
  ])('refuses %j', async (args, code) => {
    expect((await stage.run('doctor', ...args)).exitCode).toBe(code);
  });

  it('tells of a database that is away, and of a Redis that is or that deletes jobs', async () => {
    const environment = { DATABASE_URL: 'postgres://user:hidden-password@127.0.0.1:9/none', CHAINS: '' };
    const away = await runCaptured(['doctor', '--json'], { ...environment, REDIS_URL: 'redis://127.0.0.1:9' });
    expect(away.exitCode).toBe(1);
    expect(parsed(away.stdout).storage).toMatchObject([{ verdict: 'bad' }, { verdict: 'bad' }]);
    expect(away.stdout + away.stderr).not.toContain('hidden-password');
  });

  it('tells of a Redis that deletes jobs', async () => {
    const redis = await startScratchRedis({ maxmemoryPolicy: 'allkeys-lru' });
    if (redis === undefined) {
      process.stdout.write('NOT RUN: doctor over Redis (no redis-server on this machine)\n');
      return;
    }
    try {
      const environment = { DATABASE_URL: stage.scratch.url, CHAINS: '', REDIS_URL: redis.url };
      const { stdout, exitCode } = await runCaptured(['doctor', '--json'], environment);
      expect(exitCode).toBe(1);
      expect(parsed(stdout).storage[1]).toMatchObject({
        verdict: 'bad',
        findings: expect.arrayContaining([expect.objectContaining({ found: 'allkeys-lru', verdict: 'bad' })]),
      });
    } finally {
      await redis.stop();
    }
  });
});
