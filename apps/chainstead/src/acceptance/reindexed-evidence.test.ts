/**
 * Rows of accounts that were stored before it was kept what their transactions' logs say of them: `chainstead reindex` makes them those that a program
 * has which kept it from the beginning.
 */
import { createChainRegistry } from '@chainstead/chains';
import { mergeRanges } from '@chainstead/core';
import { listCoverage } from '@chainstead/sync';
import {
  type ChainNode,
  createScratchDatabase,
  recordedEvmFolder,
  type ScratchDatabase,
  serveRecordedChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProgram } from '../testing/program-process.ts';
import { waitUntil } from './indexed-chain.ts';

const BLOCKS = { from: 35_779_967, to: 35_779_974 };
const DATASET = 'account-transactions';
const TIMEOUT_MS = 120_000;
const chain = createChainRegistry().get('polygon');
const folder = recordedEvmFolder();
if (folder === null)
  process.stdout.write('NOT RUN: reindexing of accounts of transactions (no recorded blocks beside the checkout)\n');

describe.skipIf(folder === null)('accounts of transactions that an earlier version stored', () => {
  let node: ChainNode;
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    [node, scratch] = await Promise.all([
      serveRecordedChain({ folder: folder ?? '', chain: chain.key, blocks: BLOCKS }),
      createScratchDatabase(),
    ]);
  });
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
        PROOF_POLYGON: 'record',
        TRANSACTIONS_POLYGON: 'all',
        LOG_LEVEL: 'warn',
      },
    });

  async function index(): Promise<void> {
    const program = run('start', '--roles', 'ingest');
    try {
      await waitUntil(async () => {
        const coverage = await listCoverage(scratch.database, chain.id);
        const covered = mergeRanges(coverage.filter(({ dataset }) => dataset === DATASET).map(({ range }) => range));
        return JSON.stringify(covered) === JSON.stringify([BLOCKS]) ? null : JSON.stringify(covered);
      }, TIMEOUT_MS / 2);
    } catch (error) {
      throw new Error(`${String(error)}\n${program.output().slice(-4_000)}`);
    } finally {
      program.kill('SIGTERM');
      await program.exited;
    }
  }

  const rows = () =>
    scratch.database.query<{ row: string; evidence: number }>(
      `SELECT row::text AS row, evidence FROM account_transactions AS row ORDER BY 1`,
    );

  it(
    'are written anew with what their logs say',
    async () => {
      await index();
      const whole = await rows();
      expect(new Set(whole.map(({ evidence }) => evidence)).size).toBeGreaterThan(5);
      // As the program of migration 0049 leaves them.
      await scratch.database.query('DELETE FROM account_transactions WHERE roles <= 0');
      await scratch.database.query('UPDATE account_transactions SET evidence = 0');
      expect((await rows()).length).toBeLessThan(whole.length);
      const range = ['--from', String(BLOCKS.from), '--to', String(BLOCKS.to)];
      const command = run('reindex', '--chain', chain.key, ...range, '--dataset', DATASET);
      expect([await command.exited, command.output()]).toEqual([0, expect.stringContaining('"blocks":8')]);
      expect(await rows()).toEqual(whole);
    },
    TIMEOUT_MS,
  );
});
