/** Significant digits of a double, and some more. */
const DIGITS = 25;

/** Percent, as the nearest double; null where the supply is 0 or below the balance, which it can't be of then. */
export function percentOfSupply(balance: bigint, supply: bigint): number | null {
  if (supply <= 0n || balance > supply) return null;
  if (balance === 0n) return 0;
  // Digits enough behind the point even where the supply is 2^256 and the balance 1.
  const scale = DIGITS + supply.toString().length - balance.toString().length;
  return Number(`${(100n * balance * 10n ** BigInt(scale)) / supply}e-${scale}`);
}
