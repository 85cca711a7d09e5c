import { hexToBytes } from './hex-bytes.ts';
import { encodeList, encodeString, integerBytes } from './rlp.ts';

/** A transaction's JSON as nodes answer it. */
export type TransactionJson = Readonly<Record<string, unknown>>;

type Encoder = (transaction: TransactionJson) => readonly Buffer[];

/** Something in the JSON is missing or of another form than the type has. */
class UnknownFormError extends Error {}

const EMPTY = Buffer.alloc(0);
/** Of Ethereum itself: legacy, EIP-2930, EIP-1559, EIP-4844, EIP-7702. */
const ETHEREUM_TYPE_MAX = 4;

/** Fields after which a typed transaction is signed alike. */
const SIGNATURE: Encoder = (one) => [integer(one.yParity ?? one.v), integer(one.r), integer(one.s)];
const CALL: Encoder = (one) => [integer(one.gas), recipient(one.to), integer(one.value), bytes(one.input ?? one.data)];
const FEE_MARKET: Encoder = (one) => [
  integer(one.chainId),
  integer(one.nonce),
  integer(one.maxPriorityFeePerGas),
  integer(one.maxFeePerGas),
  ...CALL(one),
  accessList(one.accessList),
];

/** By EIP-2718 type. */
const ENCODERS = new Map<number, Encoder>([
  [
    0,
    (one) => [integer(one.nonce), integer(one.gasPrice), ...CALL(one), integer(one.v), integer(one.r), integer(one.s)],
  ],
  // EIP-2930
  [
    1,
    (one) => [
      integer(one.chainId),
      integer(one.nonce),
      integer(one.gasPrice),
      ...CALL(one),
      accessList(one.accessList),
      ...SIGNATURE(one),
    ],
  ],
  // EIP-1559
  [2, (one) => [...FEE_MARKET(one), ...SIGNATURE(one)]],
  // EIP-4844
  [
    3,
    (one) => [
      ...FEE_MARKET(one),
      integer(one.maxFeePerBlobGas),
      encodeList(list(one.blobVersionedHashes).map(bytes)),
      ...SIGNATURE(one),
    ],
  ],
  // EIP-7702
  [4, (one) => [...FEE_MARKET(one), encodeList(list(one.authorizationList).map(authorization)), ...SIGNATURE(one)]],
  // Arbitrum's internal transaction, the first of each block
  [0x6a, (one) => [integer(one.chainId), bytes(one.input ?? one.data)]],
  // OP Stack deposits (specs.optimism.io, deposits)
  [
    0x7e,
    (one) => [
      bytes(one.sourceHash),
      bytes(one.from),
      recipient(one.to),
      one.mint === undefined || one.mint === null ? encodeString(EMPTY) : integer(one.mint),
      integer(one.value),
      integer(one.gas),
      encodeString(integerBytes(one.isSystemTx === true ? 1 : 0)),
      bytes(one.input ?? one.data),
    ],
  ],
]);

/** Fields that Mantle's deposits are hashed with beside those of the OP Stack, in a form of its own. */
const FOREIGN_FIELDS = ['ethValue', 'ethTxValue'] as const;

/**
 * The bytes of a transaction as the transactions' trie holds them (EIP-2718), whose keccak-256 is its hash. Null where
 * its type or form is not known: of zkSync, most of Arbitrum's and others.
 */
export function encodeTransaction(transaction: TransactionJson): Buffer | null {
  const type = transactionType(transaction);
  const encoder = type === null ? undefined : ENCODERS.get(type);
  if (encoder === undefined || FOREIGN_FIELDS.some((field) => transaction[field] !== undefined)) return null;
  try {
    const body = encodeList(encoder(transaction));
    return type === 0 ? body : Buffer.concat([Buffer.from([type ?? 0]), body]);
  } catch (error) {
    if (error instanceof UnknownFormError) return null;
    throw error;
  }
}

/** Whether every node shows enough of a transaction of this type to encode it. */
export function isEthereumType(type: number | null): boolean {
  return type !== null && type >= 0 && type <= ETHEREUM_TYPE_MAX;
}

/** The EIP-2718 type, null where it is not a number. Nodes leave the type of old transactions out. */
export function transactionType({ type }: TransactionJson): number | null {
  if (type === undefined || type === null) return 0;
  const number = typeof type === 'string' || typeof type === 'number' ? Number(type) : Number.NaN;
  return Number.isInteger(number) ? number : null;
}

function integer(value: unknown): Buffer {
  if (typeof value !== 'string' || !/^0x[0-9a-f]+$/i.test(value)) throw new UnknownFormError();
  return encodeString(integerBytes(BigInt(value)));
}

function bytes(value: unknown): Buffer {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(value)) throw new UnknownFormError();
  return encodeString(hexToBytes(value));
}

/** A contract's creation has none. */
function recipient(value: unknown): Buffer {
  return value === null || value === undefined ? encodeString(EMPTY) : bytes(value);
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnknownFormError();
  return value;
}

function object(value: unknown): TransactionJson {
  if (typeof value !== 'object' || value === null) throw new UnknownFormError();
  return value as TransactionJson;
}

function accessList(value: unknown): Buffer {
  return encodeList(
    list(value).map((entry) => {
      const { address, storageKeys } = object(entry);
      return encodeList([bytes(address), encodeList(list(storageKeys).map(bytes))]);
    }),
  );
}

function authorization(value: unknown): Buffer {
  const one = object(value);
  return encodeList([integer(one.chainId), bytes(one.address), integer(one.nonce), ...SIGNATURE(one)]);
}
