/** Without the fraction, as aptos-labs' indexer stores it. Genesis, which has none: the Unix epoch. */
export function wholeSeconds(microseconds: bigint | null): Date {
  return new Date(Number((microseconds ?? 0n) / 1_000_000n) * 1_000);
}
