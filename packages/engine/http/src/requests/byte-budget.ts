/** Limits the memory of bodies or of responses together, from receiving their bytes to the end of their requests. */
export interface ByteBudget {
  /** False, without a reservation, if there is no room. `isOneRow`: `rowBytesMax` is the key's maximum. */
  take(keyId: string, bytes: number, isOneRow?: boolean): boolean;
  give(keyId: string, bytes: number): void;
  readonly keyBytesMax: number;
  /** Maximum for one key with a response that can't be divided. */
  readonly rowBytesMax: number;
  readonly used: number;
}

/** Memory of a JSON value in addition to its text. Bytes. */
const VALUE_BYTES = 64;
/** Usual text length per value, which the budget already covers. Bytes. */
const TEXT_BYTES = 10;

/** Memory of a parsed body in addition to its bytes: up to 15 times its size for values as short as `{}`. */
export function bytesOfValues(values: number, bodyBytes: number): number {
  return VALUE_BYTES * Math.max(0, values - Math.floor(bodyBytes / TEXT_BYTES));
}

/** Leaves room for other keys. */
const SHARE_OF_ROW = 3 / 4;

/** @param shareOfKey part that one key may use, so that its slow requests leave room for other keys */
export function createByteBudget(bytesMax: number, shareOfKey: number = 1 / 4): ByteBudget {
  const ofKey = new Map<string, number>();
  const keyBytesMax = Math.ceil(bytesMax * shareOfKey);
  const rowBytesMax = Math.max(keyBytesMax, Math.ceil(bytesMax * SHARE_OF_ROW));
  let used = 0;
  return {
    take(keyId, bytes, isOneRow = false) {
      const taken = (ofKey.get(keyId) ?? 0) + bytes;
      if (taken > (isOneRow ? rowBytesMax : keyBytesMax) || used + bytes > bytesMax) return false;
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
