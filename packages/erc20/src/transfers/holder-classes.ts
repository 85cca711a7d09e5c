/** Classes of holders by their share of the supply, largest first: their numbers in the database are their places here. */
export const HOLDER_CLASSES = ['whales', 'sharks', 'dolphins', 'fish', 'octopus', 'crabs', 'shrimps'] as const;

export type HolderClass = (typeof HOLDER_CLASSES)[number];

/** How an account first came by a token: their numbers in the database are their places here. */
export const ACQUISITIONS = ['transfer', 'airdrop', 'swap'] as const;

export type Acquisition = (typeof ACQUISITIONS)[number];

/** So many transfers of a token in one transaction are no airdrop yet. */
export const AIRDROP_ABOVE = 20;

/**
 * The number of the class of a balance, in SQL: above 0.1 % of the supply it is 0, then the lower bounds count: 0.05, 0.005, 0.001, 0.00025
 * and 0.00015 %. Exact, whatever the sizes. A supply of nothing makes everybody a whale.
 */
export function classInSql(balance: string, supply: string): string {
  const bounds = ['2000', '20000', '100000', '400000'].map(
    (parts, place) => `WHEN ${balance} * ${parts} >= ${supply} THEN ${place + 1}`,
  );
  return `(CASE WHEN ${balance} * 1000 > ${supply} THEN 0 ${bounds.join(' ')} WHEN ${balance} * 2000000 >= ${supply} * 3 THEN 5 ELSE 6 END)`;
}

/** A number for each class. */
export function byClass(numberOf: (place: number) => number): Record<HolderClass, number> {
  return Object.fromEntries(HOLDER_CLASSES.map((name, place) => [name, numberOf(place)])) as Record<
    HolderClass,
    number
  >;
}

/** A number for each way, in the order of answers. */
export function byAcquisition(numberOf: (place: number) => number): Record<Acquisition, number> {
  return { swap: numberOf(2), transfer: numberOf(0), airdrop: numberOf(1) };
}
