import { joinSql, rawSql, type Sql, sql } from '@chainstead/db';

export const HOLDER_CLASSES = ['whales', 'sharks', 'dolphins', 'fish', 'octopus', 'crabs', 'shrimps'] as const;

/** How an account first received a token. The database stores the index. */
export const ACQUISITIONS = ['transfer', 'airdrop', 'swap'] as const;

/** A transaction with more transfers of a token than this is an airdrop. */
export const AIRDROP_ABOVE = 20;

/** Exact for all sizes. With a supply of zero every holder is a whale. */
export function classInSql(balance: Sql, supply: Sql): Sql {
  const bounds = [2_000, 20_000, 100_000, 400_000].map(
    (parts, index) => sql`WHEN ${balance} * ${rawSql(parts)} >= ${supply} THEN ${rawSql(index + 1)}`,
  );
  return sql`(CASE WHEN ${balance} * 1000 > ${supply} THEN 0 ${joinSql(bounds, ' ')} WHEN ${balance} * 2000000 >= ${supply} * 3 THEN 5 ELSE 6 END)`;
}

export function byClass<Value>(
  valueFor: (index: number) => Value,
): Record<(typeof HOLDER_CLASSES)[number], Value> {
  const entries = HOLDER_CLASSES.map((name, index) => [name, valueFor(index)]);
  return Object.fromEntries(entries) as Record<(typeof HOLDER_CLASSES)[number], Value>;
}

export function byAcquisition(
  numberOf: (index: number) => number,
): Record<(typeof ACQUISITIONS)[number], number> {
  return { swap: numberOf(2), transfer: numberOf(0), airdrop: numberOf(1) };
}
