/** What a block of a source must satisfy. Nodes are believed in what no root covers; sources are not. */
import type { Chain } from '@chainstead/chains';
import { type Block, type BlockHeader, type Receipt, toQuantity } from '@chainstead/core';
import {
  beaconNetwork,
  blockSize,
  checkWithdrawals,
  committedTransactions,
  contradictsRoot,
  contradictsSenders,
  headerHash,
  proveBlock,
  proveTransactions,
  type RecoverSigners,
  stateSyncTransactionHash,
  type TransactionJson,
} from '@chainstead/proof';
import { placeLogs } from '@chainstead/rpc';
import { BLOB_GAS, blobGasPrice, type SourceBlock } from '@chainstead/sources';
import type { StoresSender } from '../dataset/whole-block.ts';
import { withStoredSenders } from './stored-senders.ts';

export interface SourceProof {
  readonly chain: Chain;
  /** Datasets read transactions: senders and fees are checked too. */
  readonly transactions: boolean;
  /** @default all are stored */
  readonly storesSender?: StoresSender | undefined;
  readonly recoverSigners?: RecoverSigners | undefined;
}

/** Roots contain all receipts, transactions and withdrawals of the chain, and of transactions all fees. */
export function canProveBlocks({ receiptsRoot, uncommitted }: Chain, transactions: boolean): boolean {
  if (receiptsRoot !== 'ethereum' || uncommitted === 'stateSync') return false;
  return !transactions || uncommitted !== 'l1Fees';
}

export interface Contradiction {
  readonly what: string;
  /** The block may be right, but not all of it follows from what the source sent. */
  readonly isLack: boolean;
}

/** Null: all that rows are made of is proven, if the header's hash is canonical. */
export async function contradictionOf(
  { chain, transactions: wanted, storesSender, recoverSigners }: SourceProof,
  { block, receipts, isCanonical, hasRecoveredSenders = false }: SourceBlock,
): Promise<Contradiction | null> {
  const { header, transactions, transactionHashes } = block;
  // The hash of a canonical header is known.
  const proof = proveBlock({ header, transactionHashes, receipts }, { ...chain, headerHash: !isCanonical });
  if (proof.level !== 'receipts') return wrong(proof.level === 'unproven' ? proof.reason : proof.level);
  const misplaced = outsideRoots(block, isCanonical);
  if (misplaced !== null) return wrong(misplaced);
  if (placeLogs(receipts).misplaced > 0) return wrong('log-index-mismatch');
  // A reader that returns no transactions has checked their root itself.
  if (transactions === null) return wanted ? lack('it has no transactions') : null;
  if (!wanted) {
    const reason = contradictsRoot({ header, transactions }, chain)?.reason ?? null;
    return reason === null ? null : { what: reason, isLack: reason === 'transaction-encoding' };
  }
  const ofTransactions = proveTransactions({ header, transactions, receipts }, chain);
  if (ofTransactions.level === 'unproven')
    return { what: ofTransactions.reason, isLack: ofTransactions.reason === 'transaction-encoding' };
  if (hasRecoveredSenders) return null;
  const signed = withStoredSenders(block, receipts, chain, storesSender);
  const forged = await contradictsSenders(signed, recoverSigners);
  return forged === null ? null : wrong(forged.reason);
}

function wrong(what: string): Contradiction {
  return { what, isLack: false };
}

function lack(what: string): Contradiction {
  return { what, isLack: true };
}

/** Fields and transactions that checks of roots and hash skip. */
function outsideRoots({ header, transactions, transactionHashes }: Block, isCanonical: boolean): string | null {
  const { raw, hash, number } = header;
  // Invariant: PROOF-SOURCE-CANONICAL
  // Shorter forms of a header match too: the others would be taken over unproven.
  if (!isCanonical && headerHash(raw) !== hash) return 'the header has fields that its hash does not contain';
  if (isNamed(raw.withdrawals) && typeof raw.withdrawalsRoot !== 'string')
    return 'it has withdrawals without a root';
  if (checkWithdrawals(raw, transactions?.[0]) === 'mismatch') return 'withdrawals-root-mismatch';
  const stateSync = stateSyncTransactionHash(number, hash);
  return transactionHashes.includes(stateSync) ? 'a transaction is outside the roots' : null;
}

/**
 * Receipts with the fees that follow from transaction and header, whatever the source sent.
 * @returns null if one does not follow: another type, another fork, fees for a chain below
 */
export function withDerivedFees(
  { header, transactions }: Block,
  receipts: readonly Receipt[],
  chain: Chain,
): readonly Receipt[] | null {
  const derived: Receipt[] = [];
  for (const [index, receipt] of receipts.entries()) {
    const fees = feesOf(transactions?.[index] ?? {}, receipt, header, chain);
    if (fees === null) return null;
    const { status, ...raw } = receipt.raw;
    // Before Byzantium, no root contains a status.
    derived.push({ ...receipt, raw: { ...raw, ...(!isNamed(raw.root) && { status }), ...fees } });
  }
  return derived;
}

/** Size and total difficulty, which no hash covers, follow from the rest: without uncles, and after the merge. */
export function isDerivable({ raw: { uncles, difficulty } }: BlockHeader): boolean {
  return amountOf(difficulty) === 0n && (!Array.isArray(uncles) || uncles.length === 0);
}

/** @param block proven and derivable */
export function derivedHeader({ header, transactions }: Block, chain: Chain): BlockHeader {
  const { totalDifficulty, size: _, ...raw } = header.raw;
  const size = blockSize(header, committedTransactions(header, transactions ?? [], chain));
  const isMerged = totalDifficulty === toQuantity(beaconNetwork(chain.id)?.finalDifficulty ?? 0n);
  return {
    ...header,
    raw: {
      ...raw,
      ...(size !== null && { size: toQuantity(size) }),
      ...(isMerged && { totalDifficulty }),
    },
  };
}

function feesOf(
  { type, maxFeePerGas, maxPriorityFeePerGas, gasPrice, blobVersionedHashes }: TransactionJson,
  { raw: { l1Fee, operatorFeeScalar, operatorFeeConstant } }: Receipt,
  { raw: header, timestamp }: BlockHeader,
  chain: Chain,
): TransactionJson | null {
  const isEthereumType = type === undefined || type === null || Number(type) <= ETHEREUM_TYPE_MAX;
  if (!isEthereumType || [l1Fee, operatorFeeScalar, operatorFeeConstant].some(isNamed)) return null;
  const [limit = null, tip = null, base = null] = [maxFeePerGas, maxPriorityFeePerGas, header.baseFeePerGas].map(
    amountOf,
  );
  const price = limit === null || tip === null ? amountOf(gasPrice) : least(limit, (base ?? 0n) + tip);
  if (price === null) return null;
  const fees = { effectiveGasPrice: toQuantity(price) };
  if (!Array.isArray(blobVersionedHashes)) return fees;
  const excess = amountOf(header.excessBlobGas);
  const blobPrice = excess === null ? null : blobGasPrice(chain.id, timestamp, excess);
  if (blobPrice === null) return null;
  const blobGasUsed = toQuantity(BLOB_GAS * BigInt(blobVersionedHashes.length));
  return { ...fees, blobGasUsed, blobGasPrice: toQuantity(blobPrice) };
}

const ETHEREUM_TYPE_MAX = 4;

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function isNamed(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function amountOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}
