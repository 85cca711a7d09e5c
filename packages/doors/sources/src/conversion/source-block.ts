import type { Chain } from '@chainstead/chains';
import { type Block, type Log, parseHash, type Receipt, toQuantity } from '@chainstead/core';
import {
  checkHeaderHash,
  EMPTY_TRIE_ROOT,
  HEADER_FIELDS,
  HEADER_INTEGERS,
  REQUIRED_FIELDS,
  receiptsRoot,
} from '@chainstead/proof';
import {
  createReceiptParser,
  type LogsQuery,
  MalformedAnswerError,
  parseBlock,
  parseLogs,
} from '@chainstead/rpc';
import { checkLogs, compareLogs, matchesLog, toExpectation } from '@chainstead/rpc/check-logs';
import type { BlockLack, SourceBlock } from '../block-source.ts';
import {
  bytes,
  type Forms,
  formsOf,
  headerNonce,
  integer,
  type Json,
  listOf,
  objectOf,
  quantity,
} from './forms.ts';
import { type ConvertedTransaction, logJson, receiptJson, transactionJson } from './receipt-json.ts';

/** Rows of a block, by the names of JSON-RPC. A transaction's row has its receipt's members too. */
export interface BlockRows {
  readonly header: Json;
  readonly transactions: readonly Json[];
  readonly logs: readonly Json[];
  /** As received, about. */
  readonly bytes: number;
}

const DEPOSIT_TYPE = 0x7e;
/** Bor's state sync is no transaction of the block, and may be missing. */
const STATE_SYNC_CHAINS: readonly number[] = [137, 80_002, 80_001];
/** Arbitrum ignores tips. */
const OTHER_PRICES: readonly number[] = [42_161, 42_170, 421_614];

/** @param absent header fields that the source never has @throws MalformedAnswerError, InvalidPrimitiveError */
export function toSourceBlock(rows: BlockRows, chain: Chain, absent: ReadonlySet<string>): SourceBlock {
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

export const HEADER_FORMS: Forms = {
  ...Object.fromEntries(HEADER_FIELDS.map((name) => [name, HEADER_INTEGERS.has(name) ? quantity : bytes])),
  ...formsOf(quantity, 'totalDifficulty size l1BlockNumber sendCount'),
  ...formsOf(bytes, 'hash sendRoot'),
  nonce: headerNonce,
  uncles: listOf(bytes),
  withdrawals: listOf(objectOf({ ...formsOf(quantity, 'index validatorIndex amount'), address: bytes })),
};

const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

const toHeader = objectOf(HEADER_FORMS);

/** Every block has them, and no source lacks them. */
const ROOTS = ['stateRoot', 'transactionsRoot', 'receiptsRoot'] as const;

/** In the JSON form of a node, without transactions. @throws MalformedAnswerError */
export function headerJson(row: Json): Json {
  const hidden = ROOTS.find((name) => row[name] === null);
  if (hidden !== undefined) throw new MalformedAnswerError(`Block ${String(row.number)} has null as ${hidden}`);
  const header = { ...(toHeader(row, 'header') as Json) };
  if (header.uncles === undefined && header.sha3Uncles === NO_UNCLES) Object.assign(header, { uncles: [] });
  if (header.withdrawals === undefined && header.withdrawalsRoot === EMPTY_TRIE_ROOT)
    Object.assign(header, { withdrawals: [] });
  return header;
}

/** Forks appended these fields; no source has all of them. */
const LATER_FIELDS = ['requestsHash', 'blockAccessListHash'] as const;
/** SHA-256 of nothing (EIP-7685): most blocks have no requests, on other chains than Ethereum none has. */
const NO_REQUESTS = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

interface CheckedHeader {
  /** With fields that its hash proves. */
  readonly header: Json;
  /** The field without which hash or withdrawals can't be checked; null: none. */
  readonly lack: string | null;
}

/** @param absent fields that the source never has. @throws MalformedAnswerError */
export function checkedHeader(header: Json, chain: Chain, absent: ReadonlySet<string>): CheckedHeader {
  const lacking = (lack: string | null) => ({ header, lack });
  if (header.withdrawals === undefined && header.withdrawalsRoot !== undefined) return lacking('withdrawals');
  if (!chain.headerHash) return lacking(null);
  const missing = REQUIRED_FIELDS.find((name) => header[name] === undefined);
  if (missing !== undefined) return lacking(missing);
  const hasCancun = header.parentBeaconBlockRoot !== undefined;
  const later = LATER_FIELDS.find((name) => header[name] === undefined);
  if (!hasCancun || later === undefined || !absent.has(later) || !contradicts(header)) return lacking(null);
  // Without these fields, a fork looks like a lie.
  const guess = { ...header, requestsHash: NO_REQUESTS };
  return later === 'requestsHash' && !contradicts(guess) ? { header: guess, lack: null } : lacking(later);
}

function contradicts(header: Json): boolean {
  return checkHeaderHash(header, parseHash(header.hash)).result === 'mismatch';
}

/** Ascending. Sources may send more than the query wants. @throws MalformedAnswerError, InvalidPrimitiveError */
export function readLogs(blocks: readonly Pick<BlockRows, 'header' | 'logs'>[], query: LogsQuery): Log[] {
  const expected = toExpectation(query);
  const logs = blocks.flatMap(({ header: row, logs: rows }) => {
    if (rows.length === 0) return [];
    const header = headerJson(row);
    return rows.map((log) => {
      const place = {
        transactionHash: bytes(log.transactionHash, 'transactionHash'),
        transactionIndex: quantity(log.transactionIndex, 'transactionIndex'),
      };
      return logJson(log, place, header);
    });
  });
  const ordered = checkLogs(
    parseLogs(logs).filter((log) => matchesLog(log, expected)),
    expected,
  );
  const repeated = ordered.find((log, index) => {
    const before = ordered[index - 1];
    return before !== undefined && compareLogs(before, log) === 0;
  });
  if (repeated !== undefined)
    throw new MalformedAnswerError(`Log ${repeated.logIndex} of block ${repeated.blockNumber} came twice`);
  return ordered;
}
