import { featuresOf } from './classification-features.ts';
import { DECISION_TABLE } from './decision-table.ts';
import type { Classification, WalletTransaction } from './wallet-transaction.ts';

export function classify(transaction: WalletTransaction): Classification {
  const given = { transaction, ...featuresOf(transaction) };
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
