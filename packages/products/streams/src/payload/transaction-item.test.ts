import { createChainRegistry } from '@chainstead/chains';
import { describe, expect, test } from 'vitest';
import { exampleHash } from '../matching/testing/example-block.ts';
import { exampleAddress } from '../matching/testing/example-stream.ts';
import { ETHEREUM, exampleMatch } from './testing/example-match.ts';
import { transactionItem } from './webhook-contents.ts';

const ALICE = exampleAddress(0xa1);
const BOB = exampleAddress(0xb0);
const R = `0x${'f'.repeat(64)}`;

function itemOf(
  transaction: Readonly<Record<string, unknown>>,
  receipt: Readonly<Record<string, unknown>>,
  to: typeof BOB | null = BOB,
  chain = ETHEREUM,
) {
  const [matched] = exampleMatch([{ from: ALICE, to, transaction, receipt }]).transactions;
  if (matched === undefined) throw new Error('The example does not match');
  return transactionItem(matched, chain);
}

describe('a transaction', () => {
  test('shows what the node says in decimal digits', () => {
    const transaction = {
      gas: '0x32918',
      gasPrice: '0x45a4a0b61',
      nonce: '0x41f142',
      input: '0xA9059CBB',
      value: '0xde0b6b3a7640000',
      type: '0x2',
      v: '0x1',
      r: R,
      s: '0x0',
    };
    const receipt = {
      cumulativeGasUsed: '0x54cf15',
      gasUsed: '0xdef7',
      effectiveGasPrice: '0x45a4a0b61',
      contractAddress: null,
      status: '0x1',
    };
    expect(itemOf(transaction, receipt)).toEqual({
      hash: exampleHash(0),
      gas: '207128',
      gasPrice: '18694671201',
      nonce: '4321602',
      input: '0xa9059cbb',
      transactionIndex: '0',
      fromAddress: ALICE,
      toAddress: BOB,
      value: '1000000000000000000',
      type: '2',
      v: '1',
      r: (2n ** 256n - 1n).toString(),
      s: '0',
      receiptCumulativeGasUsed: '5558037',
      receiptGasUsed: '57079',
      receiptContractAddress: null,
      receiptRoot: null,
      receiptStatus: '1',
      transactionFee: '0.001067073137481879',
      triggered_by: [ALICE, BOB],
    });
  });

  test('that creates a contract shows it; before Byzantium there is a root and no status', () => {
    const created = exampleAddress(0xcc);
    const receipt = { contractAddress: created.toUpperCase().replace('0X', '0x'), root: R, status: null };
    expect(itemOf({}, receipt, null)).toMatchObject({
      toAddress: null,
      receiptContractAddress: created,
      receiptRoot: R,
      receiptStatus: null,
    });
    expect(itemOf({}, { root: '0x', status: '0x0' })).toMatchObject({ receiptRoot: null, receiptStatus: '0' });
  });

  test('of which the node says little has nulls', () => {
    expect(itemOf({ value: undefined, gas: 'many', nonce: -1 }, { status: undefined })).toMatchObject({
      gas: null,
      gasPrice: null,
      nonce: null,
      input: null,
      value: null,
      type: null,
      v: null,
      r: null,
      s: null,
      receiptCumulativeGasUsed: null,
      receiptGasUsed: null,
      receiptStatus: null,
      transactionFee: null,
    });
    expect(itemOf({ yParity: '0x1', nonce: 5 }, { effectiveGasPrice: '0x7' })).toMatchObject({
      v: '1',
      nonce: '5',
      gasPrice: '7',
    });
  });

  test.each([
    [{ gasPrice: '0x2' }, { gasUsed: '0x5208' }, '0.000000000000042'],
    [{ gasPrice: '0x2' }, { gasUsed: '0x5208', effectiveGasPrice: '0x1' }, '0.000000000000021'],
    [{}, { gasUsed: '0x5208', effectiveGasPrice: '0x1', l1Fee: '0x1' }, '0.000000000000021001'],
    [
      {},
      { gasUsed: '0x1', effectiveGasPrice: '0x1', operatorFeeScalar: '0x1e8480', operatorFeeConstant: '0x5' },
      '0.000000000000000008',
    ],
    [{ type: '0x7e' }, { gasUsed: '0x5208', effectiveGasPrice: '0x1' }, '0'],
    [
      { type: '0x3' },
      { gasUsed: '0x1', effectiveGasPrice: '0x1', blobGasUsed: '0x20000', blobGasPrice: '0x2' },
      '0.000000000000262145',
    ],
    [{ type: '0x3' }, { gasUsed: '0x5208', effectiveGasPrice: '0x1', blobGasPrice: '0x2' }, '0.000000000000021'],
    [
      {},
      { gasUsed: '0x5208', effectiveGasPrice: '0x1', blobGasUsed: '0x20000', blobGasPrice: '0x2' },
      '0.000000000000021',
    ],
    [{}, { gasUsed: '0x5208', effectiveGasPrice: `0x${(10n ** 18n).toString(16)}` }, '21000'],
    [{}, { gasUsed: '0x5208', effectiveGasPrice: '0x0' }, '0'],
  ])('pays for %o with %o %s', (transaction, receipt, fee) => {
    expect(itemOf(transaction, receipt).transactionFee).toBe(fee);
  });

  test('pays in the chain’s native currency', () => {
    const cents = { ...ETHEREUM, native: { ...createChainRegistry().get('eth').native, decimals: 2 } };
    expect(itemOf({}, { gasUsed: '0x64', effectiveGasPrice: '0x2' }, BOB, cents).transactionFee).toBe('2');
  });
});
