import { createChainRegistry, type ProofPolicy } from '@chainstead/chains';
import { type RecoverSigners, recoverSigners } from '@chainstead/proof/packed-signatures';
import { type JsonObject, loadRecordedChain, recordedEvmFolder, serveChain } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import type { BlockPart, StoresSender } from '../dataset/whole-block.ts';
import {
  altering,
  CREATION,
  edit,
  type Lie,
  read,
  readFrom,
  TRUE_RECEIPTS,
  TRUE_TRANSACTIONS,
} from '../testing/lying-block.ts';
import type { ProvenBlock } from './proven-block.ts';

const STRANGER = `0x${'12'.repeat(20)}`;

/** Wrong transactions that a node may return. */
const TRANSACTION_LIES: readonly (readonly [string, Lie])[] = [
  ['another value', { transactions: edit(0, { value: '0x1' }) }],
  ['another recipient', { transactions: edit(0, { to: STRANGER }) }],
  ['another nonce', { transactions: edit(1, { nonce: '0x7f' }) }],
  ['another input', { transactions: edit(1, { input: '0xdeadbeef' }) }],
  ['another sender of a creation', { transactions: edit(CREATION, { from: STRANGER }) }],
  ['a field left out', { transactions: edit(0, { gas: undefined }) }],
  ['a type that nobody can check', { transactions: edit(0, { type: '0x76' }) }],
  ['hashes alone', { transactions: (list) => list.map(({ hash }) => hash as never) }],
  ['more gas used', { receipts: edit(0, { gasUsed: '0x1' }) }],
  ['another created contract', { receipts: edit(CREATION, { contractAddress: STRANGER }) }],
  ['another place', { transactions: edit(0, { transactionIndex: '0x2' }) }],
];

/** Contradictions to the receipts, for which the whole response is refused. */
const RECEIPT_LIES: readonly (readonly [string, Lie])[] = [
  ['a transaction left out', { transactions: (list) => list.slice(1) }],
  [
    'a transaction left out with its receipt',
    {
      transactions: (list) => list.slice(0, -1),
      receipts: (list) => list.slice(0, -1),
    },
  ],
  [
    'another outcome',
    { receipts: (list) => edit(0, { status: list[0]?.status === '0x1' ? '0x0' : '0x1', logs: [] })(list) },
  ],
];

describe('the numbers of logs', () => {
  const numbersOf = (block: ProvenBlock | null): number[] => block?.logs.map(({ logIndex }) => logIndex) ?? [];
  const renumbered = (number: (place: number) => string) => (list: readonly JsonObject[]) =>
    list.map((one) => ({
      ...one,
      logs: (one.logs as readonly JsonObject[]).map((log, place) => ({ ...log, logIndex: number(place) })),
    }));

  it.each<[string, Lie]>([
    ['in each transaction', { receipts: renumbered((place) => `0x${place.toString(16)}`) }],
    ['all alike', { receipts: renumbered(() => '0x0') }],
  ])('follow from the proven receipts where the upstream counts %s', async (_what, lie) => {
    const count = TRUE_RECEIPTS.flatMap(({ logs }) => logs as readonly JsonObject[]).length;
    expect(count).toBeGreaterThan(2);
    for (const policy of ['strict', 'record'] as const) {
      const { block, faults } = await read(lie, ['logs', 'transactions'], 0, policy);
      expect(block).toMatchObject({ level: 'receipts', parts: { transactions: { level: 'receipts' } } });
      expect(numbersOf(block)).toEqual(Array.from({ length: count }, (_, place) => place));
      expect(block?.receipts.flatMap(({ logs }) => logs)).toEqual(block?.logs);
      expect(faults).toEqual({ 'log-index-mismatch': 1 });
    }
  });
});

describe('the transactions of a block', () => {
  it('come from the first upstream where it tells the truth, and are proven', async () => {
    const { block, faults } = await read({}, ['logs', 'transactions'], 0);
    expect(block?.parts.transactions).toEqual({ level: 'receipts', reason: null });
    expect(block?.block.transactions).toEqual(TRUE_TRANSACTIONS);
    expect(faults).toEqual({});
  });

  it.each([...TRANSACTION_LIES, ...RECEIPT_LIES])(
    'come from another upstream where one shows %s',
    async (_what, lie) => {
      const { block, faults } = await read(lie, ['logs', 'transactions'], 1);
      expect(block?.parts.transactions).toEqual({ level: 'receipts', reason: null });
      expect(block?.block.transactions).toEqual(TRUE_TRANSACTIONS);
      expect(block?.receipts.map(({ raw }) => raw.gasUsed)).toEqual(TRUE_RECEIPTS.map(({ gasUsed }) => gasUsed));
      expect(Object.values(faults).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    },
  );

  it.each(TRANSACTION_LIES)(
    'are kept from datasets where the only upstream shows %s, and the logs are not',
    async (_what, lie) => {
      const { block } = await read(lie, ['logs', 'transactions'], 0);
      expect(block?.level).toBe('receipts');
      expect(block?.parts.transactions).toMatchObject({ level: 'unavailable', isUnsupported: false });
    },
  );

  it.each(TRANSACTION_LIES)(
    'are unproven under the policy record where the only upstream shows %s',
    async (_what, lie) => {
      const { block } = await read(lie, ['logs', 'transactions'], 0, 'record');
      expect(block?.level).toBe('receipts');
      expect(block?.parts.transactions?.level).toBe('unproven');
      expect(block?.parts.transactions?.reason).toMatch(/^(transaction|receipt)/);
    },
  );

  it('of a sender that differs from the receipt’s are refused; a lie in both is not seen, for no root holds senders', async () => {
    const both = { transactions: edit(0, { from: STRANGER }), receipts: edit(0, { from: STRANGER }) };
    const isCreation = CREATION === 0;
    expect(
      (await read({ transactions: both.transactions }, ['transactions'], 0)).block?.parts.transactions?.level,
    ).toBe('unavailable');
    expect((await read(both, ['transactions'], 0)).block?.parts.transactions?.level).toBe(
      isCreation ? 'unavailable' : 'receipts',
    );
  });

  const folder = recordedEvmFolder();
  /** Reads a real block of signed transactions, altered by the node. */
  const readSigned = async (
    { transactions = (same) => same, receipts = (same) => same }: Lie,
    how: {
      readonly policy: ProofPolicy;
      readonly verifiesSenders: boolean;
      readonly recoverSigners?: RecoverSigners;
      readonly storesSender?: StoresSender;
    },
  ): Promise<ProvenBlock | null> => {
    const source = await loadRecordedChain({ folder: folder ?? '', chain: 'arbitrum' });
    const altered = (json: JsonObject): JsonObject => ({
      ...json,
      transactions: transactions(json.transactions as readonly JsonObject[]),
    });
    const node = await serveChain(source, {
      methods: (_view, own) =>
        new Map([
          ['eth_getBlockByNumber', altering(own.get('eth_getBlockByNumber'), altered)],
          ['eth_getBlockReceipts', altering(own.get('eth_getBlockReceipts'), receipts)],
        ]),
    });
    const { verifiesSenders, ...reading } = how;
    const known = createChainRegistry().get(source.chainId);
    const chain = { ...known, transactions: { mode: 'all' as const, input: 'full' as const, verifiesSenders } };
    const parts = new Set<BlockPart>(['transactions']);
    return (await readFrom([node], 150_000_000, { ...reading, chain, parts })).block;
  };
  /** Whether the transaction's type does not include its sender. */
  const isSigned = ({ r, to }: JsonObject): boolean => typeof r === 'string' && r.length > 40 && to !== null;
  const another: Lie = {
    transactions: (list) => list.map((one) => (isSigned(one) ? { ...one, from: STRANGER } : one)),
    receipts: (list) =>
      list.map((one) => (one.to === null || one.type === '0x6a' ? one : { ...one, from: STRANGER })),
  };
  const otherValues: Lie = {
    transactions: (list) => list.map((one) => (isSigned(one) ? { ...one, value: '0x123456' } : one)),
  };
  const elsewhere: RecoverSigners = async (signatures) => recoverSigners(signatures);

  it.runIf(folder !== null).each([
    [true, 'strict', undefined, { level: 'unavailable', reason: 'sender-mismatch' }],
    [true, 'record', undefined, { level: 'unavailable', reason: 'sender-mismatch' }],
    [true, 'strict', elsewhere, { level: 'unavailable', reason: 'sender-mismatch' }],
    [false, 'strict', undefined, { level: 'receipts' }],
  ] as const)(
    'of a sender that did not sign are seen where senders are recovered (%s, policy %s, by %s)',
    async (verifiesSenders, policy, recover, expected) => {
      const by = recover === undefined ? {} : { recoverSigners: recover };
      const block = await readSigned(another, { policy, verifiesSenders, ...by });
      expect(block?.level).toBe('receipts');
      expect(block?.parts.transactions).toMatchObject(expected);
    },
  );

  it.runIf(folder !== null)('of a sender that no row stores are not recovered', async () => {
    const how = { policy: 'strict', verifiesSenders: true, storesSender: () => false } as const;
    expect((await readSigned(another, how))?.parts.transactions).toMatchObject({ level: 'receipts' });
  });

  it.runIf(folder !== null)('are not read where those fail who recover senders', async () => {
    const gone: RecoverSigners = () => Promise.reject(new Error('nobody recovers senders'));
    const how = { policy: 'strict', verifiesSenders: true, recoverSigners: gone } as const;
    await expect(readSigned({}, how)).rejects.toThrow('nobody recovers senders');
  });

  it.runIf(folder !== null)('are refused for their hashes whatever becomes of their senders', async () => {
    const gone: RecoverSigners = () => Promise.reject(new Error('nobody recovers senders'));
    const how = { policy: 'strict', verifiesSenders: true, recoverSigners: gone } as const;
    const block = await readSigned(otherValues, how);
    expect(block?.parts.transactions).toMatchObject({
      level: 'unavailable',
      reason: 'transaction-hash-mismatch',
    });
  });

  if (folder === null)
    process.stderr.write(
      'Recorded blocks are not there (../shared/data/evm): unknown types are not tested on them.\n',
    );
  it.runIf(folder !== null).each([
    ['arbitrum', 150_000_000, { level: 'receipts', reason: null }],
    ['base', 100, { level: 'receipts', reason: null }],
    ['tempo-moderato', 6_000_178, { level: 'unproven', reason: 'transaction-encoding' }],
  ] as const)('of a real block of %s are proven where every type is known', async (chain, number, expected) => {
    const source = await loadRecordedChain({ folder: folder ?? '', chain });
    const node = await serveChain(source);
    const known = createChainRegistry().find(source.chainId);
    const added = known === null ? [{ key: 'real', id: source.chainId }] : [];
    const real = createChainRegistry({ additional: added }).get(source.chainId);
    const parts = new Set<BlockPart>(['transactions']);
    const { block, faults } = await readFrom([node], number, { chain: real, policy: 'strict', parts });
    expect(block?.level).toBe('receipts');
    expect(block?.parts.transactions).toEqual(expected);
    expect(faults).toEqual({});
  });
});

const inFrame = (at: number, changes: object) => (list: readonly JsonObject[]) =>
  list.map((one, index) =>
    index === at ? { ...one, result: { ...(one.result as JsonObject), ...changes } } : one,
  );

// Invariant: PROOF-TRACES
describe('the traces of a block', () => {
  const lies: readonly (readonly [string, Lie])[] = [
    ['another sender', { traces: inFrame(0, { from: STRANGER }) }],
    ['another recipient', { traces: inFrame(1, { to: STRANGER }) }],
    ['another value', { traces: inFrame(0, { value: '0x9' }) }],
    ['another input', { traces: inFrame(0, { input: '0x1234' }) }],
    [
      'another outcome',
      { traces: (list) => inFrame(0, { error: failed(list[0]) ? undefined : 'reverted' })(list) },
    ],
    ['one too few', { traces: (list) => list.slice(1) }],
    ['one twice', { traces: (list) => [...list, list[0] ?? {}] }],
    ['one of another block', { traces: (list) => [...list, { ...list[0], txHash: `0x${'ab'.repeat(32)}` }] }],
    [
      'those of one transaction under the name of another',
      { traces: ([a, b, ...rest]) => [{ ...a, result: b?.result }, { ...b, result: a?.result }, ...rest] },
    ],
  ];

  it('fit the proven transactions, and no header commits to them', async () => {
    const { block } = await read({}, ['internalTransactions'], 0);
    expect(block?.parts.transactions?.level).toBe('receipts');
    expect(block?.parts.internalTransactions).toEqual({ level: 'not-applicable', reason: null });
    expect(block?.internalTransactions?.every(({ traceAddress }) => traceAddress.length > 0)).toBe(true);
  });

  it.each(lies)('come from another upstream where one shows %s', async (_what, lie) => {
    const truth = await read({}, ['internalTransactions'], 0);
    const { block, faults } = await read(lie, ['internalTransactions'], 1);
    expect(block?.internalTransactions).toEqual(truth.block?.internalTransactions);
    expect(faults.malformed).toBeGreaterThan(0);
  });

  it.each(lies)('are missing, and nothing else is, where the only upstream shows %s', async (_what, lie) => {
    const { block } = await read(lie, ['logs', 'transactions', 'internalTransactions'], 0);
    expect(block?.level).toBe('receipts');
    expect(block?.parts.transactions?.level).toBe('receipts');
    expect(block?.parts.internalTransactions).toMatchObject({ level: 'unavailable', isUnsupported: false });
  });
});

function failed(trace: JsonObject | undefined): boolean {
  return (trace?.result as JsonObject | undefined)?.error !== undefined;
}
