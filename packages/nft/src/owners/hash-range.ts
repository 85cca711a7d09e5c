/** A slice of all token hashes, from the first up to but not including the second. 16 bytes each; null: to the end. */
export interface HashRange {
  readonly from: Buffer;
  readonly to: Buffer | null;
}

const HASHES = 2n ** 128n;

/** Part `range` (from 1) of `totalRanges` equal parts, which together contain each hash once. */
export function hashRange({ range, totalRanges }: { readonly range: number; readonly totalRanges: number }): HashRange {
  const end = (part: number): bigint => (BigInt(part) * HASHES + BigInt(totalRanges) - 1n) / BigInt(totalRanges);
  const bytesOf = (hash: bigint) => Buffer.from(hash.toString(16).padStart(32, '0'), 'hex');
  return { from: bytesOf(end(range - 1)), to: range === totalRanges ? null : bytesOf(end(range)) };
}
