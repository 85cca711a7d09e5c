import { parseChainId, toQuantity } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { feeParts, feesOf, isDeposit, isFeeKnownWithoutHeader } from './transaction-fee.ts';

type Json = Readonly<Record<string, unknown>>;

const OPTIMISM = 10;
const MANTLE = 5000;
const ARSIA = 1_776_841_200;
const SCALARS = { operatorFeeScalar: '0x4c4b40', operatorFeeConstant: '0x7' };

interface Given {
  readonly transaction?: Json;
  readonly receipt?: Json;
  readonly header?: Json;
}

/** 100 gas of a limit of 150, at 3 wei. */
function paid(chainId: number, { transaction, receipt, header }: Given = {}) {
  const parts = feeParts(
    {
      transaction: { type: '0x2', gas: '0x96', ...transaction },
      receipt: { gasUsed: '0x64', effectiveGasPrice: '0x3', ...receipt },
      header: header ?? {},
    },
    { id: parseChainId(chainId) },
  );
  return feesOf(100n, parts);
}

describe('the fee of a transaction', () => {
  const jovian = { extraData: `0x01${'00'.repeat(16)}` };
  const holocene = { extraData: `0x00${'00'.repeat(8)}` };
  test.each<[string, number, Given, bigint]>([
    ['is used gas at the effective price', 1, {}, 300n],
    ['contains what Arbitrum used for the parent chain', 42_161, { receipt: { gasUsedForL1: '0x20' } }, 300n],
    ['has the parent chain’s part on OP Stack chains', OPTIMISM, { receipt: { l1Fee: '0x10' } }, 316n],
    ['has the operator’s part from Isthmus on', OPTIMISM, { receipt: SCALARS, header: holocene }, 807n],
    [
      'has a hundred times the scalar from Jovian on, by its header',
      OPTIMISM,
      { receipt: SCALARS, header: jovian },
      50_000_000_307n,
    ],
    [
      'has a hundred times the scalar from Jovian on, by its receipt',
      OPTIMISM,
      { receipt: { ...SCALARS, daFootprintGasScalar: '0x190' } },
      50_000_000_307n,
    ],
    [
      'has the constant alone if the scalar is missing',
      OPTIMISM,
      { receipt: { operatorFeeConstant: '0x7' } },
      307n,
    ],
    [
      'is nothing for deposits',
      OPTIMISM,
      { transaction: { type: '0x7e' }, receipt: { l1Fee: '0x1', ...SCALARS } },
      0n,
    ],
    ['is nothing for Polygon’s state sync', 137, { transaction: { type: '0x7f' } }, 0n],
    ['is nothing for zkSync’s priority transactions', 324, { transaction: { type: '0xff' } }, 0n],
    [
      'is nothing for what Optimism took from the parent chain',
      OPTIMISM,
      { transaction: { queueOrigin: 'l1' }, receipt: { l1Fee: '0x1' } },
      0n,
    ],
    ['is paid by a sponsor of Ronin', 2020, { transaction: { type: '0x64' } }, 300n],
    [
      'contains Mantle’s part of the parent chain before Arsia',
      MANTLE,
      { receipt: { l1Fee: '0x10' }, header: { timestamp: toQuantity(ARSIA - 1) } },
      300n,
    ],
    [
      'has Mantle’s part of the parent chain from Arsia on',
      MANTLE,
      { receipt: { l1Fee: '0x10' }, header: { timestamp: toQuantity(ARSIA) } },
      316n,
    ],
    [
      'has Mantle’s operator fee by the formula of Jovian',
      MANTLE,
      { receipt: { l1Fee: '0x10', ...SCALARS } },
      50_000_000_323n,
    ],
    [
      'is no native token if Celo’s is paid in another',
      42_220,
      { transaction: { type: '0x7b', feeCurrency: '0x765d' } },
      0n,
    ],
    [
      'is native if Celo’s type names no currency',
      42_220,
      { transaction: { type: '0x7b', feeCurrency: null } },
      300n,
    ],
    [
      'has the fee of Celo’s gateway with a recipient',
      42_220,
      { transaction: { gatewayFee: '0x5', gatewayFeeRecipient: '0x1' } },
      305n,
    ],
    [
      'has no fee of a gateway without one',
      42_220,
      { transaction: { gatewayFee: '0x5', gatewayFeeRecipient: null } },
      300n,
    ],
    ['is no native token if Tempo’s receipt names one', 42_431, { receipt: { feeToken: '0x20c0' } }, 0n],
    ['is the whole gas limit on Monad', 143, {}, 450n],
    ['is that of a gas limit which a node of Monad reports as used', 143, { receipt: { gasUsed: '0x96' } }, 300n],
    ['ignores members of other types', OPTIMISM, { receipt: { l1Fee: null, operatorFeeScalar: 'x' } }, 300n],
  ])('%s', (_, chainId, given, fee) => {
    expect(paid(chainId, given).fee).toBe(fee);
  });

  test('follows from limit, tip and base fee if the receipt has no price', () => {
    const silent = { effectiveGasPrice: undefined };
    const transaction = { maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x5', gasPrice: '0x9' };
    const header = { baseFeePerGas: '0x2' };
    expect(paid(1, { transaction, receipt: silent, header }).fee).toBe(700n);
    expect(paid(1, { transaction: { ...transaction, maxFeePerGas: '0x6' }, receipt: silent, header }).fee).toBe(
      600n,
    );
    expect(paid(1, { transaction, receipt: silent }).fee).toBe(900n);
  });

  test('has a price of blobs from the receipt, or else from the header', () => {
    const transaction = { type: '0x3', blobVersionedHashes: ['0x01', '0x01'] };
    const header = { timestamp: toQuantity(1_750_000_000), excessBlobGas: '0x8000000' };
    const priced = { blobGasUsed: '0x40000', blobGasPrice: '0x7' };
    expect(paid(1, { transaction, receipt: priced, header }).blobFee).toBe(262_144n * 7n);
    expect(paid(1, { transaction, header }).blobFee).toBe(262_144n * 436_556_860_642n);
    expect(paid(1, { transaction: { type: '0x3' }, receipt: { blobGasUsed: '0x20000' }, header }).blobFee).toBe(
      131_072n * 436_556_860_642n,
    );
    expect(paid(1, { transaction }).blobFee).toBeNull();
    expect(paid(137, { transaction, header }).blobFee).toBeNull();
    expect(paid(1, { receipt: priced, header }).blobFee).toBeNull();
    expect(paid(1, { transaction: { blobVersionedHashes: [] }, receipt: priced, header }).blobFee).toBeNull();
  });

  test.each<[string, number, Given, boolean]>([
    ['with a price', 1, {}, true],
    [
      'without a price and with a limit',
      1,
      { transaction: { maxFeePerGas: '0x1' }, receipt: { effectiveGasPrice: null } },
      false,
    ],
    ['of blobs without a price', 1, { transaction: { type: '0x3' } }, false],
    ['with an operator fee', OPTIMISM, { receipt: SCALARS }, false],
    ['with an operator fee of Jovian', OPTIMISM, { receipt: { ...SCALARS, daFootprintGasScalar: '0x0' } }, true],
    ['with an operator fee of nothing', OPTIMISM, { receipt: { operatorFeeScalar: '0x0' } }, true],
    ['of Mantle', MANTLE, {}, false],
  ])('%s depends on the header as expected', (_, id, { transaction, receipt }, isKnown) => {
    const executed = {
      transaction: { type: '0x2', ...transaction },
      receipt: { effectiveGasPrice: '0x3', ...receipt },
    };
    expect(isFeeKnownWithoutHeader(executed, { id: parseChainId(id) })).toBe(isKnown);
  });
});

test('a type is a deposit on the chains that mint its value', () => {
  expect(isDeposit(0x7e, OPTIMISM)).toBe(true);
  expect([isDeposit(0x64, 42_161), isDeposit(0x64, 2020)]).toEqual([true, false]);
  expect([isDeposit(0xff, 324), isDeposit(0xff, 747)]).toEqual([true, false]);
});
