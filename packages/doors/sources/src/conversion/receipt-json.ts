import { type Address, toQuantity } from '@chainstead/core';
import { checkTransactionHash, createdContract, TRANSACTION_TYPES } from '@chainstead/proof';
import {
  bytes,
  decimalText,
  type Forms,
  formsOf,
  type Json,
  listOf,
  malformed,
  objectOf,
  quantity,
  recipient,
} from './forms.ts';

export const RECEIPT_FORMS: Forms = {
  ...formsOf(quantity, 'status gasUsed cumulativeGasUsed effectiveGasPrice blobGasUsed blobGasPrice'),
  ...formsOf(quantity, 'depositNonce depositReceiptVersion gasUsedForL1 l1Fee l1GasPrice l1GasUsed'),
  ...formsOf(quantity, 'l1BlobBaseFee l1BlobBaseFeeScalar l1BaseFeeScalar'),
  ...formsOf(bytes, 'contractAddress root logsBloom'),
  l1FeeScalar: decimalText,
};

const toReceipt = objectOf(RECEIPT_FORMS);
const BLOB_TYPE = 3;
const ETHEREUM_TYPE_MAX = 4;
const ROOT_LENGTH = 66;

interface ReceiptRows {
  /** Transaction and receipt, as the source sends them. */
  readonly row: Json;
  readonly transaction: Json;
  readonly type: number;
  readonly logs: readonly Json[];
  readonly gasBefore: bigint;
  /** The price paid follows from the transaction and the base fee. */
  readonly hasEthereumPrices: boolean;
}

/** In the JSON form of a node. @throws MalformedAnswerError */
export function receiptJson(
  rows: ReceiptRows,
  place: Json,
  header: Json,
): Omit<ConvertedTransaction, 'type'> & { readonly gasAfter: bigint } {
  const { row, transaction, type } = rows;
  const given = toReceipt(row, 'receipt') as Record<string, unknown>;
  if (type !== BLOB_TYPE) {
    delete given.blobGasUsed;
    delete given.blobGasPrice;
  }
  if (given.root !== undefined && String(given.root).length !== ROOT_LENGTH) delete given.root;
  const { cumulativeGasUsed } = given;
  const gasAfter = typeof cumulativeGasUsed === 'string' ? BigInt(cumulativeGasUsed) : rows.gasBefore;
  // The difference is what the root commits to.
  if (given.gasUsed === undefined && gasAfter >= rows.gasBefore)
    given.gasUsed = toQuantity(gasAfter - rows.gasBefore);
  const price = rows.hasEthereumPrices ? priceOf(transaction, type, header) : null;
  given.effectiveGasPrice ??= price ?? transaction.gasPrice;
  const { from, to, nonce, hash } = transaction;
  const json = {
    ...place,
    type: transaction.type,
    from,
    to,
    contractAddress:
      given.contractAddress ??
      (to === null && type <= ETHEREUM_TYPE_MAX && typeof from === 'string' && typeof nonce === 'string'
        ? createdContract(from as Address, BigInt(nonce))
        : null),
    ...given,
    transactionHash: hash,
    logs: rows.logs,
  };
  if (given.cumulativeGasUsed === undefined) return { json, gasAfter, lack: 'cumulativeGasUsed' };
  if (given.status === undefined && given.root === undefined) return { json, gasAfter, lack: 'root' };
  // No root commits to the price paid: it must follow from the transaction.
  const isPriced = price === null || given.effectiveGasPrice === price;
  return { json, gasAfter, lack: isPriced ? null : 'effectiveGasPrice' };
}

/** In the JSON form of a node. Its parser checks addresses, topics and data. @throws MalformedAnswerError */
export function logJson(row: Json, place: Json, header: Json): Json {
  const { topics, blockHash } = row;
  const { number, hash, timestamp } = header;
  if (blockHash !== undefined && bytes(blockHash, 'blockHash') !== hash)
    throw malformed('blockHash of a log', String(hash), blockHash);
  return {
    address: row.address,
    topics: Array.isArray(topics) ? topics : splitTopics(row),
    data: row.data ?? '0x',
    logIndex: quantity(row.logIndex, 'logIndex'),
    removed: false,
    blockHash: hash,
    blockNumber: number,
    ...place,
    blockTimestamp: timestamp,
  };
}

/** HyperSync sends four members. @throws MalformedAnswerError for a topic after a missing topic */
function splitTopics({ topic0, topic1, topic2, topic3 }: Json): unknown[] {
  const all = [topic0, topic1, topic2, topic3].map((topic) => topic ?? null);
  const count = all.findLastIndex((topic) => topic !== null) + 1;
  const topics = all.slice(0, count);
  if (topics.includes(null)) throw malformed('topics', 'a list without holes', null);
  return topics;
}

/** EIP-1559; null: another rule, or a field is missing. */
function priceOf({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: Json, type: number, header: Json) {
  if (type > ETHEREUM_TYPE_MAX) return null;
  if (type < 2) return typeof gasPrice === 'string' ? gasPrice : null;
  const { baseFeePerGas } = header;
  if ([baseFeePerGas, maxFeePerGas, maxPriorityFeePerGas].some((value) => value === undefined)) return null;
  const limit = BigInt(String(maxFeePerGas));
  const wanted = BigInt(String(baseFeePerGas)) + BigInt(String(maxPriorityFeePerGas));
  return toQuantity(limit < wanted ? limit : wanted);
}

/** `r` and `s` too are quantities at nodes: sources leave out zeros in front, or pad. */
export const TRANSACTION_FORMS: Forms = {
  ...formsOf(quantity, 'type chainId nonce gas gasPrice maxFeePerGas maxPriorityFeePerGas maxFeePerBlobGas'),
  ...formsOf(quantity, 'value mint yParity v r s'),
  ...formsOf(bytes, 'hash from input sourceHash feeCurrency'),
  to: recipient,
  blobVersionedHashes: listOf(bytes),
  accessList: listOf(objectOf({ address: bytes, storageKeys: listOf(bytes) })),
  authorizationList: listOf(objectOf({ ...formsOf(quantity, 'chainId nonce yParity v r s'), address: bytes })),
};

const toTransaction = objectOf(TRANSACTION_FORMS);

/** Sources send empty lists to types that lack them. */
const APPENDED =
  'accessList yParity maxFeePerGas maxPriorityFeePerGas maxFeePerBlobGas blobVersionedHashes authorizationList feeCurrency'.split(
    ' ',
  );

const OPTIONAL = ['to', 'mint', 'isSystemTx'];

/** By type, members that its encoding needs and those that it lacks. Arbitrum's have more than any source shows. */
const MEMBERS = new Map(
  [...TRANSACTION_TYPES].map(([type, { members }]) => {
    const names = members.map(({ name }) => name);
    const required = names
      .filter((name) => !OPTIONAL.includes(name))
      .map((name) => (name === 'yParity' ? 'v' : name));
    const surplus = APPENDED.filter((name) => !names.includes(name));
    return [type, { required: ['hash', 'from', ...required], surplus, hasParity: names.includes('yParity') }];
  }),
);

const ARBITRUM_UNSIGNED = new Set([0x65, 0x6a]);
const DEPOSIT_TYPE = 0x7e;

export interface ConvertedTransaction {
  readonly json: Json;
  readonly type: number;
  /** Member without which hash or root can't be recomputed; null: none. */
  readonly lack: string | null;
}

/** In the JSON form of a node. @throws MalformedAnswerError */
export function transactionJson(row: Json, place: Json): ConvertedTransaction {
  const given = toTransaction(row, 'transaction') as Record<string, unknown>;
  const { maxFeePerGas, accessList, sourceHash } = given;
  // Old archives have no type.
  given.type ??=
    sourceHash !== undefined
      ? DEPOSIT_TYPE
      : maxFeePerGas !== undefined
        ? 2
        : Number(Array.isArray(accessList) && accessList.length > 0);
  const type = Number(given.type);
  given.type = `0x${type.toString(16)}`;
  const members = MEMBERS.get(type);
  // Arbitrum's unsigned types have a fee limit.
  for (const name of members?.surplus ?? [])
    if (!(name === 'maxFeePerGas' && type >= 0x64 && type <= 0x6a)) delete given[name];
  if (given.yParity === undefined && members?.hasParity === true && (given.v === '0x0' || given.v === '0x1'))
    given.yParity = given.v;
  if (given.v === undefined && given.yParity !== undefined) given.v = given.yParity;
  if (given.to === undefined) given.to = null;
  return { type, ...withAccessList({ ...given, ...place }, type) };
}

/** An access list that the source lacks is empty in most transactions: the hash proves it. */
function withAccessList(json: Json, type: number): Omit<ConvertedTransaction, 'type'> {
  const members = MEMBERS.get(type);
  if (members === undefined) return { json, lack: `type ${type}` };
  const missing = members.required.find((name) => json[name] === undefined);
  if (missing === undefined) {
    const isGuess = type === DEPOSIT_TYPE || ARBITRUM_UNSIGNED.has(type);
    // A deposit before Regolith may have `isSystemTx`, which no source has.
    return { json, lack: isGuess && !hasItsHash(json) ? 'isSystemTx' : null };
  }
  if (missing !== 'accessList') return { json, lack: missing };
  const guess = { ...json, accessList: [] };
  return hasItsHash(guess) ? { json: guess, lack: null } : { json, lack: missing };
}

function hasItsHash(json: Json): boolean {
  return checkTransactionHash(json).result === 'verified';
}
