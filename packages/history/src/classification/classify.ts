import { DECISION_TABLE } from './decision-table.ts';
import { termsOf } from './terms.ts';
import type { Classification, WalletTransaction } from './wallet-transaction.ts';

/** What a transaction was for one wallet: the first rule of the decision table that holds. Pure. */
export function classify(transaction: WalletTransaction): Classification {
  const given = { transaction, ...termsOf(transaction) };
  const index = DECISION_TABLE.findIndex(({ holds }) => holds(given));
  const rule = DECISION_TABLE[index];
  if (rule === undefined) throw new RangeError('The last rule of the decision table does not hold');
  const { category, detail = null, isInferred = false } = rule;
  return {
    category: typeof category === 'function' ? category(given) : category,
    detail: typeof detail === 'function' ? detail(given) : detail,
    isInferred,
    row: index + 1,
  };
}
