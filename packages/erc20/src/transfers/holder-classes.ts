/** Classes of holders by share of the supply, largest first: their numbers in the database are the indexes here. */
export const HOLDER_CLASSES = ['whales', 'sharks', 'dolphins', 'fish', 'octopus', 'crabs', 'shrimps'] as const;

export type HolderClass = (typeof HOLDER_CLASSES)[number];

/** How an account first received a token: the numbers in the database are the indexes here. */
export const ACQUISITIONS = ['transfer', 'airdrop', 'swap'] as const;

export type Acquisition = (typeof ACQUISITIONS)[number];

/** A transaction with more transfers of a token than this is an airdrop. */
export const AIRDROP_ABOVE = 20;

/**
 * SQL for the class number of a balance: 0 above 0.1 % of the supply, then by the lower bounds 0.05, 0.005, 0.001,
 * 0.00025 and 0.00015 %. Exact for all sizes. With a supply of zero every holder is a whale.
 */
export function classInSql(balance: string, supply: string): string {
  const bounds = ['2000', '20000', '100000', '400000'].map(
    (parts, place) => `WHEN ${balance} * ${parts} >= ${supply} THEN ${place + 1}`,
  );
  return `(CASE WHEN ${balance} * 1000 > ${supply} THEN 0 ${bounds.join(' ')} WHEN ${balance} * 2000000 >= ${supply} * 3 THEN 5 ELSE 6 END)`;
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
