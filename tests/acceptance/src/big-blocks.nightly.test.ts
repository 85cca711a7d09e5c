/** Blocks of 20,000 transactions and 60,000 logs, with the heap that a process of the program has. */
import { type Database, sql } from '@chainstead/db';
import { createScratchDatabase, startBenchNode, startProgram } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { waitUntil } from './indexed-chain.ts';

const CHAIN_ID = 1_337_063;
const TRANSACTIONS = 20_000;
const LOGS = 3 * TRANSACTIONS;
const BACKFILLED = 2;
const BLOCKS = 3;
const PATIENCE_MS = 120_000;

test.each(['none', 'receipts'])(
  'are backfilled with proof %s, followed and proven, with all of their rows',
  async (proof) => {
    const node = await startBenchNode({
      ...{ chainId: CHAIN_ID, blocks: BLOCKS, finalityDepth: 0, signers: 1_000, nftShare: 0.2 },
      ...{ transactionsPerBlock: TRANSACTIONS, logsPerTransaction: LOGS / TRANSACTIONS },
      faults: { lagBlocks: BLOCKS - BACKFILLED, logLimit: { style: 'infura', maxResults: 20_000 } },
    });
    onTestFinished(() => node.stop());
    const scratch = await createScratchDatabase();
    onTestFinished(() => scratch.drop());
    const program = startProgram(['start', '--roles', 'ingest'], {
      environment: {
        DATABASE_URL: scratch.url,
        CHAINS: 'big',
        CHAIN_ID_BIG: `${CHAIN_ID}`,
        RPC_URLS_BIG: node.url,
        START_BLOCK_BIG: '1',
        POLL_INTERVAL_MS: '50',
        VERIFICATION_BIG: 'strict',
        BACKFILL_PROOF_BIG: proof,
        TRANSACTIONS_BIG: 'all',
        LOGS_BIG: 'all',
        INTERNAL_TRANSFERS_BIG: 'off',
      },
    });
    onTestFinished(async () => void (await program.stop()));
    const { database } = scratch;
    const untilStored = (blocks: number): Promise<void> =>
      waitUntil(async () => ((await isStored(database, blocks)) ? null : program.output()), PATIENCE_MS);
    await untilStored(BACKFILLED);
    await node.setFaults({ lagBlocks: 0 });
    await untilStored(BLOCKS);
    await waitUntil(async () => ((await isProven(database)) ? null : program.output()), PATIENCE_MS);
    const [rows] = await database.query<Record<string, number>>(
      sql`SELECT (SELECT count(*) FROM transactions WHERE sender_recovered)::int AS transactions,
         (SELECT count(*) FROM logs)::int AS logs, (SELECT count(*) FROM dataset_failures)::int AS failures,
         (SELECT count(*) FROM erc20_transfer_sides WHERE direction <> 1)::int AS transfers`,
    );
    expect(rows).toEqual({
      ...{ transactions: BLOCKS * TRANSACTIONS, logs: BLOCKS * LOGS },
      ...{ failures: 0, transfers: node.facts.erc20Transfers },
    });
    expect(program.output()).not.toContain('Ingestion was interrupted');
  },
  3 * PATIENCE_MS,
);

/** All datasets cover as many blocks from the first one on. */
async function isStored(database: Database, blocks: number): Promise<boolean> {
  const [found] = await database.query<{ isStored: boolean }>(
    sql`SELECT count(*) > 0 AND bool_and(covered @> int8range(1, ${blocks}::bigint, '[]')) AS "isStored"
       FROM (SELECT range_agg(int8range(first_block, last_block, '[]')) AS covered FROM sync_ranges GROUP BY dataset) AS ranges`,
  );
  return found?.isStored === true;
}

async function isProven(database: Database): Promise<boolean> {
  return (await database.query(sql`SELECT FROM sync_ranges WHERE proof = 'none'`)).length === 0;
}
