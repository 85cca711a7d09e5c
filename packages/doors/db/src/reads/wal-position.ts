/** `pg_lsn`: bytes since the beginning. Each commit has a higher one. */
export type WalPosition = bigint;

const LOW_BITS = 32n;

const PATTERN = /^[\dA-F]{1,8}\/[\dA-F]{1,8}$/;

/** @param text such as `16/B374D848` @throws {RangeError} */
export function parseWalPosition(text: string): WalPosition {
  const [high, low] = text.split('/');
  if (!PATTERN.test(text)) throw new RangeError(`${JSON.stringify(text)} is no place in a Postgres log`);
  return (BigInt(`0x${high}`) << LOW_BITS) | BigInt(`0x${low}`);
}

export function formatWalPosition(position: WalPosition): string {
  const low = BigInt.asUintN(Number(LOW_BITS), position);
  return `${(position >> LOW_BITS).toString(16)}/${low.toString(16)}`.toUpperCase();
}

export function laterOf(one: WalPosition, other: WalPosition): WalPosition {
  return one > other ? one : other;
}
