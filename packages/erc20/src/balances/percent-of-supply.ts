/** Bits of the factor that stand for digits of a double, and many more. */
const PRECISION_BITS = 128;

/** Percent, as the nearest double; null where the supply is 0 or below the balance, which it can't be of then. */
export function percentOfSupply(balance: bigint, supply: bigint): number | null {
  return percentagesOf(supply)(balance);
}

/** The same of many balances: one division for all of them, which costs several times as much as a multiplication. */
export function percentagesOf(supply: bigint): (balance: bigint) => number | null {
  if (supply <= 0n) return () => null;
  const bits = PRECISION_BITS + supply.toString(16).length * 4;
  const factor = (100n << BigInt(bits)) / supply;
  const unit = 2 ** -bits;
  return (balance) => (balance > supply ? null : Number(balance * factor) * unit);
}
