import { joinSql, rawSql, type Sql, sql } from '@chainstead/db';

/** Classes of holders by share of the supply, largest first: their numbers in the database are the indexes here. */
export const HOLDER_CLASSES = ['whales', 'sharks', 'dolphins', 'fish', 'octopus', 'crabs', 'shrimps'] as const;

export type HolderClass = (typeof HOLDER_CLASSES)[number];

/** How an account first received a token: the numbers in the database are the indexes here. */
export const ACQUISITIONS = ['transfer', 'airdrop', 'swap'] as const;

export type Acquisition = (typeof ACQUISITIONS)[number];

/** A transaction with more transfers of a token than this is an airdrop. */
export const AIRDROP_ABOVE = 20;

/**
 * Returns the class number of a balance: 0 above 0.1 % of the supply, then by the lower bounds 0.05, 0.005, 0.001,
 * 0.00025 and 0.00015 %. Exact for all sizes. With a supply of zero every holder is a whale.
 */
export function classInSql(balance: Sql, supply: Sql): Sql {
  const bounds = [2_000, 20_000, 100_000, 400_000].map(
    (parts, place) => sql`WHEN ${balance} * ${rawSql(parts)} >= ${supply} THEN ${rawSql(place + 1)}`,
  );
  return sql`(CASE WHEN ${balance} * 1000 > ${supply} THEN 0 ${joinSql(bounds, ' ')} WHEN ${balance} * 2000000 >= ${supply} * 3 THEN 5 ELSE 6 END)`;
}

/** Returns a number for each class. */
export function byClass(numberOf: (place: number) => number): Record<HolderClass, number> {
  return Object.fromEntries(HOLDER_CLASSES.map((name, place) => [name, numberOf(place)])) as Record<
    HolderClass,
    number
  >;
}

/** Returns a number for each kind of acquisition, in response order. */
export function byAcquisition(numberOf: (place: number) => number): Record<Acquisition, number> {
  return { swap: numberOf(2), transfer: numberOf(0), airdrop: numberOf(1) };
}
