/**
 * Rows that are read with whole blocks: `chainstead reindex` makes them those that a program has which wrote them from the beginning. So of
 * accounts and of headers that were deleted and altered.
 */

import { isDeepStrictEqual } from 'node:util';
import { createChainRegistry } from '@chainstead/chains';
import { mergeRanges } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { listCoverage } from '@chainstead/sync/requests';
import {
  type ChainNode,
  createScratchDatabase,
  recordedData,
  type ScratchDatabase,
  serveRecordedChain,
  startProgram,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from './indexed-chain.ts';

const BLOCKS = { from: 35_779_967, to: 35_779_974 };
const DATASETS = ['account-transactions', 'block-headers'] as const;
const TIMEOUT_MS = 90_000;
const chain = createChainRegistry().get('polygon');
const { folder, isMissing, title } = recordedData('data/evm');

describe.skipIf(isMissing)(title('rows that are read with whole blocks'), () => {
  let node: ChainNode;
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    [node, scratch] = await Promise.all([
      serveRecordedChain({ folder: folder, chain: chain.key, blocks: BLOCKS }),
      createScratchDatabase(),
    ]);
    await index();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await node?.close();
    await scratch?.drop();
  });

  const run = (...args: readonly string[]) =>
    startProgram(args, {
      environment: {
        DATABASE_URL: scratch.url,
        CHAINS: chain.key,
        RPC_URLS_POLYGON: node.url,
        START_BLOCK_POLYGON: String(BLOCKS.from),
        VERIFICATION_POLYGON: 'record',
        TRANSACTIONS_POLYGON: 'all',
        LOG_LEVEL: 'warn',
      },
    });

  async function index(): Promise<void> {
    const program = run('start', '--roles', 'ingest');
    try {
      await waitUntil(async () => {
        const coverage = await listCoverage(scratch.database, chain.id);
        const covered = DATASETS.map((name) =>
          mergeRanges(coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range)),
        );
        return covered.every((one) => isDeepStrictEqual(one, [BLOCKS])) ? null : JSON.stringify(covered);
      }, TIMEOUT_MS / 2);
    } catch (error) {
      throw new Error(`${String(error)}\n${program.output().slice(-4_000)}`);
    } finally {
      program.signal('SIGTERM');
      await program.exited;
    }
  }

  async function reindex(dataset: (typeof DATASETS)[number]): Promise<void> {
    const range = ['--from', String(BLOCKS.from), '--to', String(BLOCKS.to)];
    const command = run('reindex', '--chain', chain.key, ...range, '--dataset', dataset);
    expect([await command.exited, command.output()]).toEqual([0, expect.stringContaining('"blocks":8')]);
  }

  const accounts = () =>
    scratch.database.query<{ row: string; evidence: number }>(
      sql`SELECT row::text AS row, evidence FROM account_transactions AS row ORDER BY 1`,
    );
  const headers = () =>
    scratch.database.query<{ row: string }>(
      sql`SELECT row::text AS row FROM block_headers AS row ORDER BY block_number, 1`,
    );

  it(
    'of accounts are written anew with what their logs say',
    async () => {
      const whole = await accounts();
      expect(new Set(whole.map(({ evidence }) => evidence)).size).toBeGreaterThan(5);
      await scratch.database.query(sql`DELETE FROM account_transactions WHERE roles <= 0`);
      await scratch.database.query(sql`UPDATE account_transactions SET evidence = 0`);
      expect((await accounts()).length).toBeLessThan(whole.length);
      await reindex('account-transactions');
      expect(await accounts()).toEqual(whole);
    },
    TIMEOUT_MS,
  );

  it(
    'of headers are restored where they were deleted, altered and invented, and they alone',
    async () => {
      const { database } = scratch;
      const [whole, ofAccounts] = [await headers(), await accounts()];
      expect(whole).toHaveLength(8);
      const [first, second] = [BLOCKS.from, BLOCKS.from + 1];
      await database.query(sql`DELETE FROM block_headers WHERE block_number = ${first}`);
      await database.query(
        sql`UPDATE block_headers SET miner = decode(repeat('ab', 20), 'hex'), base_fee_per_gas = NULL, transaction_count = 0 WHERE block_number > ${second}`,
      );
      // From another block of the same height.
      await database.query(
        sql`UPDATE block_headers SET block_key = 7, block_hash = decode(repeat('cd', 32), 'hex') WHERE block_number = ${second}`,
      );
      const damaged = await headers();
      expect(whole.filter(({ row }) => damaged.some((one) => one.row === row))).toEqual([]);
      await reindex('block-headers');
      expect(await headers()).toEqual(whole);
      expect(await accounts()).toEqual(ofAccounts);
    },
    TIMEOUT_MS,
  );
});
