import { type BlockHeader, isAddress, parseAddress, type Receipt, ZERO_ADDRESS } from '@chainstead/core';
import { createdContract } from './created-contract.ts';
import { InvalidHexBytesError } from './hex-bytes.ts';
import { orderedTrieRoot } from './ordered-trie.ts';
import { packSignatures, type RecoverSigners, recoverSigners, signerAt } from './packed-signatures.ts';
import type { ProvableChain } from './prove-block.ts';
import { stateSyncTransactionHash } from './receipts-root.ts';
import { compareSender, senderSignature } from './recover-sender.ts';
import { checkTransactionHash, isEthereumType, transactionType } from './transaction-encoding.ts';
import type { TransactionJson } from './transaction-fields.ts';

type TransactionsUnprovenReason =
  /** The transactions don't hash to the header's `transactionsRoot`. */
  | 'transactions-root-mismatch'
  /** The header has no `transactionsRoot`. */
  | 'transactions-root-missing'
  /** A transaction's fields don't hash to its `hash`. */
  | 'transaction-hash-mismatch'
  /** One is of a type whose encoding is not known, so that the root can't be computed. No upstream is to blame. */
  | 'transaction-encoding'
  /** A transaction says that it is of another block or place. */
  | 'transaction-placement'
  /** A receipt contradicts its transaction: type, sender, recipient, gas used, created contract. */
  | 'receipt-mismatch'
  /** Another account signed a transaction than it names. */
  | 'sender-mismatch'
  /** A field is missing, or not hexadecimal of the right size. */
  | 'transaction-malformed';

export type TransactionsProof =
  | { readonly level: 'receipts' }
  | { readonly level: 'not-applicable' }
  | TransactionsUnproven;

export interface TransactionsUnproven {
  readonly level: 'unproven';
  readonly reason: TransactionsUnprovenReason;
  /** What the block or its header says. */
  readonly expected: string;
  /** What came of the answer. */
  readonly computed: string;
}

/** A block's transaction objects and receipts, both in order, as one upstream answered them. */
export interface BlockTransactions {
  readonly header: BlockHeader;
  readonly transactions: readonly TransactionJson[];
  readonly receipts: readonly Receipt[];
}

/**
 * Whether the transaction objects are complete and unaltered, by the header's transactions root and by each one's hash;
 * and whether the receipts say nothing else than they do. Pure; never throws on what an upstream may answer.
 *
 * The root holds the signature, not the sender: `from` is the upstream's word here, except that it is the same in the receipt and
 * gives the address of a created contract ({@link contradictsSenders} proves it). Gas used is the difference of the receipts' cumulative gas, which their root holds.
 */
export function proveTransactions(block: BlockTransactions, chain: ProvableChain): TransactionsProof {
  try {
    const wrong = checkPlaces(block);
    if (wrong !== null) return wrong;
    if (chain.receiptsRoot === 'none') return { level: 'not-applicable' };
    const wrongRoot = contradictsRoot(block, chain);
    if (wrongRoot !== null && wrongRoot.reason !== 'transaction-encoding') return wrongRoot;
    // An upstream that names a type which nobody can check contradicts the receipt, whose root holds the type.
    return checkReceipts(block) ?? wrongRoot ?? { level: 'receipts' };
  } catch (error) {
    // BigInt() answers a SyntaxError to a quantity that is none.
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

/**
 * How the transactions contradict their hashes, or together the header's transactions root; null where they don't. Reason `transaction-encoding`:
 * those that can be encoded are what their hashes say, and the root can't be computed.
 */
export function contradictsRoot(
  { header, transactions }: Pick<BlockTransactions, 'header' | 'transactions'>,
  chain: Pick<ProvableChain, 'receiptsRoot'>,
): TransactionsUnproven | null {
  const { transactionsRoot } = header.raw;
  if (typeof transactionsRoot !== 'string') return unproven('transactions-root-missing', 'a transactions root', 'none');
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
  return root === transactionsRoot.toLowerCase()
    ? null
    : unproven('transactions-root-mismatch', transactionsRoot, root);
}

/**
 * How one of the transactions names another sender than signed it; null where none does. Each is recovered, which takes longer than all other proofs together.
 * Nothing is said of those that carry no signature of an account, or of a type that is not known.
 * @param recover by whom; by default here and now
 */
export async function contradictsSenders(
  transactions: readonly TransactionJson[],
  recover: RecoverSigners = async (signatures) => recoverSigners(signatures),
): Promise<TransactionsUnproven | null> {
  const signed = transactions.flatMap((transaction) => {
    const signature = senderSignature(transaction);
    return signature === null ? [] : [{ transaction, signature }];
  });
  if (signed.length === 0) return null;
  const signers = await recover(packSignatures(signed.map(({ signature }) => signature)));
  for (const [index, { transaction }] of signed.entries()) {
    const check = compareSender(transaction, signerAt(signers, index));
    // What does not hash to its hash was signed in another form.
    if (check.result === 'mismatch' && checkTransactionHash(transaction).result === 'verified')
      return unproven('sender-mismatch', `${check.recovered} of ${String(transaction.hash)}`, String(transaction.from));
  }
  return null;
}

/** The transactions that a block's roots hold: all but what nodes of Polygon and HyperEVM list beside the block's own. */
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

/** What receipts repeat of their transactions, and what follows from both. The receipts root holds none of it but the type. */
function checkReceipts({ transactions, receipts }: BlockTransactions): TransactionsUnproven | null {
  let byHash: ReadonlyMap<string, TransactionJson> | null = null;
  let cumulative = 0n;
  for (const [index, receipt] of receipts.entries()) {
    const gasUsed = receipt.cumulativeGasUsed - cumulative;
    cumulative = receipt.cumulativeGasUsed;
    let transaction = transactions[index];
    // Nearly all stand where their transactions do.
    if (transaction === undefined || transaction.hash !== receipt.transactionHash) {
      byHash ??= new Map(transactions.map((one) => [lower(one.hash), one]));
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
  // Synthetic receipts are no transaction's of the header: Polygon's state sync begins anew at zero.
  const isSynthetic = gasUsed < 0n;
  const type = transactionType(transaction);
  if (type !== receipt.type && !isSynthetic)
    return [`type ${String(type)} of ${transactionHash}`, String(receipt.type)];
  return (
    (isEthereumType(type)
      ? (differs('sender', transaction.from, raw.from) ?? differs('recipient', transaction.to, raw.to))
      : null) ??
    (isSynthetic || typeof raw.gasUsed !== 'string' || BigInt(raw.gasUsed) === gasUsed
      ? null
      : [`gas used ${gasUsed} of ${transactionHash}`, raw.gasUsed]) ??
    wrongContract(transaction, type, receipt)
  );
}

/** Of deposits and other chains' own types the nonce stands elsewhere: nothing is claimed of them. */
function wrongContract(
  { from, to, nonce }: TransactionJson,
  type: number | null,
  { raw, transactionHash }: Receipt,
): Contradiction | null {
  const { contractAddress, status } = raw;
  if (!isEthereumType(type) || typeof nonce !== 'string' || !isAddress(from) || contractAddress === undefined)
    return null;
  // Some old nodes write the zero address for none.
  const given = contractAddress === ZERO_ADDRESS ? null : contractAddress;
  const expected = typeof to === 'string' ? null : createdContract(parseAddress(from), BigInt(nonce));
  // Some nodes leave the address of a creation that failed out.
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
