import { createMetricsRegistry, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';
import type { InternalTransaction, WholeBlock } from '@chainstead/sync/datasets';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import {
  addressOf,
  createScriptedChain,
  exampleChain,
  examplePool,
  hashOf,
  type ScriptedCall,
  type ScriptedChain,
  scriptedCalls,
  serveScriptedChain,
  traceMethods,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { internalTransfers } from './dataset.ts';

const [ALICE, BOB] = [parseAddress(addressOf(0x100)), parseAddress(addressOf(0x200))];
const chain = exampleChain({ internalTransfers: 'all' });

function rowsOf(...calls: readonly Partial<InternalTransaction>[]) {
  const [transactionHash] = [hashOf(1, 1)];
  const block = {
    header: { number: 9 },
    transactions: [{ hash: transactionHash, index: 4 }],
    internalTransactions: calls.map((call) => ({
      ...{ transactionHash, type: 'CALL', from: ALICE, to: BOB, value: 5n, isReverted: false },
      ...call,
    })),
  } as unknown as WholeBlock;
  return internalTransfers.wholeBlocks?.decode(block, { chain, timestampOf: () => 0 }) ?? [];
}

test('a transfer has a row for each side, one to oneself a single one', () => {
  expect(rowsOf({}, { to: ALICE, value: 7n })).toMatchObject([
    {
      account: ALICE,
      counterparty: BOB,
      direction: 0,
      value: '5',
      traceIndex: 0,
      transactionIndex: 4,
      blockNumber: 9,
    },
    { account: BOB, counterparty: ALICE, direction: 1, value: '5', traceIndex: 0 },
    { account: ALICE, counterparty: ALICE, direction: 2, value: '7', traceIndex: 1 },
  ]);
});

test('calls that moved nothing have no row, and their places stay', () => {
  const rows = rowsOf({ value: 0n }, { isReverted: true }, { to: null }, { type: 'SELFDESTRUCT' });
  expect(rows.map(({ traceIndex, type }) => [traceIndex, type])).toEqual([
    [3, 'SELFDESTRUCT'],
    [3, 'SELFDESTRUCT'],
  ]);
});

test('they are kept of chains where an operator wants them', () => {
  expect(internalTransfers.wholeBlocks?.reads(chain)).toEqual(['internalTransactions']);
  expect(internalTransfers.wholeBlocks?.reads(exampleChain())).toEqual([]);
});

const scratch = scratchOfFile();

function storedTransfers(database: Database, chainId: number): Promise<string[]> {
  return database
    .query<{ line: string }>(
      sql`SELECT concat_ws(' ', block_number, transaction_index, trace_index, ${hexText('account')}, ${hexText('counterparty')}, value) AS line
       FROM internal_transfers WHERE chain_id = ${chainId} AND direction <> 1`,
    )
    .then((rows) => rows.map(({ line }) => line).sort());
}

function minedTransfers(scripted: ScriptedChain): string[] {
  return scripted
    .blocksIn({ from: 1, to: scripted.head })
    .flatMap(({ number, transactions, receipts }) =>
      transactions.flatMap((transaction, index) =>
        callsBelow(scriptedCalls(transaction, receipts[index] ?? {}), false).flatMap(
          ({ call, isUndone }, place) =>
            isUndone || BigInt(call.value) === 0n || !['CALL', 'CREATE2'].includes(call.type)
              ? []
              : [[number, index, place, call.from, call.to, BigInt(call.value)].join(' ')],
        ),
      ),
    )
    .sort();
}

function callsBelow(
  { calls, error }: ScriptedCall,
  isUndone: boolean,
): { readonly call: ScriptedCall; readonly isUndone: boolean }[] {
  const above = isUndone || error !== undefined;
  return calls.flatMap((call) => [
    { call, isUndone: above || call.error !== undefined },
    ...callsBelow(call, above),
  ]);
}

test('those of a followed chain are kept, and those of abandoned blocks are not', async () => {
  const id = 950_018;
  const followed = exampleChain({
    ...{ id, internalTransfers: 'all', reorgDepthMax: 16, pollIntervalMs: 20, blockTimeMs: 100 },
  });
  const scripted = createScriptedChain({ seed: 18, chainId: id, finalityDepth: 16 });
  scripted.mine(20);
  const node = await serveScriptedChain(scripted, { methods: traceMethods });
  onTestFinished(() => node.close());
  const pool = await examplePool(followed, node.url);
  onTestFinished(() => pool.close());
  const { database } = scratch;
  const stop = new AbortController();
  const running = createChainSync({
    ...{
      chain: followed,
      pool,
      database,
      datasets: [internalTransfers],
      logger: silentLogger(),
      clock: systemClock,
    },
    metrics: createSyncMetrics(createMetricsRegistry()),
    settings: {
      startBlock: 1,
      endBlock: null,
      proof: 'strict',
      backfillProof: 'none',
      backfillOrder: 'newest-first',
      verifyBlocksPerSecond: 0,
    },
  }).run(stop.signal);
  const settled = () =>
    expect
      .poll(() => storedTransfers(database, id), { timeout: 30_000, interval: 50 })
      .toEqual(minedTransfers(scripted));
  await settled();
  for (const depth of [1, 5, 3]) {
    scripted.reorg(depth, depth + 1);
    await settled();
    scripted.mine(2);
  }
  await settled();
  stop.abort();
  await running;
  expect(minedTransfers(scripted).length).toBeGreaterThan(10);
});
