import { hexToBytes } from './hex-bytes.ts';
import { encodeList, encodeString, integerBytes } from './rlp.ts';

/** A transaction's JSON as nodes answer it. */
export type TransactionJson = Readonly<Record<string, unknown>>;

/** Something in the JSON is missing or of another form than the type has. */
export class UnknownFormError extends Error {}

const EMPTY = Buffer.alloc(0);

/** A quantity in RLP. @throws UnknownFormError */
export function integer(value: unknown): Buffer {
  if (typeof value !== 'string' || !/^0x[0-9a-f]+$/i.test(value)) throw new UnknownFormError();
  return encodeString(integerBytes(BigInt(value)));
}

/** Bytes in RLP. @throws UnknownFormError */
export function bytes(value: unknown): Buffer {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(value)) throw new UnknownFormError();
  return encodeString(hexToBytes(value));
}

/** No bytes, in RLP. */
export function nothing(): Buffer {
  return encodeString(EMPTY);
}

/** A contract's creation has none. @throws UnknownFormError */
export function recipient(value: unknown): Buffer {
  return value === null || value === undefined ? nothing() : bytes(value);
}

/** @throws UnknownFormError */
export function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnknownFormError();
  return value;
}

/** EIP-2930. @throws UnknownFormError */
export function accessList(value: unknown): Buffer {
  return encodeList(
    list(value).map((entry) => {
      const { address, storageKeys } = object(entry);
      return encodeList([bytes(address), encodeList(list(storageKeys).map(bytes))]);
    }),
  );
}

/** EIP-7702. @throws UnknownFormError */
export function authorization(value: unknown): Buffer {
  const one = object(value);
  return encodeList([integer(one.chainId), bytes(one.address), integer(one.nonce), ...typedSignature(one)]);
}

/** As all types but legacy have it. @throws UnknownFormError */
export function typedSignature(one: TransactionJson): readonly Buffer[] {
  return [integer(one.yParity ?? one.v), integer(one.r), integer(one.s)];
}

function object(value: unknown): TransactionJson {
  if (typeof value !== 'object' || value === null) throw new UnknownFormError();
  return value as TransactionJson;
}
