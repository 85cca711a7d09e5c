import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import { createScratchDatabase } from '@chainstead/testkit';
import { describe, expect, it, vi } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

describe('status and gaps', () => {
  it('name chains that are not configured here, and ask for no upstream of those that are', async () => {
    const other = await createScratchDatabase();
    try {
      await other.database.query(
        sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint)
         VALUES (31337, 'ours', 0, 0, 5), (1, 'eth', 0, 0, 5)`,
      );
      const environment = { DATABASE_URL: other.url };
      expect((await runCaptured(['status'], environment)).stdout).toMatch(
        /eth \(1\), as of[\s\S]*ours \(31337\), as of/,
      );
      expect((await runCaptured(['gaps'], environment)).stdout).toMatch(/^No gaps/);
      const configured = { ...environment, CHAINS: 'mine', CHAIN_ID_MINE: '31337' };
      for (const command of [['status'], ['gaps'], ['keys', 'list'], ['migrate'], ['indexes']])
        expect([command, (await runCaptured(command, configured)).exitCode]).toEqual([command, 0]);
      expect((await runCaptured(['status'], configured)).stdout).toContain('mine (31337), as of');
      const needs = ['backfill', '--chain', 'mine', '--from', '0', '--to', '1'];
      expect((await runCaptured(needs, configured)).stderr).toContain('RPC_URLS_MINE is missing');
    } finally {
      await other.drop();
    }
  });

  it('show what swaps, prices and proofs of a chain wait for', async () => {
    const other = await createScratchDatabase();
    try {
      await other.database.query(
        sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint) VALUES (1, 'eth', 20, 100, 200)`,
      );
      await other.database.query(
        sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
         VALUES (1, 'swaps', 100, 200, 'receipts'), (1, 'pool-states', 20, 99, 'none'), (1, 'pool-states', 100, 200, 'receipts')`,
      );
      await other.database.query(
        sql`INSERT INTO pools (pool_key, chain_id, pool) SELECT number, 1, decode(lpad(number::text, 40, '0'), 'hex') FROM generate_series(1, 3) AS number`,
      );
      const environment = { DATABASE_URL: other.url, CHAINS: 'eth', VERIFY_BLOCKS_PER_SECOND: '0' };
      const { stdout } = await runCaptured(['status'], environment);
      expect(stdout).toContain(
        '  swaps       complete from block 100 to 200; waiting for 80 blocks from 20 to 99; the proof of 3 pools\n',
      );
      expect(stdout).toMatch(
        /^ {2}prices {6}complete from block 20 to 200; waiting for the first value of \d+ of \d+ price feeds; /m,
      );
      const { chains } = JSON.parse((await runCaptured(['status', '--json'], environment)).stdout);
      expect(chains[0].progress).toMatchObject([
        { subject: 'swaps', state: 'waiting', from_block: 100, to_block: 200 },
        { subject: 'prices', state: 'waiting', from_block: 20, to_block: 200 },
        {
          ...{ subject: 'proofs', state: 'waiting', from_block: 100, to_block: 200 },
          waits_for: [
            'the level receipts of 80 blocks from 20 to 99: VERIFY_BLOCKS_PER_SECOND=0 turns the prover off',
          ],
        },
      ]);
    } finally {
      await other.drop();
    }
  });

  it('tell how many streams there are, what waits to be sent, and which of them fail', async () => {
    const other = await createScratchDatabase();
    try {
      await other.database.query(
        sql`INSERT INTO streams (id, webhook_url, description, tag, chain_ids, all_addresses, include_native_txs,
           include_contract_logs, include_internal_txs, include_all_tx_logs, filter_possible_spam_addresses,
           get_native_balances, demo, status, status_message, deleted_at)
         SELECT gen_random_uuid(), 'https://a.example', '', 'tag of ' || status, '{1}', false, true, false, false, false,
           false, '[]', false, status, 'because', deleted_at
           FROM (VALUES ('active', NULL::timestamptz), ('active', NULL), ('paused', NULL), ('error', NULL), ('active', now()))
             AS given (status, deleted_at)`,
      );
      await other.database.query(
        sql`INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind, status, due_at)
         SELECT gen_random_uuid(), id, 1, number, '\\x00', 'confirmed', CASE number WHEN 1 THEN 'delivered' ELSE 'pending' END, now()
           FROM streams, generate_series(1, 3) AS number WHERE status = 'paused'`,
      );
      const { stdout } = await runCaptured(['status'], { DATABASE_URL: other.url });
      expect(stdout).toMatch(/^streams\n {2}2 active, 1 error, 1 paused; 2 webhooks pending\n/m);
      expect(stdout).toMatch(/^ {4}[0-9a-f-]{36} \(tag of error\) error: because$/m);
      const { streams } = JSON.parse(
        (await runCaptured(['status', '--json'], { DATABASE_URL: other.url })).stdout,
      );
      expect(streams).toMatchObject({ active: 2, paused: 1, error: 1, terminated: 0, webhooks_pending: 2 });
    } finally {
      await other.drop();
    }
  });

  it('make no database where there is none, and say what to do', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-none-'));
    vi.stubEnv('TMPDIR', folder);
    try {
      for (const command of ['status', 'gaps']) {
        const { exitCode, stderr } = await runCaptured([command], { DATA_DIR: join(folder, 'data') });
        expect([exitCode, stderr]).toEqual([
          2,
          expect.stringContaining(`There is no database in ${folder}/data yet`),
        ]);
      }
      expect(await readdir(folder)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('tell of a chain that was never ingested', async () => {
    const other = await createScratchDatabase();
    try {
      const environment = { DATABASE_URL: other.url };
      expect((await runCaptured(['status'], environment)).stdout).toContain('No chain has been ingested yet');
      expect((await runCaptured(['gaps'], environment)).stdout).toContain('No chain has been ingested yet');
      expect(JSON.parse((await runCaptured(['gaps', '--json'], environment)).stdout)).toEqual([]);
    } finally {
      await other.drop();
    }
  });
});
