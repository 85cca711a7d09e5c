import type { Chain } from '@chainstead/chains';
import { type Block, type Receipt, toQuantity } from '@chainstead/core';
import { receiptsRoot } from '@chainstead/proof';
import { createReceiptParser, MalformedAnswerError, parseBlock } from '@chainstead/rpc';
import type { BlockLack, SourceBlock } from '../block-source.ts';
import { integer, type Json } from './forms.ts';
import { checkedHeader, headerJson } from './header-json.ts';
import { logJson, receiptJson } from './receipt-json.ts';
import { type ConvertedTransaction, transactionJson } from './transaction-json.ts';

/** Rows of a block, by the names of JSON-RPC. A transaction's row has its receipt's members too. */
export interface BlockRows {
  readonly header: Json;
  readonly transactions: readonly Json[];
  readonly logs: readonly Json[];
  /** As received, about. */
  readonly bytes: number;
}

export interface ConversionContext {
  readonly chain: Chain;
  /** Header fields that the source never has. */
  readonly absent: ReadonlySet<string>;
}

const DEPOSIT_TYPE = 0x7e;
/** Bor's state sync is no transaction of the block, and may be missing. */
const STATE_SYNC_CHAINS: readonly number[] = [137, 80_002, 80_001];
/** Arbitrum ignores tips. */
const OTHER_PRICES: readonly number[] = [42_161, 42_170, 421_614];

/** @throws MalformedAnswerError, InvalidPrimitiveError */
export function toSourceBlock(rows: BlockRows, { chain, absent }: ConversionContext): SourceBlock {
  const lacks: BlockLack[] = [];
  const { header, lack: headerField } = checkedHeader(headerJson(rows.header), chain, absent);
  if (headerField !== null) lacks.push({ part: 'header', field: headerField });
  const transactions = convertTransactions(rows, header);
  for (const [index, { lack }] of transactions.entries())
    if (lack !== null) {
      lacks.push({ part: 'transactions', field: `${lack} of transaction ${index}` });
      break;
    }
  const block = parseBlock({ ...header, transactions: transactions.map(({ json }) => json) });
  const { receipts, lack } = convertReceipts(rows, header, transactions, chain);
  if (lack !== null) lacks.push({ part: 'receipts', field: lack });
  const proven = provenDeposits(block, receipts, chain);
  if (proven === null) lacks.push({ part: 'receipts', field: 'depositNonce' });
  return { block, receipts: proven ?? receipts, lacks, isCanonical: false, bytes: rows.bytes };
}

/** @throws MalformedAnswerError */
function convertTransactions({ transactions }: BlockRows, { number, hash }: Json): ConvertedTransaction[] {
  return transactions.map((row, index) => {
    if (integer(row.transactionIndex, 'transactionIndex') !== index)
      throw new MalformedAnswerError(
        `Transaction ${index} of block ${Number(number)} has index ${String(row.transactionIndex)}`,
      );
    return transactionJson(row, { blockHash: hash, blockNumber: number, transactionIndex: toQuantity(index) });
  });
}

function convertReceipts(
  { transactions: rows, logs }: BlockRows,
  header: Json,
  transactions: readonly ConvertedTransaction[],
  chain: Chain,
): { readonly receipts: Receipt[]; readonly lack: string | null } {
  const { number, hash } = header;
  const { logsOf, isSurplus } = groupLogs(logs, transactions, header);
  if (isSurplus && !STATE_SYNC_CHAINS.includes(chain.id))
    throw new MalformedAnswerError(`A log of block ${Number(number)} is of no transaction of the block`);
  const hasEthereumPrices = !OTHER_PRICES.includes(chain.id);
  let lack: string | null = isSurplus ? 'state-sync transaction' : null;
  let gasBefore = 0n;
  const parse = createReceiptParser();
  const receipts = transactions.map(({ json: transaction, type }, index) => {
    const place = { blockHash: hash, blockNumber: number, transactionIndex: toQuantity(index) };
    const own = { row: rows[index] ?? {}, transaction, type, logs: logsOf[index] ?? [] };
    const converted = receiptJson({ ...own, gasBefore, hasEthereumPrices }, place, header);
    gasBefore = converted.gasAfter;
    if (converted.lack !== null) lack ??= `${converted.lack} of transaction ${index}`;
    return parse(converted.json);
  });
  return { receipts, lack };
}

/** @throws MalformedAnswerError */
function groupLogs(logs: readonly Json[], transactions: readonly ConvertedTransaction[], header: Json) {
  const logsOf: Json[][] = transactions.map(() => []);
  let isSurplus = false;
  for (const row of logs) {
    const index = integer(row.transactionIndex, 'transactionIndex');
    const transaction = transactions[index]?.json;
    const { transactionHash } = row;
    if (transaction === undefined) {
      isSurplus = true;
      continue;
    }
    if (typeof transactionHash === 'string' && transactionHash.toLowerCase() !== transaction.hash)
      throw new MalformedAnswerError(`A log names ${transactionHash} as transaction ${index}`);
    const place = { transactionHash: transaction.hash, transactionIndex: toQuantity(index) };
    logsOf[index]?.push(logJson(row, place, header));
  }
  return { logsOf, isSurplus };
}

/** OP Stack deposits: since Canyon the root has nonce and version. Null: no form has the root. */
function provenDeposits(block: Block, receipts: readonly Receipt[], chain: Chain): readonly Receipt[] | null {
  const deposits = receipts.filter(
    ({ type, raw }) => type === DEPOSIT_TYPE && raw.depositReceiptVersion === undefined,
  );
  const { header } = block;
  if (deposits.length === 0 || chain.receiptsRoot === 'none') return receipts;
  const context = { encoding: chain.receiptsRoot, blockNumber: header.number, blockHash: header.hash };
  if (receiptsRoot(receipts, context, 'given') === header.receiptsRoot) return receipts;
  const withNonces = receipts.map((receipt) => {
    const nonce = block.transactions?.[receipt.transactionIndex]?.nonce;
    if (receipt.type !== DEPOSIT_TYPE || nonce === undefined) return receipt;
    return { ...receipt, raw: { ...receipt.raw, depositNonce: nonce, depositReceiptVersion: '0x1' } };
  });
  return receiptsRoot(withNonces, context, 'given') === header.receiptsRoot ? withNonces : null;
}
