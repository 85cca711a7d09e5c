/** Transactions with random calldata, encoded by viem: what Postgres returns of their rows equals the values. */

import { type Hex, parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { createPartitions, hashOf, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { toFunctionSelector } from 'viem';
import { expect, test } from 'vitest';
import { addContract } from '../definitions/add-contract.ts';
import { CALL_COLUMNS } from '../tables/event-table.ts';
import { callDataset } from './call-dataset.ts';
import {
  blockOfCalls,
  CALLER,
  ETH_WITH_TRANSACTIONS as chain,
  type ExampleCall,
} from './testing/example-calls.ts';
import { comparable, encoded, randomParameters, textColumns } from './testing/random-parameters.ts';

const scratch = scratchOfFile();
const CALLED = parseAddress(`0x${'c0'.repeat(20)}`);
const OTHER = parseAddress(`0x${'dd'.repeat(20)}`);
const BLOCK = 7;

let contracts = 0;

test('rows are equal to the transactions to the contract', async () => {
  const value = fc.bigInt(0n, 2n ** 256n - 1n);
  const succeeded = fc.constantFrom(true, false, null);
  await fc.assert(
    fc.asyncProperty(randomParameters, value, succeeded, async (given, wei, status) => {
      const item = { type: 'function', name: 'act', inputs: given.map(({ parameter }) => parameter) } as const;
      contracts += 1;
      const { tables } = await addContract(scratch.database, {
        ...{ name: `c${contracts}`, chain, addresses: [CALLED], abi: [item], calls: true },
        ...{ factory: null, firstBlock: null, events: null, indexed: [] },
      });
      const [table] = tables;
      if (table === undefined) throw new Error('No table was made');
      expect(table.name).toBe(`contracts.c${contracts}_act_call`);
      const dataset = callDataset(
        table,
        new Map([[chain.id, { addresses: new Set([CALLED]), firstBlock: null }]]),
      );
      const selector = toFunctionSelector({ ...item, outputs: [], stateMutability: 'nonpayable' });
      const data = encoded(given);
      const input: Hex = `${selector}${data.slice(2)}`;
      const short: Hex = `${selector}${data.slice(2, given.length > 0 ? 64 : 2)}`;
      const calls: readonly ExampleCall[] = [
        { to: CALLED, input, value: wei, succeeded: status },
        { to: OTHER, input },
        { to: null, input },
        { to: CALLED, input: `${input}c0ffee` },
        { to: CALLED, input: short },
        ...(['0x', '0x01', '0xdeadbeef'] as const).map((other) => ({ to: CALLED, input: other })),
      ];
      const rows = dataset.wholeBlocks?.decode(blockOfCalls(BLOCK, calls), { chain, timestampOf });
      await createPartitions(scratch.database, table.name, chain.id);
      await scratch.database.transaction((transaction) =>
        transaction.copy(table.name, dataset.table.columns, (rows ?? []).map(dataset.table.copyLine)),
      );
      const stored = await scratch.database.query<Record<string, unknown>>(
        sql`SELECT ${rawSql(textColumns(table).join(', '))}, transaction_index AS index, analytics.hex(undecoded) AS undecoded FROM ${rawSql(table.name)}
          ORDER BY transaction_index`,
      );
      const rowOf = (facts: readonly (string | null)[]) =>
        Object.fromEntries(
          [...facts, ...given.map(({ text }) => text)].map((text, column) => [`v${column}`, text]),
        );
      const decoded = (index: number, facts: readonly (string | null)[]) => ({
        ...{ ...comparable(table, rowOf(facts)), index, undecoded: null },
      });
      expect(stored.slice(0, 2).map((row) => comparable(table, row))).toEqual([
        decoded(0, [CALLER, String(wei), status === null ? null : String(status)]),
        decoded(3, [CALLER, '0', 'true']),
      ]);
      const nothing = Object.fromEntries(table.parameters.map((_, column) => [`v${column}`, null]));
      expect(stored.slice(2)).toEqual([
        given.length === 0
          ? decoded(4, [CALLER, '0', 'true'])
          : { ...nothing, index: 4, undecoded: `0x${short.slice(10)}` },
      ]);
      expect(table.parameters).toHaveLength(CALL_COLUMNS.length + given.length);
    }),
    { numRuns: 30 },
  );
});

test('rows have the place, time, hash and contract of their transaction', async () => {
  const { tables } = await addContract(scratch.database, {
    ...{ name: 'placed', chain, addresses: [CALLED], calls: true },
    abi: [
      {
        type: 'function',
        name: 'send',
        inputs: [{ name: 'sender', type: 'address' }],
        stateMutability: 'payable',
      },
    ],
    ...{ factory: null, firstBlock: null, events: null, indexed: ['sender_2'] },
  });
  const [table] = tables;
  if (table === undefined) throw new Error('No table was made');
  const dataset = callDataset(table, new Map([[chain.id, { addresses: new Set([CALLED]), firstBlock: null }]]));
  const input: Hex = `${toFunctionSelector('send(address)')}${OTHER.slice(2).padStart(64, '0')}`;
  // Nodes may write upper case.
  const calls = [
    { to: OTHER, input },
    { to: CALLED, input: `0x${input.slice(2).toUpperCase()}` as const },
  ];
  const rows = dataset.wholeBlocks?.decode(blockOfCalls(BLOCK, calls), { chain, timestampOf });
  await createPartitions(scratch.database, table.name, chain.id);
  await scratch.database.transaction((transaction) =>
    transaction.copy(table.name, dataset.table.columns, (rows ?? []).map(dataset.table.copyLine)),
  );
  expect(await scratch.database.query(sql`SELECT * FROM ${rawSql(table.view)}`)).toEqual([
    {
      ...{ chainId: chain.id, blockNumber: BLOCK, transactionIndex: 1, transactionHash: hashOf(3, BLOCK) },
      ...{ blockTime: new Date(timestampOf(BLOCK) * 1_000), contract: CALLED },
      ...{ sender: CALLER, nativeValue: '0', success: true, sender2: OTHER },
      ...{ senderBytes: bytesOf(CALLER), sender2Bytes: bytesOf(OTHER) },
    },
  ]);
  const reads = (mode: 'all' | 'wallets' | 'off') =>
    dataset.wholeBlocks?.reads({ ...chain, transactions: { ...chain.transactions, mode } });
  expect([reads('all'), reads('wallets'), reads('off')]).toEqual([['transactions'], [], []]);
});

function bytesOf(address: string): Buffer {
  return Buffer.from(address.slice(2), 'hex');
}
