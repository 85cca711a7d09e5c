import { type Address, toQuantity } from '@chainstead/core';
import { createdContract } from '@chainstead/proof';
import { bytes, decimalText, type Form, type Json, malformed, objectOf, quantity } from './forms.ts';

const RECEIPT_FORMS: Readonly<Record<string, Form>> = {
  contractAddress: bytes,
  status: quantity,
  root: bytes,
  gasUsed: quantity,
  cumulativeGasUsed: quantity,
  effectiveGasPrice: quantity,
  logsBloom: bytes,
  blobGasUsed: quantity,
  blobGasPrice: quantity,
  depositNonce: quantity,
  depositReceiptVersion: quantity,
  gasUsedForL1: quantity,
  l1Fee: quantity,
  l1FeeScalar: decimalText,
  l1GasPrice: quantity,
  l1GasUsed: quantity,
  l1BlobBaseFee: quantity,
  l1BlobBaseFeeScalar: quantity,
  l1BaseFeeScalar: quantity,
};

const toReceipt = objectOf(RECEIPT_FORMS);
const BLOB_TYPE = 3;
const ETHEREUM_TYPE_MAX = 4;
const ROOT_LENGTH = 66;

export interface ReceiptRows {
  /** Transaction and receipt, as the source sends them. */
  readonly row: Json;
  readonly transaction: Json;
  readonly type: number;
  readonly logs: readonly Json[];
  readonly gasBefore: bigint;
  /** The price paid follows from the transaction and the base fee. */
  readonly hasEthereumPrices: boolean;
}

export interface ConvertedReceipt {
  readonly json: Json;
  readonly gasAfter: bigint;
  /** Member without which the receipt can't be proven; null: none. */
  readonly lack: string | null;
}

/** In the JSON form of a node. @throws MalformedAnswerError */
export function receiptJson(rows: ReceiptRows, place: Json, header: Json): ConvertedReceipt {
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
  const { from, to, hash } = transaction;
  const json = {
    ...place,
    type: transaction.type,
    from,
    to,
    contractAddress: given.contractAddress ?? created(transaction, type),
    ...given,
    transactionHash: hash,
    logs: rows.logs,
  };
  return { json, gasAfter, lack: receiptLack(given, price) };
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

function receiptLack(given: Json, price: string | null): string | null {
  if (given.cumulativeGasUsed === undefined) return 'cumulativeGasUsed';
  if (given.status === undefined && given.root === undefined) return 'root';
  // No root commits to the price paid: it must follow from the transaction.
  return price === null || given.effectiveGasPrice === price ? null : 'effectiveGasPrice';
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

function created({ from, to, nonce }: Json, type: number): Address | null {
  if (to !== null || type > ETHEREUM_TYPE_MAX || typeof from !== 'string' || typeof nonce !== 'string')
    return null;
  return createdContract(from as Address, BigInt(nonce));
}
