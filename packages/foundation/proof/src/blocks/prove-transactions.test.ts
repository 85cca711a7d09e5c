import { describe, expect, it } from 'vitest';
import { RECORDINGS, type RecordedBlock, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { encodeTransaction } from '../transactions/transaction-encoding.ts';
import { proveTransactions, type TransactionsProof } from './prove-transactions.ts';

const recorded = readRecordedBlocks();
const provable = recorded.filter(({ block, chain, faithful }) => {
  const canBeEncoded = block.transactions.every((one) => encodeTransaction(one) !== null);
  return faithful && canBeEncoded && chain.receiptsRoot !== 'none' && block.transactions.length > 0;
});

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('the transactions of recorded blocks'), () => {
  it.each(recorded.filter(({ faithful }) => faithful))(
    '$folder are proven where their types are known',
    (one) => {
      const unknown = one.block.transactions.some((transaction) => encodeTransaction(transaction) === null);
      const expected =
        one.chain.receiptsRoot === 'none' ? 'not-applicable' : unknown ? 'transaction-encoding' : 'receipts';
      expect(reasonOf(proveTransactions(one.block, one.chain))).toBe(expected);
    },
  );

  it('are of every kind that is known', () => {
    const types = new Set(provable.flatMap(({ block }) => block.transactions.map(({ type }) => type ?? '0x0')));
    expect([...types].sort()).toEqual(['0x0', '0x1', '0x2', '0x6a', '0x7e']);
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

  it('may have another type than a synthetic receipt, which no root holds', () => {
    const { block, chain } = find('polygon/35779968');
    const [stateSync] = block.receipts.slice(-1);
    if (stateSync === undefined) throw new Error('The block has no receipts');
    const typed = { ...block, receipts: [...block.receipts.slice(0, -1), { ...stateSync, type: 0x7f }] };
    expect(reasonOf(proveTransactions(block, chain))).toBe('receipts');
    expect(reasonOf(proveTransactions(typed, chain))).toBe('receipts');
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
