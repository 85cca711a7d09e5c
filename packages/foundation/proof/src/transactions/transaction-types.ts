import { eachOf, hexOf, quantityOf, type RlpItem, readRlpList } from '../rlp/read-rlp.ts';
import { listText } from '../rlp/rlp-text.ts';
import {
  accessList,
  bytes,
  eachText,
  type FieldText,
  integer,
  nothing,
  object,
  recipient,
  type TransactionJson,
} from './transaction-fields.ts';

interface Kind {
  /** @throws UnknownFormError */
  readonly write: (value: unknown, transaction: TransactionJson) => FieldText;
  /** Null: another form. */
  readonly read: (item: RlpItem) => unknown;
}

type Members = readonly (Kind & { readonly name: string })[];

export interface TransactionType {
  readonly fields: Members;
  /** Fields and signature, if the type has one. */
  readonly members: Members;
  readonly namesSender?: true;
  /** Nodes show all fields. Otherwise only a right hash is trusted: a chain may append fields. */
  readonly isSettled?: true;
}

const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
const CREATION = Symbol('creation');

const NUMBER: Kind = { write: integer, read: quantityOf };
const BYTES: Kind = { write: bytes, read: (item) => hexOf(item) };
const ADDRESS: Kind = { write: bytes, read: (item) => hexOf(item, ADDRESS_BYTES) };
const RECIPIENT: Kind = {
  write: recipient,
  read: (item) => (item.payload.length === 0 && !item.isList ? CREATION : hexOf(item, ADDRESS_BYTES)),
};

/** Other members are numbers. */
const KINDS: Readonly<Record<string, Kind>> = {
  to: RECIPIENT,
  retryTo: RECIPIENT,
  feeCurrency: RECIPIENT,
  address: ADDRESS,
  from: ADDRESS,
  beneficiary: ADDRESS,
  refundTo: ADDRESS,
  requestId: BYTES,
  ticketId: BYTES,
  retryData: BYTES,
  sourceHash: BYTES,
  input: { write: (value, { data }) => bytes(value ?? data), read: BYTES.read },
  yParity: { write: (value, { v }) => integer(value ?? v), read: quantityOf },
  mint: {
    write: (value) => (value === undefined || value === null ? nothing() : integer(value)),
    read: quantityOf,
  },
  isSystemTx: { write: (value) => integer(value === true ? '0x1' : '0x0'), read: quantityOf },
  blobVersionedHashes: {
    write: (values) => eachText(values, bytes),
    read: (list) => eachOf(list, (item) => hexOf(item, HASH_BYTES)),
  },
  accessList: {
    write: accessList,
    read: (list) =>
      eachOf(list, (entry) => {
        const [address, keys] = (entry.isList ? readRlpList(entry.encoded) : null) ?? [];
        const json = {
          address: hexOf(address, ADDRESS_BYTES),
          storageKeys: eachOf(keys, (item) => hexOf(item, HASH_BYTES)),
        };
        return json.address === null || json.storageKeys === null ? null : json;
      }),
  },
  authorizationList: {
    write: (values) => eachText(values, (entry) => listText(writeMembers(AUTHORIZATION, object(entry)))),
    read: (list) => eachOf(list, (entry) => readMembers(AUTHORIZATION, entry.encoded)),
  },
};

const CALL = 'gas to value input';
const FEE_MARKET = `chainId nonce maxPriorityFeePerGas maxFeePerGas ${CALL} accessList`;
const SIGNATURE = 'yParity r s';
const AUTHORIZATION = membersOf(`chainId address nonce ${SIGNATURE}`);

/** Members in the order of their encoding (EIP-2718). */
export const TRANSACTION_TYPES: ReadonlyMap<number, TransactionType> = new Map([
  [0, { ...signed(`nonce gasPrice ${CALL}`, 'v r s'), isSettled: true }],
  // EIP-2930
  [1, { ...signed(`chainId nonce gasPrice ${CALL} accessList`), isSettled: true }],
  // EIP-1559
  [2, { ...signed(FEE_MARKET), isSettled: true }],
  // EIP-4844
  [3, { ...signed(`${FEE_MARKET} maxFeePerBlobGas blobVersionedHashes`), isSettled: true }],
  // EIP-7702
  [4, { ...signed(`${FEE_MARKET} authorizationList`), isSettled: true }],
  // Arbitrum
  [0x64, unsigned('chainId requestId from to value')],
  [0x65, unsigned(`chainId from nonce maxFeePerGas ${CALL}`)],
  [0x66, unsigned(`chainId requestId from maxFeePerGas ${CALL}`)],
  [0x68, unsigned(`chainId nonce from maxFeePerGas ${CALL} ticketId refundTo maxRefund submissionFeeRefund`)],
  [
    0x69,
    unsigned(
      'chainId requestId from l1BaseFee depositValue maxFeePerGas gas retryTo retryValue beneficiary maxSubmissionFee refundTo retryData',
    ),
  ],
  [0x6a, { ...signed('chainId input', ''), isSettled: true }],
  // CIP-64: fees in a token
  [0x7b, signed(`${FEE_MARKET} feeCurrency`)],
  // Deposits of the OP Stack (specs.optimism.io)
  [0x7e, { ...unsigned('sourceHash from to mint value gas isSystemTx input'), isSettled: true }],
]);

function signed(fields: string, signature = SIGNATURE): TransactionType {
  return { fields: membersOf(fields), members: membersOf(`${fields} ${signature}`) };
}

function unsigned(fields: string): TransactionType {
  return { ...signed(fields, ''), namesSender: true };
}

function membersOf(names: string): Members {
  return names
    .trim()
    .split(' ')
    .map((name) => ({ name, ...(KINDS[name] ?? NUMBER) }));
}

/** @throws UnknownFormError */
export function writeMembers(members: Members, json: TransactionJson): FieldText {
  let text = '';
  for (const { name, write } of members) text += write(json[name], json);
  return text;
}

/** Null: another form. */
export function readMembers(members: Members, encoded: Buffer): Record<string, unknown> | null {
  const items = readRlpList(encoded);
  if (items?.length !== members.length) return null;
  const json: Record<string, unknown> = {};
  for (const [index, { name, read }] of members.entries()) {
    const item = items[index];
    const value = item === undefined ? null : read(item);
    if (value === null) return null;
    json[name] = value === CREATION ? null : value;
  }
  return json;
}
