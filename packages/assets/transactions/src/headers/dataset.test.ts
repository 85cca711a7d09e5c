import type { BlockHeader } from '@chainstead/core';
import type { WholeBlock } from '@chainstead/sync/datasets';
import { addressOf, exampleChain, hashOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockHeaders } from './dataset.ts';
import { packWithdrawals, unpackWithdrawals } from './stored-header.ts';

const chain = exampleChain({ transactions: { mode: 'all', input: 'full', verifiesSenders: true } });
const RAW = { miner: addressOf(1), gasLimit: '0x1c9c380', gasUsed: '0x5208', size: '0x220', difficulty: '0x0' };

function rowsOf(raw: Readonly<Record<string, unknown>>) {
  const header: BlockHeader = {
    ...{
      number: 9,
      hash: hashOf(9, 0),
      parentHash: hashOf(8, 0),
      timestamp: 1,
      logsBloom: null,
      receiptsRoot: null,
    },
    raw: { ...RAW, ...raw },
  };
  const block: WholeBlock = { header, transactions: [], internalTransactions: [] };
  return blockHeaders.wholeBlocks?.decode(block, { chain, timestampOf: () => 1 });
}

describe('the row of a header', () => {
  test('has what the node shows, and nulls for what it does not', () => {
    expect(rowsOf({ nonce: '0x00000000000000AB', baseFeePerGas: `0x${'f'.repeat(64)}` })).toEqual([
      expect.objectContaining({
        ...{ blockNumber: 9, blockHash: hashOf(9, 0), parentHash: hashOf(8, 0), transactionCount: 0 },
        ...{ miner: addressOf(1), gasLimit: '30000000', gasUsed: '21000', size: '544', difficulty: '0' },
        ...{ nonce: '0x00000000000000ab', baseFeePerGas: String(2n ** 256n - 1n) },
        ...{ totalDifficulty: null, logsBloom: null, withdrawals: null, requestsHash: null },
      }),
    ]);
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['half a byte', { extraData: '0xabc' }],
    ['no hexadecimal digits', { stateRoot: '0xzz' }],
    ['no prefix', { nonce: '12' }],
    ['a number that no column holds', { totalDifficulty: `0x1${'0'.repeat(64)}` }],
    ['a withdrawal of another form', { withdrawals: [{ address: '0x01', index: '0x0' }] }],
    ['withdrawals that it does not commit to', { withdrawalsRoot: hashOf(1, 1), withdrawals: [] }],
  ])('is none for one with %s', (_, raw) => {
    expect(rowsOf(raw)).toEqual([]);
  });

  test('is none where not all transactions are kept', () => {
    const reads = (mode: 'all' | 'wallets' | 'off') =>
      blockHeaders.wholeBlocks?.reads({ ...chain, transactions: { ...chain.transactions, mode } });
    expect([reads('all'), reads('wallets'), reads('off')]).toEqual([['transactions'], [], []]);
  });
});

test('withdrawals come back as they were', () => {
  const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
  const address = fc.nat(1_000).map((seed) => addressOf(seed));
  const withdrawal = fc.record({ index: uint64, validatorIndex: uint64, address, amount: uint64 });
  fc.assert(
    fc.property(fc.array(withdrawal, { maxLength: 20 }), (withdrawals) => {
      const packed = packWithdrawals(withdrawals);
      expect(packed).toHaveLength(2 + 88 * withdrawals.length);
      expect(unpackWithdrawals(packed ?? '')).toEqual(withdrawals);
    }),
  );
  const one = { index: '0', validatorIndex: '0', address: addressOf(1), amount: '0' };
  expect(packWithdrawals([{ ...one, amount: String(2n ** 64n) }])).toBeNull();
});
