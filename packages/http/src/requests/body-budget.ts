/** Limits the total memory of request bodies, from receiving them to the end of their requests. */
export interface BodyBudget {
  /**
   * Reserves bytes for a key, to be released with `give`; returns false, without a reservation, if there is no room.
   */
  take(keyId: string, bytes: number): boolean;
  give(keyId: string, bytes: number): void;
  /** Reserved bytes. */
  readonly used: number;
}

/** Memory of a JSON value in addition to its text. Bytes. */
const VALUE_BYTES = 64;
/** Usual text length per value, which the budget already covers. Bytes. */
const TEXT_BYTES = 10;

/**
 * Returns the memory of a parsed body in addition to its bytes: usually nothing, up to 15 times its size for values as
 * short as `{}`.
 * @param values as counted by `countJsonValues`
 * @returns bytes
 */
export function bytesOfValues(values: number, bodyBytes: number): number {
  return VALUE_BYTES * Math.max(0, values - Math.floor(bodyBytes / TEXT_BYTES));
}

/** One key may use a quarter, so its slow senders leave room for other keys. */
const SHARE_OF_A_KEY = 4;

/** @param bytesMax limit for all bodies; one key may use a quarter of it */
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
