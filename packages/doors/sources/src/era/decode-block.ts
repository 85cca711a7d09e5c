import type { Chain } from '@chainstead/chains';
import { type Block, keccak256Hex, toQuantity } from '@chainstead/core';
import { orderedTrieRoot, type RecoverSigners, recoverSenders, type TransactionJson } from '@chainstead/proof';
import { parseBlock } from '@chainstead/rpc';
import type { BlockLack, SourceBlock } from '../block-source.ts';
import { decodeBody, decodeEraTransaction, type EraBody } from './decode-body.ts';
import type { EraBlockHeader } from './decode-header.ts';
import { decodeReceipts, toReceipts } from './decode-receipts.ts';
import { derivedMembers, knowsBlobPrice, pricePaid } from './derived-members.ts';
import { damage } from './era-damage.ts';
import type { EraReceipts } from './era-file.ts';

export interface EraBlockParts {
  readonly header: EraBlockHeader;
  readonly headerBytes: number;
  readonly body: Buffer;
  readonly receipts: EraReceipts | null;
  /** Null: not proven. */
  readonly totalDifficulty: bigint | null;
}

export interface DecodeBlockOptions {
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
