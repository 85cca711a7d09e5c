import {
  accessList,
  authorization,
  bytes,
  eachText,
  type FieldText,
  integer,
  nothing,
  recipient,
  type TransactionJson,
  typedSignature,
} from './transaction-fields.ts';

type Encoder = (transaction: TransactionJson) => FieldText;

export interface TransactionType {
  /** All, if unsigned. @throws UnknownFormError */
  readonly fields: Encoder;
  /** Null: unsigned. @throws UnknownFormError */
  readonly signature: Encoder | null;
  readonly namesSender?: true;
  /** Nodes show all fields. Otherwise only a right hash is trusted: a chain may append fields. */
  readonly isSettled?: true;
}

const CALL: Encoder = (one) => integer(one.gas) + recipient(one.to) + integer(one.value) + input(one);
const FEE_MARKET: Encoder = (one) =>
  integer(one.chainId) +
  integer(one.nonce) +
  integer(one.maxPriorityFeePerGas) +
  integer(one.maxFeePerGas) +
  CALL(one) +
  accessList(one.accessList);

const ETHEREUM_TYPES: readonly (readonly [number, TransactionType])[] = [
  [
    0,
    {
      fields: (one) => integer(one.nonce) + integer(one.gasPrice) + CALL(one),
      signature: (one) => integer(one.v) + integer(one.r) + integer(one.s),
      isSettled: true,
    },
  ],
  // EIP-2930
  [
    1,
    {
      fields: (one) =>
        integer(one.chainId) +
        integer(one.nonce) +
        integer(one.gasPrice) +
        CALL(one) +
        accessList(one.accessList),
      signature: typedSignature,
      isSettled: true,
    },
  ],
  // EIP-1559
  [2, { fields: FEE_MARKET, signature: typedSignature, isSettled: true }],
  // EIP-4844
  [
    3,
    {
      fields: (one) => FEE_MARKET(one) + integer(one.maxFeePerBlobGas) + eachText(one.blobVersionedHashes, bytes),
      signature: typedSignature,
      isSettled: true,
    },
  ],
  // EIP-7702
  [
    4,
    {
      fields: (one) => FEE_MARKET(one) + eachText(one.authorizationList, authorization),
      signature: typedSignature,
      isSettled: true,
    },
  ],
];

const ARBITRUM_TYPES: readonly (readonly [number, TransactionType])[] = [
  [
    0x64,
    unsigned(
      (one) =>
        integer(one.chainId) + bytes(one.requestId) + bytes(one.from) + recipient(one.to) + integer(one.value),
    ),
  ],
  [
    0x65,
    unsigned(
      (one) =>
        integer(one.chainId) + bytes(one.from) + integer(one.nonce) + integer(one.maxFeePerGas) + CALL(one),
    ),
  ],
  [
    0x66,
    unsigned(
      (one) =>
        integer(one.chainId) + bytes(one.requestId) + bytes(one.from) + integer(one.maxFeePerGas) + CALL(one),
    ),
  ],
  [
    0x68,
    unsigned(
      (one) =>
        integer(one.chainId) +
        integer(one.nonce) +
        bytes(one.from) +
        integer(one.maxFeePerGas) +
        CALL(one) +
        bytes(one.ticketId) +
        bytes(one.refundTo) +
        integer(one.maxRefund) +
        integer(one.submissionFeeRefund),
    ),
  ],
  [
    0x69,
    unsigned(
      (one) =>
        integer(one.chainId) +
        bytes(one.requestId) +
        bytes(one.from) +
        integer(one.l1BaseFee) +
        integer(one.depositValue) +
        integer(one.maxFeePerGas) +
        integer(one.gas) +
        recipient(one.retryTo) +
        integer(one.retryValue) +
        bytes(one.beneficiary) +
        integer(one.maxSubmissionFee) +
        bytes(one.refundTo) +
        bytes(one.retryData),
    ),
  ],
  [0x6a, { fields: (one) => integer(one.chainId) + input(one), signature: null, isSettled: true }],
];

/** OP Stack (specs.optimism.io, deposits). */
const DEPOSIT: TransactionType = {
  fields: (one) =>
    bytes(one.sourceHash) +
    bytes(one.from) +
    recipient(one.to) +
    (one.mint === undefined || one.mint === null ? nothing() : integer(one.mint)) +
    integer(one.value) +
    integer(one.gas) +
    integer(one.isSystemTx === true ? '0x1' : '0x0') +
    input(one),
  signature: null,
  namesSender: true,
  isSettled: true,
};

/** CIP-64: fees in a token. */
const CELO_FEE_CURRENCY: TransactionType = {
  fields: (one) => FEE_MARKET(one) + recipient(one.feeCurrency),
  signature: typedSignature,
};

export const TRANSACTION_TYPES: ReadonlyMap<number, TransactionType> = new Map([
  ...ETHEREUM_TYPES,
  ...ARBITRUM_TYPES,
  [0x7b, CELO_FEE_CURRENCY],
  [0x7e, DEPOSIT],
]);

function unsigned(fields: Encoder): TransactionType {
  return { fields, signature: null, namesSender: true };
}

function input(one: TransactionJson): FieldText {
  return bytes(one.input ?? one.data);
}
