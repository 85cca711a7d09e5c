/** For bodies or responses together, from receiving bytes to the end of the request. */
export interface ByteBudget {
  /** False if there is no room. `isOneRow`: `rowBytesMax` is the key's maximum. */
  take(keyId: string, bytes: number, isOneRow?: boolean): boolean;
  give(keyId: string, bytes: number): void;
  readonly keyBytesMax: number;
  readonly rowBytesMax: number;
  readonly used: number;
}

const VALUE_BYTES = 64;
const TEXT_BYTES = 10;

/** Memory in addition to the body's bytes: up to 15 times as much for values as short as `{}`. */
export function bytesOfValues(values: number, bodyBytes: number): number {
  return VALUE_BYTES * Math.max(0, values - Math.floor(bodyBytes / TEXT_BYTES));
}

const SHARE_OF_ROW = 3 / 4;

/**
 * @param shareOfKey slow requests of one key leave room for other keys
 * @param keyBytesMin each key has them, even if other keys take all bytes
 */
export function createByteBudget(bytesMax: number, shareOfKey: number = 1 / 4, keyBytesMin = 0): ByteBudget {
  const ofKey = new Map<string, number>();
  const keyBytesMax = Math.ceil(bytesMax * shareOfKey);
  const rowBytesMax = Math.max(keyBytesMax, Math.ceil(bytesMax * SHARE_OF_ROW));
  let used = 0;
  return {
    take(keyId, bytes, isOneRow = false) {
      const taken = (ofKey.get(keyId) ?? 0) + bytes;
      if (taken > (isOneRow ? rowBytesMax : keyBytesMax)) return false;
      if (used + bytes > bytesMax && taken > keyBytesMin) return false;
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
    ...{ keyBytesMax, rowBytesMax },
    get used() {
      return used;
    },
  };
}
