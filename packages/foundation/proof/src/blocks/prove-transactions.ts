import { type BlockHeader, isAddress, parseAddress, type Receipt, ZERO_ADDRESS } from '@chainstead/core';
import { stateSyncTransactionHash } from '../receipts/receipts-root.ts';
import { InvalidHexBytesError } from '../rlp/rlp-text.ts';
import { packSignatures, type RecoverSigners, recoverHere, signerAt } from '../signatures/packed-signatures.ts';
import { compareSender, createdContract, senderSignature } from '../transactions/recover-sender.ts';
import { checkTransactionHash, isEthereumType, transactionType } from '../transactions/transaction-encoding.ts';
import type { TransactionJson } from '../transactions/transaction-fields.ts';
import { orderedTrieRoot } from '../tries/ordered-trie.ts';
import type { ProvableChain, Unproven } from './prove-block.ts';

type TransactionsUnprovenReason =
  | 'transactions-root-mismatch'
  | 'transactions-root-missing'
  | 'transaction-hash-mismatch'
  /** An unknown type: not the fault of an upstream. */
  | 'transaction-encoding'
  | 'transaction-placement'
  | 'receipt-mismatch'
  | 'sender-mismatch'
  | 'transaction-malformed';

export type TransactionsProof =
  | { readonly level: 'receipts' }
  | { readonly level: 'not-applicable' }
  | TransactionsUnproven;

export type TransactionsUnproven = Omit<Unproven, 'reason'> & { readonly reason: TransactionsUnprovenReason };

export interface BlockTransactions {
  readonly header: BlockHeader;
  readonly transactions: readonly TransactionJson[];
  readonly receipts: readonly Receipt[];
}

/** Root, hashes, receipts; senders: {@link contradictsSenders}. Never throws for upstream data. */
export function proveTransactions(block: BlockTransactions, chain: ProvableChain): TransactionsProof {
  try {
    const wrong = checkPlaces(block);
    if (wrong !== null) return wrong;
    if (chain.receiptsRoot === 'none') return { level: 'not-applicable' };
    const wrongRoot = contradictsRoot(block, chain);
    if (wrongRoot !== null && wrongRoot.reason !== 'transaction-encoding') return wrongRoot;
    // A wrong uncheckable type contradicts the receipt, whose root contains the type.
    return checkReceipts(block) ?? wrongRoot ?? { level: 'receipts' };
  } catch (error) {
    if (error instanceof InvalidHexBytesError || error instanceof SyntaxError)
      return unproven('transaction-malformed', 'hexadecimal fields', error.message);
    throw error;
  }
}

function checkPlaces({ header, transactions }: BlockTransactions): TransactionsUnproven | null {
  for (const [index, { blockHash, blockNumber, transactionIndex, hash }] of transactions.entries()) {
    const fits =
      (typeof blockHash !== 'string' || blockHash === header.hash || blockHash.toLowerCase() === header.hash) &&
      (typeof blockNumber !== 'string' || Number(blockNumber) === header.number) &&
      (typeof transactionIndex !== 'string' || Number(transactionIndex) === index);
    if (!fits)
      return unproven(
        'transaction-placement',
        `${String(hash)} at ${index} of block ${header.hash}`,
        `at ${String(transactionIndex)} of block ${String(blockHash)}`,
      );
  }
  return null;
}

/** `transaction-encoding`: all encodable ones match, but the root can't be computed. */
export function contradictsRoot(
  { header, transactions }: Pick<BlockTransactions, 'header' | 'transactions'>,
  chain: Pick<ProvableChain, 'receiptsRoot'>,
): TransactionsUnproven | null {
  const { transactionsRoot } = header.raw;
  if (typeof transactionsRoot !== 'string')
    return unproven('transactions-root-missing', 'a transactions root', 'none');
  const encoded: Buffer[] = [];
  let unknown: TransactionsUnproven | null = null;
  for (const transaction of committedTransactions(header, transactions, chain)) {
    const check = checkTransactionHash(transaction);
    if (check.result === 'verified') encoded.push(check.bytes);
    else if (check.result === 'mismatch')
      return unproven('transaction-hash-mismatch', String(transaction.hash), check.computed);
    else if (check.result === 'malformed')
      return unproven('transaction-malformed', 'every field of its type', shown(transaction));
    else unknown ??= unproven('transaction-encoding', 'a type whose encoding is known', shown(transaction));
  }
  if (unknown !== null) return unknown;
  const root = orderedTrieRoot(encoded);
  if (root === transactionsRoot.toLowerCase()) return null;
  return unproven('transactions-root-mismatch', transactionsRoot, root);
}

/** Null if each sender signed. Skips unsigned and unknown types. @param recover @default here */
export async function contradictsSenders(
  transactions: readonly TransactionJson[],
  recover: RecoverSigners = recoverHere,
): Promise<TransactionsUnproven | null> {
  const signed = transactions.flatMap((transaction) => {
    const signature = senderSignature(transaction);
    return signature === null ? [] : [{ transaction, signature }];
  });
  if (signed.length === 0) return null;
  const signers = await recover(packSignatures(signed.map(({ signature }) => signature)));
  for (const [index, { transaction }] of signed.entries()) {
    const check = compareSender(transaction, signerAt(signers, index));
    if (check.result === 'mismatch' && checkTransactionHash(transaction).result === 'verified')
      return unproven(
        'sender-mismatch',
        `${check.recovered} of ${String(transaction.hash)}`,
        String(transaction.from),
      );
  }
  return null;
}

export function committedTransactions(
  header: Pick<BlockHeader, 'number' | 'hash'>,
  transactions: readonly TransactionJson[],
  chain: Pick<ProvableChain, 'receiptsRoot'>,
): readonly TransactionJson[] {
  if (transactions.length === 0) return transactions;
  const stateSync = stateSyncTransactionHash(header.number, header.hash);
  const isCommitted = ({ hash, gasPrice }: TransactionJson): boolean =>
    lower(hash) !== stateSync && !(chain.receiptsRoot === 'hyperliquid' && gasPrice === '0x0');
  return transactions.every(isCommitted) ? transactions : transactions.filter(isCommitted);
}

function checkReceipts({ transactions, receipts }: BlockTransactions): TransactionsUnproven | null {
  let byHash: ReadonlyMap<string, TransactionJson> | null = null;
  let cumulative = 0n;
  for (const [index, receipt] of receipts.entries()) {
    const gasUsed = receipt.cumulativeGasUsed - cumulative;
    cumulative = receipt.cumulativeGasUsed;
    let transaction = transactions[index];
    if (transaction === undefined || transaction.hash !== receipt.transactionHash) {
      byHash ??= new Map(transactions.map((other) => [lower(other.hash), other]));
      transaction = byHash.get(receipt.transactionHash);
    }
    const wrong = transaction === undefined ? null : contradiction(transaction, receipt, gasUsed);
    if (wrong !== null) return unproven('receipt-mismatch', ...wrong);
  }
  return null;
}

type Contradiction = readonly [expected: string, given: string];

function contradiction(transaction: TransactionJson, receipt: Receipt, gasUsed: bigint): Contradiction | null {
  const { raw, transactionHash } = receipt;
  const differs = (what: string, expected: unknown, given: unknown): Contradiction | null =>
    typeof given !== 'string' || given === expected || lower(given) === lower(expected)
      ? null
      : [`${what} ${String(expected)} of ${transactionHash}`, given];
  // Polygon's state sync restarts cumulative gas at zero.
  const isSynthetic = gasUsed < 0n;
  const type = transactionType(transaction);
  if (type !== receipt.type && !isSynthetic)
    return [`type ${String(type)} of ${transactionHash}`, String(receipt.type)];
  const wrongAccount = isEthereumType(type)
    ? (differs('sender', transaction.from, raw.from) ?? differs('recipient', transaction.to, raw.to))
    : null;
  if (wrongAccount !== null) return wrongAccount;
  if (!isSynthetic && typeof raw.gasUsed === 'string' && BigInt(raw.gasUsed) !== gasUsed)
    return [`gas used ${gasUsed} of ${transactionHash}`, raw.gasUsed];
  return wrongContract(transaction, type, receipt);
}

/** Deposits and chain-specific types have their nonce elsewhere. */
function wrongContract(
  { from, to, nonce }: TransactionJson,
  type: number | null,
  { raw, transactionHash }: Receipt,
): Contradiction | null {
  const { contractAddress, status } = raw;
  if (!isEthereumType(type) || typeof nonce !== 'string' || !isAddress(from) || contractAddress === undefined)
    return null;
  // Old nodes return it for none.
  const given = contractAddress === ZERO_ADDRESS ? null : contractAddress;
  const expected = typeof to === 'string' ? null : createdContract(parseAddress(from), BigInt(nonce));
  // Some nodes omit it after a failed creation.
  const fits = given === null ? expected === null || status === '0x0' : lower(given) === expected;
  return fits ? null : [`created contract ${expected ?? 'none'} of ${transactionHash}`, String(given)];
}

function shown({ hash, type }: TransactionJson): string {
  return `${String(hash)} of type ${String(type)}`;
}

function lower(text: unknown): string {
  return typeof text === 'string' ? text.toLowerCase() : String(text);
}

function unproven(reason: TransactionsUnprovenReason, expected: string, computed: string): TransactionsUnproven {
  return { level: 'unproven', reason, expected, computed };
}
