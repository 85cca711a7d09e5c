import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, type Hash, type Hex, parseHash, type Receipt, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { Dataset, ExecutedTransaction, WholeBlock } from '@chainstead/sync/datasets';
import { addressOf, createPartitions, exampleChain, hashOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { accountTransactions, transactions } from './datasets.ts';
import { readUint64 } from './transaction-row.ts';

const [ALICE, BOB, CONTRACT] = [addressOf(1), addressOf(2), addressOf(3)];
const chain = exampleChain({ transactions: { mode: 'all', input: 'full', verifiesSenders: true } });
const HASH = parseHash(`0x${'00'.repeat(7)}ff${'ab'.repeat(24)}`);
const INPUT: Hex = `0xa9059cbb${'00'.repeat(64)}`;

interface Changes extends Partial<Omit<ExecutedTransaction, 'receipt'>> {
  readonly receipt?: Readonly<Record<string, unknown>>;
}

function executed({ receipt = {}, ...changes }: Changes = {}): ExecutedTransaction {
  return {
    hash: HASH,
    index: 0,
    type: 2,
    from: ALICE,
    to: BOB,
    nonce: 7n,
    value: 5n,
    gas: 30_000n,
    input: '0x',
    succeeded: true,
    gasUsed: 21_000n,
    contractAddress: null,
    logs: [],
    raw: { hash: HASH, gasPrice: '0x9' },
    receipt: {
      transactionHash: HASH,
      cumulativeGasUsed: 50_000n,
      raw: { effectiveGasPrice: '0x3', ...receipt },
    } as unknown as Receipt,
    ...changes,
  };
}

function rowsOf<Row>(
  dataset: Dataset<Row>,
  all: readonly ExecutedTransaction[],
  of: Chain = chain,
): readonly Row[] {
  const block = {
    header: { number: 9, hash: hashOf(9, 0), raw: { baseFeePerGas: '0x2' } },
    transactions: all,
    internalTransactions: [],
  } as unknown as WholeBlock;
  return dataset.wholeBlocks?.decode(block, { chain: of, timestampOf: () => 0 }) ?? [];
}

const onlyRow = (changes: Changes, of: Chain = chain) => rowsOf(transactions, [executed(changes)], of)[0];
const rolesOf = (changes: Changes): Readonly<Record<string, number>> =>
  Object.fromEntries(
    rowsOf(accountTransactions, [executed(changes)]).map(({ account, roles }) => [account, roles]),
  );

describe('the row of a transaction', () => {
  test('has what its receipt says was paid, or what follows where it says nothing', () => {
    expect(onlyRow({})).toMatchObject({
      transactionKey: '255',
      transactionHash: HASH,
      blockNumber: 9,
      nonce: '7',
      gasPrice: '3',
      gasUsed: '21000',
      cumulativeGasUsed: '50000',
      status: 1,
      l1Fee: null,
      senderRecovered: true,
    });
    const raw = { hash: HASH, maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x5' };
    const silent = { receipt: { effectiveGasPrice: undefined } };
    expect(onlyRow({ ...silent, raw })?.gasPrice).toBe('7');
    expect(onlyRow({ ...silent, raw: { ...raw, maxFeePerGas: '0x6' } })?.gasPrice).toBe('6');
    expect(onlyRow(silent)?.gasPrice).toBe('9');
  });

  test('adds up what rollups charge apart from gas, and knows blobs only of those that carry some', () => {
    const operator = { gasUsed: '0x5208', operatorFeeScalar: '0x1e8480', operatorFeeConstant: '0x2' };
    expect(onlyRow({ receipt: { l1Fee: '0x10', ...operator } })?.l1Fee).toBe('42018');
    expect(onlyRow({ receipt: { l1Fee: '0x0' } })?.l1Fee).toBe('0');
    const blobs = { blobGasUsed: '0x20000', blobGasPrice: '0x1' };
    expect(onlyRow({ receipt: blobs })).toMatchObject({ blobGasUsed: null, blobGasPrice: null });
    expect(onlyRow({ receipt: blobs, raw: { hash: HASH, blobVersionedHashes: [hashOf(4, 0)] } })).toMatchObject({
      blobGasUsed: '131072',
      blobGasPrice: '1',
    });
  });

  test('has the state root of old receipts, and then no status, whatever a node makes up', () => {
    expect(onlyRow({ receipt: { root: hashOf(5, 0) } })).toMatchObject({ root: hashOf(5, 0), status: null });
    expect(onlyRow({ succeeded: null })?.status).toBeNull();
    expect(onlyRow({ succeeded: false })?.status).toBe(0);
  });

  test('keeps the calldata, or four bytes of it', () => {
    const selector = { ...chain, transactions: { ...chain.transactions, input: 'selector' as const } };
    expect(onlyRow({ input: INPUT })).toMatchObject({ selector: '0xa9059cbb', input: INPUT });
    expect(onlyRow({ input: INPUT }, selector)).toMatchObject({ selector: '0xa9059cbb', input: null });
    expect(onlyRow({ input: '0xa9059cbb' }, selector)).toMatchObject({
      selector: '0xa9059cbb',
      input: '0xa9059cbb',
    });
    expect(onlyRow({ input: '0x01' }, selector)).toMatchObject({ selector: null, input: '0x01' });
    expect(onlyRow({ input: INPUT, to: null }, selector)).toMatchObject({ selector: null, input: null });
  });

  test('says where senders are believed', () => {
    const believing = { ...chain, transactions: { ...chain.transactions, verifiesSenders: false } };
    expect(onlyRow({}, believing)?.senderRecovered).toBe(false);
  });

  test('of calldata that is no bytes is refused', () => {
    for (const input of ['0xabc', '0xzz', 'ab'] as Hex[])
      expect(() => onlyRow({ input })).toThrow(/is not a valid calldata/);
  });

  test('is none for what nodes list beside the block’s own', () => {
    const hyperliquid = { ...chain, receiptsRoot: 'hyperliquid' as const };
    const system = executed({ hash: hashOf(8, 0) as Hash, raw: { hash: hashOf(8, 0), gasPrice: '0x0' } });
    expect(rowsOf(transactions, [executed(), system], hyperliquid)).toHaveLength(1);
    expect(rowsOf(accountTransactions, [system], hyperliquid)).toEqual([]);
    expect(rowsOf(transactions, [executed(), system])).toHaveLength(2);
  });
});

describe('the accounts of a transaction', () => {
  test.each<[string, Changes, Readonly<Record<string, number>>]>([
    ['sender and receiver', {}, { [ALICE]: 1, [BOB]: 2 }],
    ['one that sends to itself', { to: ALICE }, { [ALICE]: 3 }],
    ['the contract that it created', { to: null, contractAddress: CONTRACT }, { [ALICE]: 1, [CONTRACT]: 4 }],
    ['no contract where it failed', { to: null, contractAddress: CONTRACT, succeeded: false }, { [ALICE]: 1 }],
    [
      'the contract of before Byzantium',
      { to: null, contractAddress: CONTRACT, succeeded: null },
      { [ALICE]: 1, [CONTRACT]: 4 },
    ],
    [
      'the contract of before Byzantium, whatever status a node makes up',
      { to: null, contractAddress: CONTRACT, succeeded: false, receipt: { root: hashOf(5, 0) } },
      { [ALICE]: 1, [CONTRACT]: 4 },
    ],
    ['nobody at the zero address', { from: ZERO_ADDRESS, to: ZERO_ADDRESS }, {}],
  ])('are %s', (_what, changes, expected) => {
    expect(rolesOf(changes)).toEqual(expected);
  });
});

test('rows are kept of chains whose transactions are all kept, and of no others', () => {
  for (const { wholeBlocks } of [transactions, accountTransactions]) {
    expect(wholeBlocks?.reads(chain)).toEqual(['transactions']);
    for (const known of createChainRegistry().all()) expect(wholeBlocks?.reads(known)).toEqual([]);
  }
});

describe('in the database', () => {
  const scratch = scratchOfFile();

  test('rows have the largest numbers that transactions can have, and any calldata', async () => {
    const { database } = scratch;
    const largest = 2n ** 64n - 1n;
    const changes: Changes = {
      ...{
        nonce: largest,
        gas: largest,
        value: 2n ** 256n - 1n,
        type: 2 ** 31,
        input: `0x${'5c'.repeat(3_000)}`,
      },
      hash: parseHash(`0x${'ff'.repeat(32)}`),
      raw: { hash: HASH },
    };
    for (const { table } of [transactions, accountTransactions])
      await createPartitions(database, table.name, chain.id);
    await database.transaction(async (transaction) => {
      const rows = rowsOf(transactions, [executed(changes)]);
      await transaction.copy('transactions', transactions.table.columns, rows.map(transactions.table.copyLine));
      const accounts = rowsOf(accountTransactions, [executed(changes)]);
      const { table } = accountTransactions;
      await transaction.copy('account_transactions', table.columns, accounts.map(table.copyLine));
    });
    const [row] = await database.query<{
      key: string;
      nonce: string;
      gas: string;
      value: string;
      input: Buffer;
      type: number;
    }>(
      sql`SELECT transaction_key::text AS key, nonce::text, gas::text, value::text, input, type FROM transactions`,
    );
    expect(row).toMatchObject({ key: '-1', value: (2n ** 256n - 1n).toString(), type: 32_767 });
    expect([row?.nonce, row?.gas].map((stored) => readUint64(stored ?? ''))).toEqual([largest, largest]);
    expect(row?.input.toString('hex')).toBe('5c'.repeat(3_000));
    const accounts = await database.query<{ account: Buffer; roles: number; evidence: number }>(
      sql`SELECT account, roles, evidence FROM account_transactions ORDER BY roles`,
    );
    expect(
      accounts.map(({ account, roles, evidence }) => [`0x${account.toString('hex')}`, roles, evidence]),
    ).toEqual([
      [ALICE, 1, 0],
      [BOB, 2, 0],
    ] satisfies [Address, number, number][]);
  });
});
