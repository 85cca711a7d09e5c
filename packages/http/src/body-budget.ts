/** Bounds what the bodies that are being received, or held by their requests, take of the memory, all together. */
export interface BodyBudget {
  /** Takes bytes for a key; false, and nothing is taken: there is no room. Whoever took them gives them back. */
  take(keyId: string, bytes: number): boolean;
  give(keyId: string, bytes: number): void;
  /** What is taken. Bytes. */
  readonly used: number;
}

/** What a value of JSON takes in memory beside its text. Bytes. */
const VALUE_BYTES = 64;
/** Text of a value, usually: budgets are made for that. Bytes. */
const TEXT_BYTES = 10;

/**
 * What a body takes once it is parsed, beside its bytes: nothing as a rule, 15 times as much where its values are as short as `{}`.
 * @param values as `countJsonValues` counts them
 * @returns bytes
 */
export function bytesOfValues(values: number, bodyBytes: number): number {
  return VALUE_BYTES * Math.max(0, values - Math.floor(bodyBytes / TEXT_BYTES));
}

/** So many slow senders of one key leave room for the others. */
const SHARE_OF_A_KEY = 4;

/** @param bytesMax of all bodies; one key may take a quarter of it */
export function createBodyBudget(bytesMax: number): BodyBudget {
  const ofKey = new Map<string, number>();
  const keyMax = Math.ceil(bytesMax / SHARE_OF_A_KEY);
  let used = 0;
  return {
    take(keyId, bytes) {
      const taken = (ofKey.get(keyId) ?? 0) + bytes;
      if (taken > keyMax || used + bytes > bytesMax) return false;
      ofKey.set(keyId, taken);
      used += bytes;
      return true;
    },
    give(keyId, bytes) {
      const left = (ofKey.get(keyId) ?? 0) - bytes;
      if (left > 0) ofKey.set(keyId, left);
      else ofKey.delete(keyId);
      used -= bytes;
    },
    get used() {
      return used;
    },
  };
}
