import { createChainRegistry } from '@chainstead/chains';
import type { Receipt } from '@chainstead/core';
import { stateSyncTransactionHash } from '@chainstead/proof';
import { parseBlock, parseReceipt } from '@chainstead/rpc';
import type { SourceBlock } from '@chainstead/sources';
import { createScriptedChain } from '@chainstead/testkit';
import { describe, expect, it, test } from 'vitest';
import { canProveBlocks, contradictionOf, derivedHeader, withDerivedFees } from './prove-source-block.ts';

const registry = createChainRegistry({ additional: [{ key: 'sourced', id: 963_001, headerHash: true }] });
const chain = registry.get('sourced');
const scripted = createScriptedChain({ seed: 963, chainId: chain.id, isSigned: true, emptyShare: 0 });
const [mined] = scripted.mine();

function sourceBlock(header: object = {}, isCanonical = false): SourceBlock {
  if (mined === undefined) throw new RangeError('Nothing was mined');
  const block = parseBlock({ ...mined.header, ...header, transactions: mined.transactions });
  return { block, receipts: mined.receipts.map(parseReceipt), lacks: [], isCanonical, bytes: 0 };
}

const judge = (block: SourceBlock) => contradictionOf({ chain, transactions: true }, block);

// Invariant: PROOF-SOURCE-CANONICAL
describe('a block of a source', () => {
  it('holds if hash, roots, places, senders and withdrawals fit', async () => {
    expect(await judge(sourceBlock())).toBeNull();
    expect(await judge(sourceBlock({}, true))).toBeNull();
  });

  it('has no fields that its hash does not contain, although a shorter form of the header fits', async () => {
    const added = await judge(sourceBlock({ requestsHash: `0x${'ab'.repeat(32)}` }));
    expect(added).toEqual({ what: 'the header has fields that its hash does not contain', isLack: false });
  });

  it('has no withdrawals without a root, also under a canonical header', async () => {
    const { withdrawalsRoot: _, ...header } = mined?.header ?? {};
    const one = { index: '0x1', validatorIndex: '0x1', address: `0x${'11'.repeat(20)}`, amount: '0x1' };
    const { block, ...rest } = sourceBlock({}, true);
    const raw = { ...parseBlock({ ...header, transactions: [] }).header.raw, withdrawals: [one] };
    const forged = { ...rest, block: { ...block, header: { ...block.header, raw } } };
    expect(await judge(forged)).toEqual({ what: 'it has withdrawals without a root', isLack: false });
  });

  it('names the right sender of each transaction whose sender is stored', async () => {
    const { block, receipts, ...rest } = sourceBlock();
    const from = `0x${'77'.repeat(20)}`;
    const forged: SourceBlock = {
      ...rest,
      block: { ...block, transactions: (block.transactions ?? []).map((one) => ({ ...one, from })) },
      receipts: receipts.map((one) => ({ ...one, raw: { ...one.raw, from } })),
    };
    const stored = (storesSender?: () => boolean) =>
      contradictionOf({ chain, transactions: true, storesSender }, forged);
    expect(await stored()).toEqual({ what: 'sender-mismatch', isLack: false });
    expect(await stored(() => true)).toEqual({ what: 'sender-mismatch', isLack: false });
    expect(await stored(() => false)).toBeNull();
  });

  it('has no transaction that the roots leave out', async () => {
    const { block, receipts, ...rest } = sourceBlock();
    const { number, hash } = block.header;
    const outside = stateSyncTransactionHash(number, hash);
    const [transaction] = block.transactions ?? [];
    const [receipt] = receipts;
    const index = block.transactionHashes.length;
    const forged: SourceBlock = {
      ...rest,
      block: {
        ...block,
        transactionHashes: [...block.transactionHashes, outside],
        transactions: [
          ...(block.transactions ?? []),
          { ...transaction, hash: outside, transactionIndex: `0x${index.toString(16)}` },
        ],
      },
      receipts: [
        ...receipts,
        { ...receipt, transactionHash: outside, transactionIndex: index, logs: [] } as Receipt,
      ],
    };
    expect(await judge(forged)).toEqual({ what: 'a transaction is outside the roots', isLack: false });
    const ofLogs = await contradictionOf({ chain, transactions: false }, forged);
    expect(ofLogs).toEqual({ what: 'a transaction is outside the roots', isLack: false });
  });
});

describe('fees', () => {
  it('are those that follow from the transaction, whatever the source says', () => {
    const { block, receipts } = sourceBlock();
    const lied = receipts.map((receipt) => ({ ...receipt, raw: { ...receipt.raw, effectiveGasPrice: '0x1' } }));
    const derived = withDerivedFees(block, lied, chain);
    const pricesOf = (list: readonly Receipt[] | null) => list?.map(({ raw }) => raw.effectiveGasPrice);
    expect(pricesOf(derived)).toEqual(pricesOf(receipts));
  });

  it.each([{ l1Fee: '0x0' }, { operatorFeeScalar: '0x1' }, { operatorFeeConstant: '0x1' }])(
    'of a chain below do not follow: %j',
    (fee) => {
      const { block, receipts } = sourceBlock();
      const charged = receipts.map((receipt) => ({ ...receipt, raw: { ...receipt.raw, ...fee } }));
      expect(withDerivedFees(block, charged, chain)).toBeNull();
    },
  );

  it('of blobs need a known schedule, and no work that grows with a forged excess', () => {
    const { block, receipts } = sourceBlock({ excessBlobGas: `0x${'f'.repeat(16)}` });
    const blobs =
      block.transactions?.map((one) => ({ ...one, blobVersionedHashes: [`0x01${'00'.repeat(31)}`] })) ?? [];
    expect(withDerivedFees({ ...block, transactions: blobs }, receipts, registry.get('eth'))).toBeNull();
  });
});

test('size and total difficulty of a header are derived', () => {
  const { block } = sourceBlock({ size: '0x1', totalDifficulty: '0x99' });
  const { raw } = derivedHeader(block, chain);
  expect(raw.size).toBe(mined?.header.size);
  expect(raw.totalDifficulty).toBeUndefined();
});

test('a total difficulty stays if it is that of the merge', () => {
  const final = '0x3c656d23029ab0';
  const { block } = sourceBlock({ totalDifficulty: final });
  expect(derivedHeader(block, registry.get('sepolia')).raw.totalDifficulty).toBe(final);
  expect(derivedHeader(block, registry.get('eth')).raw.totalDifficulty).toBeUndefined();
});

test.each([
  ['eth', true, true],
  ['base', true, false],
  ['arbitrum', true, false],
  ['polygon', false, false],
])('roots of %s contain all logs: %s, all of transactions: %s', (key, logs, transactions) => {
  expect(canProveBlocks(registry.get(key), false)).toBe(logs);
  expect(canProveBlocks(registry.get(key), true)).toBe(transactions);
});
