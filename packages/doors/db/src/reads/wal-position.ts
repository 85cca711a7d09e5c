/** In the WAL of a Postgres cluster (`pg_lsn`): bytes since its beginning. Each commit has a higher position. */
export type WalPosition = bigint;

const LOW_BITS = 32n;

const PATTERN = /^[\dA-F]{1,8}\/[\dA-F]{1,8}$/;

/** @param text two hexadecimal halves, as in `16/B374D848` @throws {RangeError} if the format is different */
export function parseWalPosition(text: string): WalPosition {
  const [high, low] = text.split('/');
  if (!PATTERN.test(text)) throw new RangeError(`${JSON.stringify(text)} is no place in a Postgres log`);
  return (BigInt(`0x${high}`) << LOW_BITS) | BigInt(`0x${low}`);
}

/** In the format of Postgres. */
export function formatWalPosition(position: WalPosition): string {
  const low = BigInt.asUintN(Number(LOW_BITS), position);
  return `${(position >> LOW_BITS).toString(16)}/${low.toString(16)}`.toUpperCase();
}

export function laterOf(one: WalPosition, other: WalPosition): WalPosition {
  return one > other ? one : other;
}
