/** Many more than the digits of a double. */
const PRECISION_BITS = 128;

/** The nearest double; null if the supply is 0 or below the balance. */
export function percentOfSupply(balance: bigint, supply: bigint): number | null {
  return percentagesOf(supply)(balance);
}

/** Shares one division, which costs several multiplications. */
export function percentagesOf(supply: bigint): (balance: bigint) => number | null {
  if (supply <= 0n) return () => null;
  const bits = PRECISION_BITS + supply.toString(16).length * 4;
  const factor = (100n << BigInt(bits)) / supply;
  const unit = 2 ** -bits;
  return (balance) => (balance > supply ? null : Number(balance * factor) * unit);
}
