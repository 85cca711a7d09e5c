import type { Chain } from '@chainstead/chains';
import { type BlockHeader, ChainsteadError, type Hash, isQuantity, parseBigQuantity } from '@chainstead/core';
import {
  checkHeaderHash,
  checkTransactionHash,
  committedTransactions,
  contradictsRoot,
  InvalidHexBytesError,
  type TransactionJson,
} from '@chainstead/proof';
import { type FaultKind, parseBlock, parseReceipt } from '@chainstead/rpc';
import { standardTransaction } from '@chainstead/rpc/standard-form';

export interface Wrong {
  readonly kind: FaultKind;
  readonly text: string;
}

/** Finds contradictions within a response or to the requested hash. Pure. */
export interface IntegrityCheck {
  /** Null: none, or not checkable on this chain. */
  check(method: string, params: readonly unknown[], resultText: string): string | null;
  inspect(method: string, params: readonly unknown[], result: unknown): Wrong | null;
}

export type CheckableChain = Pick<Chain, 'headerHash' | 'receiptsRoot'>;

type Inspection = (params: readonly unknown[], result: unknown) => Wrong | null;

const HASH = /^0x[0-9a-f]{64}$/i;
const QUANTITY = /^0x[0-9a-f]+$/i;

/** Only commitments in Ethereum's form (see chain-facts). */
export function createIntegrityCheck({ chain }: { readonly chain: CheckableChain }): IntegrityCheck {
  const inspections = new Map<string, Inspection>([
    ['eth_getBlockByHash', ([hash], result) => inspectBlock(chain, result, { hash })],
    ['eth_getBlockByNumber', ([number], result) => inspectBlock(chain, result, { number })],
    ['eth_getTransactionByHash', ([hash], result) => inspectTransaction(chain, result, {}, hash)],
    [
      'eth_getTransactionByBlockHashAndIndex',
      ([blockHash, transactionIndex], result) =>
        inspectTransaction(chain, result, { blockHash, transactionIndex }),
    ],
    [
      'eth_getTransactionByBlockNumberAndIndex',
      ([blockNumber, transactionIndex], result) =>
        inspectTransaction(chain, result, { blockNumber, transactionIndex }),
    ],
    ['eth_getTransactionReceipt', ([hash], result) => inspectReceipt(result, hash)],
    ['eth_getBlockReceipts', ([at], result) => inspectReceipts(result, at)],
  ]);

  function inspect(method: string, params: readonly unknown[], result: unknown): Wrong | null {
    if (result === null) return null;
    try {
      return inspections.get(method)?.(params, result) ?? null;
    } catch (error) {
      const isMalformed =
        error instanceof ChainsteadError || error instanceof InvalidHexBytesError || error instanceof SyntaxError;
      if (isMalformed) return { kind: 'malformed', text: error.message };
      throw error;
    }
  }

  return {
    check(method, params, resultText) {
      if (!inspections.has(method)) return null;
      let result: unknown;
      try {
        result = JSON.parse(resultText);
      } catch {
        return 'the result is not JSON';
      }
      return inspect(method, params, result)?.text ?? null;
    },
    inspect,
  };
}

function inspectBlock(
  chain: CheckableChain,
  result: unknown,
  requested: { readonly hash?: unknown; readonly number?: unknown },
): Wrong | null {
  const raw = asObject(result);
  // The pending block has no hash yet.
  if (raw.hash === null || raw.hash === undefined) return null;
  const { header, transactions } = parseBlock(result);
  if (!isSame(requested.hash, header.hash)) return mismatch('hash', requested.hash, header.hash);
  const number = toNumber(requested.number);
  if (number !== null && number !== header.number) return mismatch('number', number, header.number);
  if (!chain.headerHash) return null;
  const checked = checkHeaderHash(header.raw, header.hash);
  if (checked.result === 'mismatch') return mismatch('hash', checked.computed, header.hash);
  if (checked.result === 'unchecked') {
    const text = `the hash ${header.hash} cannot be recomputed from what else is in the header`;
    return { kind: 'header-hash-mismatch', text };
  }
  return transactions === null ? null : inspectTransactions(chain, header, transactions);
}

function inspectTransactions(
  chain: CheckableChain,
  header: BlockHeader,
  transactions: readonly TransactionJson[],
): Wrong | null {
  const wrong = contradictsRoot({ header, transactions }, chain);
  if (wrong?.reason === 'transaction-hash-mismatch') return wrongTransaction(wrong.expected, wrong.computed);
  // An uncomputable root does not make the response wrong.
  if (wrong !== null && wrong.reason !== 'transactions-root-mismatch') return null;
  for (const transaction of committedTransactions(header, transactions, chain)) {
    const misplaced = wrongPlace(transaction, { blockHash: header.hash, blockNumber: header.raw.number });
    if (misplaced !== null) return misplaced;
  }
  if (wrong === null) return null;
  const text = `the transactions have root ${wrong.computed}, the header ${wrong.expected}`;
  return { kind: 'transactions-root-mismatch', text };
}

function inspectTransaction(
  chain: CheckableChain,
  result: unknown,
  requested: Readonly<Record<string, unknown>>,
  hash?: unknown,
): Wrong | null {
  const wrong = wrongPlace(asObject(result), requested);
  if (wrong !== null) return wrong;
  const transaction = standardTransaction(asObject(result));
  if (!isSame(hash, transaction.hash)) return wrongTransaction(transaction.hash, hash);
  if (!chain.headerHash || !isBlocksOwn(chain, transaction)) return null;
  const checked = checkTransactionHash(transaction);
  return checked.result === 'mismatch' ? wrongTransaction(transaction.hash, checked.computed) : null;
}

/** False for HyperCore's system transactions and Bor's synthetic one, which have other hashes. */
function isBlocksOwn(chain: CheckableChain, transaction: TransactionJson): boolean {
  const number = toNumber(transaction.blockNumber);
  const { blockHash } = transaction;
  const hash = typeof blockHash === 'string' && HASH.test(blockHash) ? (blockHash.toLowerCase() as Hash) : null;
  if (number === null || hash === null)
    return !(chain.receiptsRoot === 'hyperliquid' && transaction.gasPrice === '0x0');
  return committedTransactions({ number, hash }, [transaction], chain).length > 0;
}

function inspectReceipt(result: unknown, hash: unknown): Wrong | null {
  const receipt = parseReceipt(result);
  if (!isSame(hash, receipt.transactionHash)) return wrongTransaction(receipt.transactionHash, hash);
  const { blockHash, blockNumber, transactionHash } = receipt.raw;
  for (const log of receipt.logs)
    if (
      !isSame(blockHash, log.blockHash) ||
      log.blockNumber !== toNumber(blockNumber) ||
      !isSame(transactionHash, log.transactionHash)
    )
      return {
        kind: 'malformed',
        text: `log ${log.logIndex} names another block or transaction than its receipt`,
      };
  return null;
}

function inspectReceipts(result: unknown, at: unknown): Wrong | null {
  if (!Array.isArray(result)) return { kind: 'malformed', text: 'the receipts are no list' };
  const requested =
    typeof at === 'string' && HASH.test(at)
      ? { blockHash: at }
      : typeof at === 'string'
        ? { blockNumber: at }
        : {};
  const [first] = result;
  for (const entry of result) {
    const receipt = asObject(entry);
    const wrong =
      wrongPlace(receipt, requested) ??
      wrongPlace(receipt, { blockHash: asObject(first).blockHash }) ??
      inspectReceipt(receipt, receipt.transactionHash);
    if (wrong !== null) return wrong;
  }
  return null;
}

/** Tags and absent values match anything. */
function wrongPlace(part: TransactionJson, requested: Readonly<Record<string, unknown>>): Wrong | null {
  for (const [name, wanted] of Object.entries(requested)) {
    if (typeof wanted !== 'string' || !QUANTITY.test(wanted)) continue;
    const given = part[name];
    const fits = HASH.test(wanted) ? isSame(wanted, given) : toNumber(wanted) === toNumber(given);
    if (!fits) return { kind: 'malformed', text: `${name} is ${String(given)}, not ${wanted}` };
  }
  return null;
}

function toNumber(value: unknown): number | null {
  return isQuantity(value) ? Number(parseBigQuantity(value)) : null;
}

/** An absent expectation matches anything. */
function isSame(wanted: unknown, given: unknown): boolean {
  if (typeof wanted !== 'string') return true;
  return typeof given === 'string' && given.toLowerCase() === wanted.toLowerCase();
}

function mismatch(what: string, expected: unknown, given: unknown): Wrong {
  return {
    kind: 'header-hash-mismatch',
    text: `the block's ${what} is ${String(given)}, not ${String(expected)}`,
  };
}

function wrongTransaction(given: unknown, expected: unknown): Wrong {
  const text = `the transaction's hash is ${String(given)}, not ${String(expected)}`;
  return { kind: 'transaction-hash-mismatch', text };
}

function asObject(value: unknown): TransactionJson {
  return typeof value === 'object' && value !== null ? (value as TransactionJson) : {};
}
