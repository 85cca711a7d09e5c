import { recordedData } from '@chainstead/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { type RecordedTransaction, readRecordedTransactions } from '../testing/recorded-transactions.ts';
import { featuresOf } from './classification-features.ts';
import { DECISION_TABLE } from './decision-table.ts';

const { isMissing, title } = recordedData('data/evm');

/** Blocks whose transactions were all classified independently. */
const FIRST_BLOCK = 4_369_999;
/** Rules that need neither traces, nor trades, nor protocol events. */
const PLAIN_RULES = new Set([1, 3, 4, 6, 7, 8, 11, 14, 15, 20, 22, 23, 25, 26, 27, 28, 29, 30, 31]);
const [FAILED, IDLE] = [1, 30];

/**
 * Category counts of Ethereum's recorded transactions from an independent classification, by plain rules alone. It
 * differs in two of 2,633. Burning NFTs for a new one is a mint here (rule 4 comes before rule 6). Native tokens to
 * oneself are sent here (rule 30).
 */
const COUNTED = {
  send: 973,
  'token send': 611,
  'contract interaction': 343 - 1,
  'token swap': 214 - 1,
  approve: 183,
  failed: 77,
  'nft purchase': 55,
  mint: 47 + 1,
  'token receive': 44,
  'nft send': 27,
  revoke: 17,
  'nft sale': 14,
  withdraw: 11,
  deposit: 9,
  burn: 5,
  'nft receive': 2,
  'zero or self': 1 + 1,
};

/** Differences by the other rules: the plain rule that would match, and the one that does. */
const FURTHER = {
  '7 → 2 nft purchase': 54,
  '8 → 2 nft sale': 12,
  '20 → 16 deposit': 5,
  '20 → 17 withdraw': 3,
  '20 → 18 deposit': 6,
  '22 → 21 token swap': 1,
  '23 → 16 deposit': 2,
  '23 → 21 token swap': 58,
  '25 → 12 borrow': 2,
  '26 → 16 deposit': 1,
};

describe.skipIf(isMissing)(title('the recorded blocks, seen by their senders'), () => {
  let recorded: readonly RecordedTransaction[] = [];
  let ofEthereum: readonly RecordedTransaction[] = [];
  beforeAll(() => {
    recorded = readRecordedTransactions();
    ofEthereum = recorded.filter(({ block }) => {
      const [chain, number] = block.split('/');
      return chain === 'ethereum' && Number(number) >= FIRST_BLOCK;
    });
  });

  test('are all classified', () => {
    expect(new Set(recorded.map(({ block }) => block)).size).toBeGreaterThan(100);
    expect(recorded.length).toBeGreaterThan(5_800);
    expect(new Set(recorded.map(({ classification }) => classification.row)).size).toBeGreaterThan(20);
  });

  test('come to the counts of an independent reading by the rules that it had', () => {
    expect(ofEthereum).toHaveLength(2_633);
    expect(countBy(ofEthereum, (one) => plainly(one).label)).toEqual(COUNTED);
  });

  test('and from there to what trades, events and shares tell besides', () => {
    const moved = ofEthereum.filter((one) => one.classification.row !== plainly(one).row);
    const steps = countBy(
      moved,
      (one) => `${plainly(one).row} → ${one.classification.row} ${one.classification.category}`,
    );
    expect(steps).toEqual(FURTHER);
  });
});

/** The first matching plain rule. */
function plainly({ seen }: RecordedTransaction): { readonly row: number; readonly label: string } {
  const found = { transaction: seen, ...featuresOf(seen) };
  const index = DECISION_TABLE.findIndex((rule, place) => PLAIN_RULES.has(place + 1) && rule.holds(found));
  const rule = DECISION_TABLE[index];
  if (rule === undefined) throw new RangeError('No plain rule holds');
  const category = typeof rule.category === 'function' ? rule.category(found) : rule.category;
  const row = index + 1;
  return { row, label: row === FAILED ? 'failed' : row === IDLE ? 'zero or self' : category };
}

function countBy(all: readonly RecordedTransaction[], nameOf: (one: RecordedTransaction) => string) {
  const groups = Object.entries(Object.groupBy(all, nameOf));
  return Object.fromEntries(groups.map(([name, some = []]) => [name, some.length]));
}
