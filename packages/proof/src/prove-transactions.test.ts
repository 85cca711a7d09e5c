import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BlockTransactions, proveTransactions, type TransactionsProof } from './prove-transactions.ts';
import { RECORDINGS, type RecordedBlock, readRecordedBlocks } from './testing/recorded-blocks.ts';
import { encodeTransaction } from './transaction-encoding.ts';
import type { TransactionJson } from './transaction-fields.ts';

const recorded = readRecordedBlocks();
const provable = recorded.filter(({ block, chain, faithful }) => {
  const canBeEncoded = block.transactions.every((one) => encodeTransaction(one) !== null);
  return faithful && canBeEncoded && chain.receiptsRoot !== 'none' && block.transactions.length > 0;
});
const ethereum = provable.filter(({ folder }) => folder.startsWith('ethereum/'));

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('the transactions of recorded blocks'), () => {
  it.each(recorded.filter(({ faithful }) => faithful))('$folder are proven where their types are known', (one) => {
    const unknown = one.block.transactions.some((transaction) => encodeTransaction(transaction) === null);
    const expected =
      one.chain.receiptsRoot === 'none' ? 'not-applicable' : unknown ? 'transaction-encoding' : 'receipts';
    expect(reasonOf(proveTransactions(one.block, one.chain))).toBe(expected);
  });

  it('are of every kind that is known', () => {
    const types = new Set(provable.flatMap(({ block }) => block.transactions.map(({ type }) => type ?? '0x0')));
    expect([...types].sort()).toEqual(['0x0', '0x1', '0x2', '0x6a', '0x7e']);
    expect(ethereum.length).toBeGreaterThan(15);
  });

  it('that were recorded without their signatures are not', () => {
    expect(reasonOf(proveTransactions(find('ethereum/17173049').block, find('ethereum/17173049').chain))).toBe(
      'transaction-malformed',
    );
  });

  it('of a type that nobody can encode are unproven for that reason, and a chain that commits to none has nothing to prove', () => {
    const { block, chain } = find('ethereum/12244145');
    const [first, ...others] = block.transactions;
    const [receipt, ...receipts] = block.receipts;
    if (receipt === undefined) throw new Error('The block has no receipts');
    const foreign = {
      ...block,
      transactions: [{ ...first, type: '0x76' }, ...others],
      receipts: [{ ...receipt, type: 0x76 }, ...receipts],
    };
    expect(reasonOf(proveTransactions(foreign, chain))).toBe('transaction-encoding');
    expect(reasonOf(proveTransactions(foreign, { ...chain, receiptsRoot: 'none' }))).toBe('not-applicable');
    expect(reasonOf(proveTransactions({ ...foreign, receipts: block.receipts }, chain))).toBe('receipt-mismatch');
  });
});

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('an answer that was altered'), () => {
  /** By folder, so that a counterexample is short. */
  const someTransaction = () =>
    fc
      .constantFrom(...ethereum.map(({ folder }) => folder))
      .chain((folder) =>
        fc.record({ folder: fc.constant(folder), at: fc.nat(find(folder).block.transactions.length - 1) }),
      );

  it('in any field that the transaction signs is found', () => {
    const fields = ['nonce', 'gas', 'to', 'value', 'input', 'r', 's', 'hash'];
    const byType: Readonly<Record<string, readonly string[]>> = {
      '0x0': ['gasPrice', 'v'],
      '0x1': ['gasPrice', 'chainId'],
      '0x2': ['maxFeePerGas', 'maxPriorityFeePerGas', 'chainId'],
    };
    fc.assert(
      fc.property(someTransaction(), fc.nat(), ({ folder, at }, choice) => {
        const { block, chain } = find(folder);
        const signed = [...fields, ...(byType[String(block.transactions[at]?.type ?? '0x0')] ?? [])];
        const field = signed[choice % signed.length] ?? '';
        const value = block.transactions[at]?.[field];
        const altered = edit(block, at, { [field]: value === '0x' ? '0x00' : flipped(value) });
        expect(proveTransactions(altered, chain).level, field).toBe('unproven');
      }),
      { numRuns: 300 },
    );
  });

  it('by a transaction that is left out, added or in another place is found', () => {
    fc.assert(
      fc.property(someTransaction(), fc.constantFrom('lost', 'twice', 'swapped'), ({ folder, at }, what) => {
        const { block, chain } = find(folder);
        const { transactions } = block;
        const [first, second, ...others] = transactions.map(withoutPlace);
        fc.pre(first !== undefined && second !== undefined);
        const altered: Record<typeof what, readonly TransactionJson[]> = {
          lost: transactions.map(withoutPlace).toSpliced(at, 1),
          twice: [...transactions.map(withoutPlace), first],
          swapped: [second, first, ...others],
        };
        const proof = proveTransactions({ ...block, transactions: altered[what] }, chain);
        expect(reasonOf(proof)).toBe('transactions-root-mismatch');
      }),
    );
  });

  it('in what a receipt says of its transaction is found', () => {
    const { block, chain } = find('ethereum/12244145');
    const [receipt, ...others] = block.receipts;
    if (receipt === undefined) throw new Error('The block has no receipts');
    const after = (raw: object, changes: object = {}): string => {
      const altered = { ...receipt, ...changes, raw: { ...receipt.raw, ...raw } };
      return reasonOf(proveTransactions({ ...block, receipts: [altered, ...others] }, chain));
    };
    expect(after({})).toBe('receipts');
    const address = `0x${'12'.repeat(20)}`;
    for (const altered of [{ gasUsed: '0x1' }, { from: address }, { to: address }, { contractAddress: address }])
      expect(after(altered), JSON.stringify(altered)).toBe('receipt-mismatch');
    expect(after({}, { type: 2 })).toBe('receipt-mismatch');
  });

  it('in the contract that a transaction created is found, also when there is none', () => {
    const creations = ethereum.flatMap((one) =>
      one.block.transactions.flatMap(({ to }, at) => (to === null || to === undefined ? [{ one, at }] : [])),
    );
    expect(creations.length).toBeGreaterThan(2);
    for (const { one, at } of creations)
      for (const contractAddress of [`0x${'12'.repeat(20)}`, null]) {
        const receipts = one.block.receipts.map((receipt, index) =>
          index === at ? { ...receipt, raw: { ...receipt.raw, contractAddress, status: '0x1' } } : receipt,
        );
        expect(reasonOf(proveTransactions({ ...one.block, receipts }, one.chain))).toBe('receipt-mismatch');
      }
  });

  it('by a place that is not the transaction’s own is found', () => {
    const { block, chain } = find('ethereum/12244145');
    for (const place of [{ transactionIndex: '0x7' }, { blockNumber: '0x1' }, { blockHash: `0x${'12'.repeat(32)}` }])
      expect(reasonOf(proveTransactions(edit(block, 0, place), chain))).toBe('transaction-placement');
  });

  it('in its header, which has no root or no number where one should be, is not proven', () => {
    const { block, chain } = find('ethereum/12244145');
    const { transactionsRoot: _, ...raw } = block.header.raw;
    expect(reasonOf(proveTransactions({ ...block, header: { ...block.header, raw } }, chain))).toBe(
      'transactions-root-missing',
    );
    expect(reasonOf(proveTransactions(edit(block, 0, { value: 'much' }), chain))).toBe('transaction-malformed');
  });
});

function reasonOf(proof: TransactionsProof): string {
  return proof.level === 'unproven' ? proof.reason : proof.level;
}

function find(folder: string): RecordedBlock {
  const found = recorded.find((one) => one.folder === folder);
  if (found === undefined) throw new Error(`${folder} is not among the recorded blocks`);
  return found;
}

function edit(block: BlockTransactions, at: number, changes: object): BlockTransactions {
  return {
    ...block,
    transactions: block.transactions.map((one, index) => (index === at ? { ...one, ...changes } : one)),
  };
}

function withoutPlace({ transactionIndex: _, ...transaction }: TransactionJson): TransactionJson {
  return transaction;
}

/** Another value of the same kind. */
function flipped(value: unknown): string {
  const text = typeof value === 'string' ? value : `0x${'12'.repeat(20)}`;
  return `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}`;
}
