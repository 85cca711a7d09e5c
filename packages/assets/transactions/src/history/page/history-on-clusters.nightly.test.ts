/** Histories on a Citus cluster, with a wallet's rows on several nodes, equal those of one server. */
import type { Address } from '@chainstead/core';
import { type Database, hexBytes, hexText, rawSql, sql } from '@chainstead/db';
import { findCitus, recordedData, type ScratchCitus } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FIRST_BLOCK, type HistoryStage, LAST_BLOCK, openHistoryStage } from '../testing/history-stage.ts';

const programs = await findCitus('histories of wallets on a cluster');
const { isMissing, title } = recordedData('data/evm');

const TIMEOUT_MS = 240_000;
const WALLETS = 6;
const QUERIES = [
  'limit=10',
  'limit=10&order=ASC',
  `from_block=${FIRST_BLOCK + 1}&to_block=${LAST_BLOCK - 1}&limit=10`,
];

describe.runIf(!isMissing && programs !== undefined)(title('histories on a cluster'), () => {
  let cluster: ScratchCitus;
  let spread: HistoryStage;
  let single: HistoryStage;
  let wallets: readonly Address[] = [];
  beforeAll(async () => {
    if (programs === undefined) throw new Error('There is no Citus');
    cluster = await programs.createCluster();
    spread = await openHistoryStage(await cluster.createDatabase({ distributed: true }));
    single = await openHistoryStage();
    for (const { scratch } of [spread, single]) await moveSomeInside(scratch.database);
    wallets = await busiest(single.scratch.database);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await Promise.all([spread?.close(), single?.close()]);
    await cluster?.remove();
  });
  beforeEach(() => {
    for (const stage of [spread, single]) stage.reset();
  });

  /** Compares both responses without cursors, which each database signs separately. */
  async function expectAlike(path: string): Promise<readonly number[]> {
    const [own, expected] = await Promise.all(
      [spread, single].map(async (stage) =>
        (await stage.pages(path)).map((page) => ({ ...page, cursor: page.cursor === null })),
      ),
    );
    expect(own, path).toEqual(expected);
    return (expected ?? []).map(({ result }) => result.length);
  }

  test.each(QUERIES)('%s: pages of the busiest wallets are alike', { timeout: TIMEOUT_MS }, async (query) => {
    const lengths: number[] = [];
    for (const wallet of wallets) lengths.push(...(await expectAlike(`wallets/${wallet}/history?${query}`)));
    expect(lengths.length).toBeGreaterThanOrEqual(WALLETS);
    expect(Math.max(...lengths)).toBeGreaterThan(9);
  });

  test('pages contain internal transfers', { timeout: TIMEOUT_MS }, async () => {
    for (const stage of [spread, single]) stage.settings.internalTransfers = 'all';
    const [wallet = ''] = wallets;
    await expectAlike(`wallets/${wallet}/history?limit=50`);
    const { result } = await spread.get(`wallets/${wallet}/history`);
    expect(result.flatMap((row) => row.native_transfers).some((leg) => leg.internal_transaction)).toBe(true);
  });

  test('a wallet that is asked for has the history, and the coverage, of one server', {
    timeout: TIMEOUT_MS,
  }, async () => {
    for (const { settings } of [spread, single]) settings.mode = 'wallets';
    const [wallet = ''] = wallets;
    const path = `wallets/${wallet}/history?limit=10`;
    for (const { scratch } of [spread, single])
      await scratch.database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'account-transactions'`);
    await expectAlike(path);
    for (const { scratch } of [spread, single]) {
      await scratch.database.query(sql`UPDATE tracked_wallets SET since_block = ${FIRST_BLOCK}`);
      await scratch.database.query(
        sql`INSERT INTO wallet_scan_state (chain_id, first_block, last_block) VALUES (1, ${FIRST_BLOCK}, ${LAST_BLOCK})`,
      );
    }
    await expectAlike(`${path}&from_block=${FIRST_BLOCK}`);
    expect((await spread.get(`${path}&from_block=${FIRST_BLOCK}`)).indexed.complete).toBe(true);
    expect((await spread.get(path)).indexed.complete).toBe(false);
  });
});

async function busiest(database: Database): Promise<readonly Address[]> {
  const rows = await database.query<{ wallet: Address }>(
    sql`SELECT ${hexText('account')} AS wallet FROM (SELECT account, count(*) AS parts FROM account_transactions GROUP BY account) AS counted
     ORDER BY parts DESC, account LIMIT ${rawSql(WALLETS)}`,
  );
  return rows.map(({ wallet }) => wallet);
}

/** Adds traces: each receiver of a transaction passes something on to its sender. */
async function moveSomeInside(database: Database): Promise<void> {
  await database.query(sql`SELECT attach_partition(to_regclass('internal_transfers'), 1, 0, NULL)`);
  const rows = await database.query<{
    block: number;
    index: number;
    account: string;
    counterparty: string;
    hash: string;
  }>(
    sql`SELECT block_number::int8 AS block, transaction_index AS index, encode(from_address, 'hex') AS account, encode(to_address, 'hex') AS counterparty,
       encode(transaction_hash, 'hex') AS hash FROM transactions WHERE to_address <> from_address ORDER BY block_number, transaction_index LIMIT 150`,
  );
  for (const { block, index, account, counterparty, hash } of rows)
    for (const [direction, side, other] of [
      [1, account, counterparty],
      [0, counterparty, account],
    ] as const) {
      const [key] = await database.query<{ key: string }>(
        sql`SELECT address_key(${hexBytes(side)})::text AS key`,
      );
      await database.query(
        sql`INSERT INTO internal_transfers (account_key, chain_id, block_number, transaction_index, trace_index, direction, account, counterparty, value, transaction_hash, type)
         VALUES (${key?.key ?? null}, 1, ${block}, ${index}, 1, ${direction}, ${hexBytes(side)}, ${hexBytes(other)}, 70, ${hexBytes(hash)}, 'CALL')`,
      );
    }
}
