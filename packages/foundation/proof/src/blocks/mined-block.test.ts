/** Proves a block mined here by anvil, so that every clone has these tests, even without the recorded blocks. */
import type { Hash, Hex, Log } from '@chainstead/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { logsBloom } from '../receipts/bloom.ts';
import { receiptsRoot } from '../receipts/receipts-root.ts';
import { mineBlock } from '../testing/mined-block.ts';
import type { RecordedBlock } from '../testing/recorded-blocks.ts';
import type { TransactionJson } from '../transactions/transaction-fields.ts';
import { headerHash } from './header-hash.ts';
import { type Proof, type ProvableChain, proveBlock } from './prove-block.ts';
import { proveTransactions, type TransactionsProof } from './prove-transactions.ts';

const ETHEREUM: ProvableChain = { receiptsRoot: 'ethereum', headerHash: true };
const OTHER_HASH = `0x${'ab'.repeat(32)}` as Hash;
const OTHER_ADDRESS = `0x${'12'.repeat(20)}`;

type Block = RecordedBlock['block'];
let block: Block;
beforeAll(async () => {
  block = await mineBlock();
});

describe('a mined block', () => {
  it('holds transactions of every type that anvil signs, a creation, a failure and several logs', () => {
    expect(new Set(block.transactions.map(({ type }) => type))).toEqual(new Set(['0x0', '0x1', '0x2']));
    expect(block.receipts.filter(({ raw }) => typeof raw.contractAddress === 'string')).toHaveLength(1);
    expect(block.receipts.filter(({ raw }) => raw.status === '0x0')).toHaveLength(1);
    expect(Math.max(...block.receipts.map(({ logs }) => logs.length))).toBe(3);
  });

  it('is proven with its header, its receipts and its transactions', () => {
    expect(proveBlock(block, ETHEREUM)).toEqual({ level: 'receipts', headerHash: 'verified' });
    expect(proveTransactions(block, ETHEREUM)).toEqual({ level: 'receipts' });
  });

  it('has the hash, root and bloom that the node computed', () => {
    const { header, receipts } = block;
    expect(headerHash(header.raw)).toBe(header.hash);
    const context = { encoding: 'ethereum', blockNumber: header.number, blockHash: header.hash } as const;
    expect(receiptsRoot(receipts, context)).toBe(header.receiptsRoot);
    expect(`0x${logsBloom(receipts.flatMap(({ logs }) => logs)).toString('hex')}`).toBe(header.logsBloom);
  });
});

describe('receipts that were altered', () => {
  // Invariant: PROOF-RECEIPTS-ROOT
  it('are unproven without any one log, and with any field of a log changed', () => {
    const edits: readonly ((logs: readonly Log[], at: number) => readonly Log[])[] = [
      (logs, at) => logs.toSpliced(at, 1),
      (logs, at) => editedAt(logs, at, ({ address }) => ({ address: flipped(address) })),
      (logs, at) => editedAt(logs, at, ({ data }) => ({ data: flipped(data) })),
      (logs, at) => editedAt(logs, at, ({ topics }) => ({ topics: topics.slice(1) })),
      (logs, at) => editedAt(logs, at, ({ topics }) => ({ topics: [...topics, OTHER_HASH] })),
    ];
    const places = block.receipts.flatMap(({ logs }, receipt) => logs.map((_, log) => ({ receipt, log })));
    expect(places.length).toBeGreaterThan(4);
    for (const { receipt, log } of places)
      for (const edit of edits)
        expect(
          reasonOf(
            proveBlock(
              withLogs(receipt, (logs) => edit(logs, log)),
              ETHEREUM,
            ),
          ),
        ).toBe('root-mismatch');
  });

  it('are unproven with a log of another place, which its index is no part of', () => {
    const several = block.receipts.findIndex(({ logs }) => logs.length > 1);
    const after = (edit: (log: Log) => Partial<Log>): string =>
      reasonOf(
        proveBlock(
          withLogs(several, (logs) => editedAt(logs, 1, edit)),
          ETHEREUM,
        ),
      );
    expect(after(() => ({ blockHash: OTHER_HASH }))).toBe('log-placement');
    expect(after(({ blockNumber }) => ({ blockNumber: blockNumber + 1 }))).toBe('log-placement');
    expect(after(({ transactionIndex }) => ({ transactionIndex: transactionIndex + 1 }))).toBe('log-placement');
    expect(after(() => ({ transactionHash: OTHER_HASH }))).toBe('log-placement');
    expect(after(({ logIndex }) => ({ logIndex: logIndex - 1 }))).toBe('receipts');
  });

  it('are unproven if one is missing, surplus or out of order', () => {
    const [first, second, ...others] = block.receipts;
    if (first === undefined || second === undefined) throw new Error('The block has fewer than two receipts');
    for (const chain of [ETHEREUM, { ...ETHEREUM, receiptsRoot: 'none' }] as const) {
      const after = (receipts: Block['receipts']): string => reasonOf(proveBlock({ ...block, receipts }, chain));
      expect(after([second, ...others])).toBe('receipt-count');
      expect(after([first, first, second, ...others])).toBe('receipt-count');
      expect(after([second, first, ...others])).toBe('receipt-order');
      expect(after([{ ...first, transactionIndex: 1 }, second, ...others])).toBe('receipt-order');
    }
  });

  it('are unproven under another header', () => {
    const { header } = block;
    const stamped = { ...header, raw: { ...header.raw, timestamp: '0x1' } };
    expect(reasonOf(proveBlock({ ...block, header: stamped }, ETHEREUM))).toBe('header-hash-mismatch');
    expect(proveBlock({ ...block, header: stamped }, { ...ETHEREUM, headerHash: false }).level).toBe('receipts');
    const rootless = { ...header, receiptsRoot: null };
    expect(reasonOf(proveBlock({ ...block, header: rootless }, ETHEREUM))).toBe('root-missing');
  });
});

describe('transactions that were altered', () => {
  it('are unproven with any signed field changed', () => {
    const common = ['nonce', 'gas', 'to', 'value', 'input', 'r', 's', 'hash'];
    const byType: Readonly<Record<string, readonly string[]>> = {
      '0x0': ['gasPrice', 'v'],
      '0x1': ['gasPrice', 'chainId'],
      '0x2': ['maxFeePerGas', 'maxPriorityFeePerGas', 'chainId'],
    };
    for (const [at, transaction] of block.transactions.entries())
      for (const field of [...common, ...(byType[String(transaction.type)] ?? [])]) {
        const altered = editTransaction(at, { [field]: flippedField(transaction[field]) });
        expect(proveTransactions(altered, ETHEREUM).level, `${field} of ${at}`).toBe('unproven');
      }
  });

  it('are unproven if one is missing, surplus or out of order', () => {
    const [first, second, ...others] = block.transactions.map(({ transactionIndex: _, ...one }) => one);
    if (first === undefined || second === undefined) throw new Error('The block has fewer than two transactions');
    const after = (transactions: readonly TransactionJson[]): string =>
      reasonOf(proveTransactions({ ...block, transactions }, ETHEREUM));
    expect(after([second, ...others])).toBe('transactions-root-mismatch');
    expect(after([first, first, second, ...others])).toBe('transactions-root-mismatch');
    expect(after([second, first, ...others])).toBe('transactions-root-mismatch');
  });

  it('are unproven if a receipt contradicts them', () => {
    const creation = block.transactions.findIndex(({ to }) => to === null || to === undefined);
    const after = (at: number, raw: object, changes: object = {}): string => {
      const receipts = block.receipts.map((one, index) =>
        index === at ? { ...one, ...changes, raw: { ...one.raw, ...raw } } : one,
      );
      return reasonOf(proveTransactions({ ...block, receipts }, ETHEREUM));
    };
    expect(after(0, {})).toBe('receipts');
    expect(after(0, {}, { type: 5 })).toBe('receipt-mismatch');
    const lies = [
      { gasUsed: '0x1' },
      { from: OTHER_ADDRESS },
      { to: OTHER_ADDRESS },
      { contractAddress: OTHER_ADDRESS },
    ];
    for (const changes of lies) expect(after(0, changes), JSON.stringify(changes)).toBe('receipt-mismatch');
    for (const contractAddress of [OTHER_ADDRESS, null])
      expect(after(creation, { contractAddress })).toBe('receipt-mismatch');
  });

  it('are malformed with a number that is none', () => {
    expect(reasonOf(proveTransactions(editTransaction(0, { value: 'much' }), ETHEREUM))).toBe(
      'transaction-malformed',
    );
  });

  it('are unproven at another place, or under a header without their root', () => {
    for (const place of [{ transactionIndex: '0x7' }, { blockNumber: '0x7' }, { blockHash: OTHER_HASH }])
      expect(reasonOf(proveTransactions(editTransaction(0, place), ETHEREUM))).toBe('transaction-placement');
    const { transactionsRoot: _, ...raw } = block.header.raw;
    const rootless = { ...block, header: { ...block.header, raw } };
    expect(reasonOf(proveTransactions(rootless, ETHEREUM))).toBe('transactions-root-missing');
  });
});

function reasonOf(proof: Proof | TransactionsProof): string {
  return proof.level === 'unproven' ? proof.reason : proof.level;
}

function withLogs(receipt: number, edit: (logs: readonly Log[]) => readonly Log[]): Block {
  const receipts = block.receipts.map((one, at) => (at === receipt ? { ...one, logs: edit(one.logs) } : one));
  return { ...block, receipts };
}

function editedAt(logs: readonly Log[], at: number, edit: (log: Log) => Partial<Log>): readonly Log[] {
  return logs.map((log, index) => (index === at ? { ...log, ...edit(log) } : log));
}

function editTransaction(at: number, changes: object): Block {
  return {
    ...block,
    transactions: block.transactions.map((one, index) => (index === at ? { ...one, ...changes } : one)),
  };
}

/** Returns another value of the same kind. */
function flippedField(value: unknown): string {
  if (value === '0x') return '0x00';
  return typeof value === 'string' ? flipped(value as Hex) : OTHER_ADDRESS;
}

function flipped<T extends Hex>(text: T): T {
  return `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}` as T;
}
