/** The first wallet of a chain is requested after blocks were read for other datasets. */
import { createMetricsRegistry, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import type { BlockWatcher } from '@chainstead/sync';
import { saveChainStart } from '@chainstead/sync/checkpoint';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import { createScriptedChain, type JsonObject, type RpcHandler, serveScriptedChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { logs } from '../contract-logs/dataset.ts';
import { createWalletsWatcher } from './create-wallets-watcher.ts';
import { stageChain, stagePool } from './testing/wallet-stage.ts';

const CHAIN_ID = 31_347;
const STRANGER = `0x${'77'.repeat(20)}`;
const scratch = scratchOfFile();

test('its transactions are found under a sender that the first node concealed', async () => {
  const { database } = scratch;
  const scripted = createScriptedChain({ seed: 5, chainId: CHAIN_ID, emptyShare: 0, isSigned: true });
  scripted.mine(1);
  const [{ transactions = [] } = {}] = scripted.blocksIn({ from: 1, to: 1 });
  const sent = transactions.find(({ to }) => to !== null);
  const wallet = parseAddress(String(sent?.from));
  let isRequested = false;
  const conceal = (list: readonly JsonObject[]) =>
    list.map((one) => (one.from === sent?.from && one.to !== null ? { ...one, from: STRANGER } : one));
  const lying =
    (own: RpcHandler | undefined, alter: (result: never) => unknown): RpcHandler =>
    async (params) => {
      const reply = (await own?.(params)) ?? { result: null };
      const isAltered = !isRequested && 'result' in reply && typeof reply.result === 'object';
      return isAltered && reply.result !== null ? { result: alter(reply.result as never) } : reply;
    };
  const node = await serveScriptedChain(scripted, {
    methods: (_view, own) =>
      new Map([
        [
          'eth_getBlockByNumber',
          lying(own.get('eth_getBlockByNumber'), (block: JsonObject) => ({
            ...block,
            transactions: (block.transactions as readonly JsonObject[]).map((one) =>
              typeof one === 'string' ? one : conceal([one])[0],
            ),
          })),
        ],
        ['eth_getBlockReceipts', lying(own.get('eth_getBlockReceipts'), conceal)],
      ]),
  });
  onTestFinished(() => node.close());
  const chain = { ...stageChain(CHAIN_ID), confirmations: 0, logs: 'all' } as const;
  const pool = await stagePool(chain, [node.url]);
  onTestFinished(() => pool.close());
  const shared = { database, clock: systemClock, logger: silentLogger() };
  const wallets = createWalletsWatcher(shared);
  const watcher: BlockWatcher = {
    ...wallets,
    async committed(transaction, ...commit) {
      isRequested = true;
      await database.query(
        sql`INSERT INTO tracked_wallets (chain_id, wallet) VALUES (${CHAIN_ID}, ${addressBytes(wallet)}) ON CONFLICT DO NOTHING`,
      );
      await wallets.committed(transaction, ...commit);
    },
  };
  await saveChainStart(database, chain, 1, 1);
  const sync = createChainSync({
    ...{ ...shared, chain, pool, watcher, datasets: [logs] },
    metrics: createSyncMetrics(createMetricsRegistry()),
    settings: {
      ...{ startBlock: 1, endBlock: 1, proof: 'strict', verifyBlocksPerSecond: 0 },
      ...{ backfillProof: 'none', backfillOrder: 'newest-first' },
    },
  });
  await sync.run(AbortSignal.timeout(20_000));
  const rows = await database.query<{ index: number }>(
    sql`SELECT transaction_index AS index FROM account_transactions WHERE chain_id = ${CHAIN_ID} AND account = ${addressBytes(wallet)}`,
  );
  expect(rows.map(({ index }) => index)).toContain(transactions.findIndex(({ hash }) => hash === sent?.hash));
});
