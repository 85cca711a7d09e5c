/**
 * A network under test: fullnodes over a recorded ledger, a scratch database, and the expected content of its tables.
 */
import { createMetricsRegistry, type Logger, silentLogger, systemClock } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { createSyncMetrics } from '@chainstead/sync/ingest';
import {
  type AptosFaultSettings,
  type AptosFullnode,
  type AptosLedger,
  type Closable,
  closeOf,
  createAptosLedger,
  createScratchDatabase,
  readAptosTransactions,
  type ScratchDatabase,
  startAptosFullnode,
} from '@chainstead/testkit';
import type { AptosDatasetName } from '../../dataset.ts';
import { APTOS_DATASET_NAMES, aptosDatasets } from '../../datasets.ts';
import { createFullnodeMetrics } from '../../fullnode/fullnode-state.ts';
import { createFullnodes, type Fullnodes } from '../../fullnode/fullnodes.ts';
import { parseTransaction } from '../../fullnode/read-page.ts';
import type { AptosSyncOptions, AptosSyncSettings } from '../options.ts';

export const TABLES = ['aptos_coins', 'aptos_transfers', 'aptos_balances', 'aptos_balance_history'] as const;

/** Returns every recorded transaction as one ledger, genesis first: one every few versions, from its beginning. */
export function recordedLedger(folder: string, every = 7): AptosLedger {
  const files = [
    'rest-local-chain/test_get_transactions_output_genesis_transaction.json',
    'rest-derived/mainnet_transactions.json',
    'rest-derived/testnet_transactions.json',
    'rest-local-chain/test_get_transactions_output_user_transaction_with_entry_function_payload.json',
    'rest-local-chain/test_get_txn_execute_failed_by_entry_function_validation.json',
  ];
  const transactions = files.flatMap((file) => readAptosTransactions(folder, file));
  return createAptosLedger({ transactions, place: { from: 0, every } });
}

/** Returns the rows of each table, in an order independent of their arrival. */
export async function readTables(database: Database): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const table of TABLES)
    tables[table] = (
      await database.query<{ row: unknown }>(
        sql`SELECT to_jsonb(t) AS row FROM ${rawSql(table)} t ORDER BY t::text`,
      )
    ).map(({ row }) => row);
  return tables;
}

/**
 * Returns the expected content of the tables: all transactions of the ledger derived together, directly from their
 * JSON.
 */
export async function readTruth(
  ledger: AptosLedger,
  names = APTOS_DATASET_NAMES,
): Promise<Record<string, unknown[]>> {
  const scratch = await createScratchDatabase();
  try {
    const transactions = Array.from({ length: ledger.head + 1 }, (_, version) =>
      parseTransaction(JSON.parse(ledger.transaction(version).toString('utf8'))),
    );
    const slice = {
      network: 'mainnet' as const,
      transactions,
      blockHeight: (version: number) => ledger.blockOf(version).height,
    };
    await scratch.database.transaction(async (transaction) => {
      for (const dataset of aptosDatasets(names)) await dataset.derive(slice).write(transaction);
    });
    return await readTables(scratch.database);
  } finally {
    await scratch.drop();
  }
}

export interface AptosStage extends Closable {
  readonly database: Database;
  readonly scratch: ScratchDatabase;
  serve(ledger: AptosLedger, faults?: Partial<AptosFaultSettings>): Promise<AptosFullnode>;
  open(urls: readonly string[]): Fullnodes;
  options(
    fullnodes: Fullnodes,
    settings: Partial<AptosSyncSettings>,
    datasets?: readonly AptosDatasetName[],
    logger?: Logger,
  ): AptosSyncOptions;
}

export async function openStage(): Promise<AptosStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  let seed = 0;
  const later = parts.use(new AsyncDisposableStack());
  return {
    scratch,
    database: scratch.database,
    async serve(ledger, faults = {}) {
      seed++;
      const fullnode = later.adopt(await startAptosFullnode(ledger, { faults, seed }), (one) => one.close());
      return fullnode;
    },
    open(urls) {
      const fullnodes = createFullnodes({
        network: 'mainnet',
        urls,
        logger: silentLogger(),
        clock: systemClock,
        metrics: createFullnodeMetrics(createMetricsRegistry()),
      });
      return later.adopt(fullnodes, (one) => one.close());
    },
    options: (fullnodes, settings, datasets = APTOS_DATASET_NAMES, logger = silentLogger()) => ({
      fullnodes,
      database: scratch.database,
      datasets: aptosDatasets(datasets),
      settings: { startVersion: 0, endVersion: null, pollMs: 20, ...settings },
      logger,
      metrics: createSyncMetrics(createMetricsRegistry()),
      clock: systemClock,
    }),
    ...closeOf(parts),
  };
}
