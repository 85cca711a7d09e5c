import type { Chain } from '@chainstead/chains';
import {
  type Address,
  type Block,
  type BlockHeader,
  type Hash,
  keccak256Hex,
  type Log,
  parseBigQuantity,
  type Receipt,
  toQuantity,
} from '@chainstead/core';
import {
  createdContract,
  type DecodedReceipt,
  decodeReceipt,
  decodeSlimReceipt,
  eachOf,
  logsBloom,
  orderedTrieRoot,
  type RecoverSigners,
  readRlpItem,
  recoverSenders,
  type TransactionJson,
} from '@chainstead/proof';
import { parseBlock } from '@chainstead/rpc';
import type { BlockLack, SourceBlock } from '../block-source.ts';
import { BLOB_GAS, blobGasPrice } from './blob-price.ts';
import { decodeBody, decodeEraTransaction, type EraBlockHeader, type EraBody } from './decode-body.ts';
import { damage } from './era-damage.ts';
import type { EraReceipts } from './era-file.ts';

interface EraBlockParts {
  readonly header: EraBlockHeader;
  readonly headerBytes: number;
  readonly body: Buffer;
  readonly receipts: EraReceipts | null;
  /** Null: not proven. */
  readonly totalDifficulty: bigint | null;
}

interface DecodeBlockOptions {
  readonly chain: Pick<Chain, 'id'>;
  readonly transactions: boolean;
  readonly recoverSigners: RecoverSigners | undefined;
}

/** @throws EraDamage, InvalidPrimitiveError, MalformedAnswerError */
export async function decodeBlock(
  parts: EraBlockParts,
  options: DecodeBlockOptions,
): Promise<Omit<SourceBlock, 'isCanonical' | 'bytes'>> {
  const body = decodeBody(parts.body, parts.headerBytes);
  const { header, unknownFields } = parts.header;
  const lacks: BlockLack[] =
    unknownFields === 0 ? [] : [{ part: 'header', field: `${unknownFields} new fields` }];
  // The engine checks the root where it gets transactions.
  if (!options.transactions && orderedTrieRoot(body.transactions) !== header.raw.transactionsRoot)
    damage(`the transactions of block ${header.number} have another root`);
  if (body.unclesHash !== header.raw.sha3Uncles) damage(`the uncles of block ${header.number} have another hash`);
  const hashes = body.transactions.map(keccak256Hex);
  const decoded = options.transactions ? decodeTransactions(body, lacks) : null;
  const senders = decoded === null ? [] : await recoverSenders(decoded, options.recoverSigners);
  for (const [index, sender] of senders.entries())
    if (sender === null) lacks.push({ part: 'transactions', field: `sender of transaction ${index}` });
  if (decoded?.every((transaction) => knowsBlobPrice(transaction, header, options.chain)) === false)
    lacks.push({ part: 'receipts', field: 'blobGasPrice' });
  const isWhole = decoded !== null && senders.every((sender) => sender !== null);

  const raw = {
    ...header.raw,
    ...body.members,
    ...(parts.totalDifficulty === null ? {} : { totalDifficulty: toQuantity(parts.totalDifficulty) }),
  };
  const transactions = decoded?.map((transaction, index) => ({
    ...transaction,
    blockHash: header.hash,
    blockNumber: toQuantity(header.number),
    from: senders[index],
    gasPrice: toQuantity(pricePaid(transaction, header)),
    hash: hashes[index],
    transactionIndex: toQuantity(index),
  }));
  const block: Block = parseBlock({ ...raw, transactions: isWhole ? transactions : hashes });
  if (parts.receipts === null)
    return { block, receipts: [], lacks: [...lacks, { part: 'receipts', field: 'all' }] };
  const derived = decoded?.map((transaction, index) =>
    derivedMembers(transaction, senders[index] ?? null, header, options.chain),
  );
  return { block, receipts: toReceipts(decodeReceipts(parts.receipts), header, hashes, derived ?? null), lacks };
}

/** Null: a type that only nodes describe. */
function decodeTransactions(body: EraBody, lacks: BlockLack[]): readonly TransactionJson[] | null {
  const decoded: TransactionJson[] = [];
  for (const [index, encoded] of body.transactions.entries()) {
    const transaction = decodeEraTransaction(encoded, index);
    if (transaction !== null) decoded.push(transaction);
    else lacks.push({ part: 'transactions', field: `type of transaction ${index}` });
  }
  return decoded.length === body.transactions.length ? decoded : null;
}

/** @throws EraDamage */
export function decodeReceipts({ rlp, isSlim }: EraReceipts): readonly DecodedReceipt[] {
  const receipts = eachOf(readRlpItem(rlp) ?? undefined, ({ isList, encoded, payload }) =>
    isSlim ? decodeSlimReceipt(encoded) : decodeReceipt(isList ? encoded : payload),
  );
  return receipts ?? damage('receipts have another form');
}

/** Members that follow from the transaction: sender, recipient, price. */
type DerivedMembers = Readonly<Record<string, unknown>>;

/** As `parseReceipt` returns them; `raw` lacks `logs`. @throws EraDamage */
function toReceipts(
  decoded: readonly DecodedReceipt[],
  header: BlockHeader,
  hashes: readonly Hash[],
  derived: readonly DerivedMembers[] | null,
): readonly Receipt[] {
  if (decoded.length !== hashes.length)
    damage(`block ${header.number} has ${hashes.length} transactions and ${decoded.length} receipts`);
  const place = { blockHash: header.hash, blockNumber: toQuantity(header.number) };
  let logIndex = 0;
  let gasBefore = 0n;
  return decoded.map((receipt, transactionIndex) => {
    const { cumulativeGasUsed, outcome, type } = receipt;
    const transactionHash = hashes[transactionIndex] ?? damage('a receipt has no transaction');
    if (cumulativeGasUsed < gasBefore) damage(`the gas of receipt ${transactionIndex} falls`);
    const raw = {
      ...place,
      ...{ transactionHash, transactionIndex: toQuantity(transactionIndex), type: toQuantity(type), ...outcome },
      cumulativeGasUsed: toQuantity(cumulativeGasUsed),
      gasUsed: toQuantity(cumulativeGasUsed - gasBefore),
      logsBloom: receipt.logsBloom ?? `0x${logsBloom(receipt.logs).toString('hex')}`,
      ...derived?.[transactionIndex],
    };
    const logs = placedLogs(receipt, header, { transactionHash, transactionIndex, logIndex });
    gasBefore = cumulativeGasUsed;
    logIndex += logs.length;
    return { transactionHash, transactionIndex, type, cumulativeGasUsed, logs, raw };
  });
}

export function placedLogs(
  { logs }: DecodedReceipt,
  { number, hash, timestamp }: BlockHeader,
  at: Pick<Log, 'transactionHash' | 'transactionIndex' | 'logIndex'>,
): Log[] {
  const { transactionHash, transactionIndex, logIndex } = at;
  return logs.map(({ address, topics, data }, index) => ({
    address,
    topics,
    data,
    blockNumber: number,
    blockHash: hash,
    transactionHash,
    transactionIndex,
    logIndex: logIndex + index,
    blockTimestamp: timestamp,
  }));
}

/** Wei. Nodes show it as `gasPrice` and `effectiveGasPrice`. */
function pricePaid(transaction: TransactionJson, header: BlockHeader): bigint {
  if (transaction.maxFeePerGas === undefined) return parseBigQuantity(transaction.gasPrice);
  const [limit, tip] = [transaction.maxFeePerGas, transaction.maxPriorityFeePerGas].map(parseBigQuantity);
  const price = parseBigQuantity(header.raw.baseFeePerGas ?? '0x0') + (tip ?? 0n);
  return limit !== undefined && limit < price ? limit : price;
}

/** Receipt members that a node derives from transaction and header. */
function derivedMembers(
  transaction: TransactionJson,
  sender: Address | null,
  header: BlockHeader,
  chain: Pick<Chain, 'id'>,
): DerivedMembers {
  const { to, nonce } = transaction;
  const isCreation = to === null && sender !== null;
  return {
    from: sender,
    to,
    contractAddress: isCreation ? createdContract(sender, parseBigQuantity(nonce)) : null,
    effectiveGasPrice: toQuantity(pricePaid(transaction, header)),
    ...blobMembers(transaction, header, chain),
  };
}

/** False: the price of blobs depends on a fork that this version does not know. */
function knowsBlobPrice(transaction: TransactionJson, header: BlockHeader, chain: Pick<Chain, 'id'>): boolean {
  return !Array.isArray(transaction.blobVersionedHashes) || priceOf(header, chain) !== null;
}

function blobMembers(
  { blobVersionedHashes }: TransactionJson,
  header: BlockHeader,
  chain: Pick<Chain, 'id'>,
): DerivedMembers {
  if (!Array.isArray(blobVersionedHashes)) return {};
  const price = priceOf(header, chain);
  return {
    blobGasUsed: toQuantity(BLOB_GAS * BigInt(blobVersionedHashes.length)),
    ...(price === null ? {} : { blobGasPrice: toQuantity(price) }),
  };
}

function priceOf({ raw, timestamp }: BlockHeader, { id }: Pick<Chain, 'id'>): bigint | null {
  return raw.excessBlobGas === undefined
    ? null
    : blobGasPrice(id, timestamp, parseBigQuantity(raw.excessBlobGas));
}
