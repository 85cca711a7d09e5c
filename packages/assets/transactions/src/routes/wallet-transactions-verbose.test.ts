/**
 * Data that a node adds to the lists of a wallet's transactions: missing calldata, internal calls, and the logs of the
 * verbose list.
 */
import { hashOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { seededHash } from '../testing/seeded-transactions.ts';
import { at, CONTRACT, FRIEND, WALLET, walletListsStage } from '../testing/wallet-lists-stage.ts';

const stage = walletListsStage();
const { ask, get, seed } = stage;

describe('calldata of which four bytes are kept', () => {
  const rows = () =>
    seed(
      at(1, 0, { input: null, selector: '0xa9059cbb' }),
      at(2),
      at(3, 0, { input: null, selector: '0x12345678' }),
    );

  test('is read from a node, that of a page at once', async () => {
    await rows();
    const hashes = [1, 3].map((blockNumber) => seededHash({ blockNumber, transactionIndex: 0 })).sort();
    stage.answerOf = () => ({ readAt: Date.now(), inputs: ['0xa9059cbb', '0x12345678'] });
    const { result } = await get(`${WALLET}?order=ASC`);
    expect(result.map(({ input }) => input)).toEqual(['0xa9059cbb', '0x', '0x12345678']);
    expect(stage.requested).toEqual([{ kind: 'transaction-inputs', question: { hashes } }]);
  });

  test('is 503 as long as no node tells it', async () => {
    await rows();
    expect(await ask(WALLET)).toEqual({ status: 503, body: { message: 'being read from the node' } });
    expect((await ask(`${WALLET}?from_block=2&to_block=2`)).status).toBe(200);
  });
});

describe('the calls inside', () => {
  const call = {
    ...{
      type: 'CALL',
      from: FRIEND,
      to: CONTRACT,
      value: '3',
      gas: '0',
      gasUsed: '0',
      input: '0x',
      output: '0x',
    },
    ...{ error: null, isReverted: false },
  };

  test('are read from a node where they are asked for, also on the next page', async () => {
    await seed(at(1), at(2));
    stage.answerOf = (
      _kind,
      { transactions }: { readonly transactions: readonly { readonly hash: string }[] },
    ) => ({
      readAt: Date.now(),
      traced: transactions.map(({ hash }) => ({ hash, calls: [call] })),
    });
    const first = await get(`${WALLET}?limit=1&include=internal_transactions`);
    const second = await get(`${WALLET}?cursor=${first.cursor}`);
    for (const [page, number] of [
      [first, 2],
      [second, 1],
    ] as const) {
      expect(page.indexed).toMatchObject({ traces: 'on-demand' });
      expect(page.result[0]).toMatchObject({
        internal_transactions: [
          { block_number: number, block_hash: hashOf(1, number), to: CONTRACT, value: '3' },
        ],
      });
    }
    expect(stage.requested.map(({ kind }) => kind)).toEqual(['internal-transactions', 'internal-transactions']);
  });

  test('are null where no node gives them', async () => {
    await seed(at(1));
    stage.answerOf = () => ({ readAt: Date.now(), traced: null });
    const page = await get(`${WALLET}?include=internal_transactions`);
    expect([page.indexed.traces, page.result[0]?.internal_transactions]).toEqual(['none', null]);
  });
});

describe('the verbose list', () => {
  const log = {
    index: 4,
    address: CONTRACT,
    topics: [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      `0x${WALLET.slice(2).padStart(64, '0')}`,
      `0x${FRIEND.slice(2).padStart(64, '0')}`,
    ],
    data: `0x${'7'.padStart(64, '0')}`,
  };

  test('has logs, read from a node by block, and what they and the call mean', async () => {
    const input = `0xa9059cbb${FRIEND.slice(2).padStart(64, '0')}${'7'.padStart(64, '0')}` as const;
    await seed(at(1, 1), at(1, 0, { input }), at(2));
    stage.answerOf = (_kind, { transactions }: { readonly transactions: readonly string[] }) => ({
      readAt: Date.now(),
      logs: transactions.map((hash) =>
        hash === seededHash({ blockNumber: 1, transactionIndex: 0 }) ? [log] : [],
      ),
    });
    const { result } = await get(`${WALLET}/verbose?order=ASC`);
    expect(stage.requested).toEqual(
      [
        {
          block: hashOf(1, 1),
          transactions: [0, 1].map((index) => seededHash({ blockNumber: 1, transactionIndex: index })),
        },
        { block: hashOf(1, 2), transactions: [seededHash({ blockNumber: 2, transactionIndex: 0 })] },
      ].map((question) => ({ kind: 'transaction-logs', question })),
    );
    expect(result[0]).toMatchObject({
      method_label: 'transfer',
      decoded_call: { signature: 'transfer(address,uint256)', label: 'transfer', type: 'function' },
      logs: [
        {
          log_index: '4',
          transaction_index: '0',
          block_number: '1',
          block_hash: hashOf(1, 1),
          address: CONTRACT,
          topic3: null,
          decoded_event: { signature: 'Transfer(address,address,uint256)', label: 'Transfer', type: 'event' },
        },
      ],
    });
    expect(result.slice(1).map(({ logs, decoded_call }) => [logs, decoded_call])).toEqual([
      [[], null],
      [[], null],
    ]);
  });

  test('is 503 as long as no node tells the logs, and its cursors are its own', async () => {
    await seed(at(1), at(2));
    expect(await ask(`${WALLET}/verbose`)).toEqual({
      status: 503,
      body: { message: 'being read from the node' },
    });
    const { cursor } = await get(`${WALLET}?limit=1`);
    expect((await ask(`${WALLET}/verbose?cursor=${cursor}`)).status).toBe(400);
    expect((await ask(`${FRIEND}?cursor=${cursor}`)).status).toBe(400);
    expect((await ask(`${WALLET}?cursor=${cursor}&order=ASC`)).status).toBe(400);
    expect((await ask(`${WALLET}?cursor=${cursor}&limit=1&order=DESC&chain=eth&include=`)).status).toBe(200);
  });
});

describe('the official SDK', () => {
  test('reads a verbose list', async () => {
    await seed(at(1));
    stage.answerOf = () => ({
      readAt: Date.now(),
      logs: [[{ index: 0, address: CONTRACT, topics: [], data: '0x' }]],
    });
    const found = await stage.sdk.EvmApi.transaction.getWalletTransactionsVerbose({
      chain: '0x1',
      address: WALLET,
    });
    expect(found.result[0]?.logs?.[0]?.address.lowercase).toBe(CONTRACT);
    expect(Object(found.raw).result[0]).toMatchObject({
      decoded_call: null,
      logs: [{ topic0: null, decoded_event: null }],
    });
  });
});
