/** What a block of a source must satisfy. Nodes are believed in what no root covers; sources are not. */
import type { Chain } from '@chainstead/chains';
import { type Block, type BlockHeader, type Receipt, toQuantity } from '@chainstead/core';
import {
  blockSize,
  checkWithdrawals,
  committedTransactions,
  contradictsRoot,
  contradictsSenders,
  proveBlock,
  proveTransactions,
  type RecoverSigners,
  type TransactionJson,
} from '@chainstead/proof';
import { placeLogs } from '@chainstead/rpc';
import type { SourceBlock } from '@chainstead/sources';

export interface SourceProof {
  readonly chain: Chain;
  /** Datasets read transactions: senders and fees are checked too. */
  readonly transactions: boolean;
  readonly recoverSigners?: RecoverSigners | undefined;
}

/** Roots of receipts, transactions and withdrawals can be recomputed on this chain. */
export function canProveBlocks({ receiptsRoot }: Chain): boolean {
  return receiptsRoot === 'ethereum';
}

/** Null: all that rows are made of is proven, if the header's hash is canonical. Else what is wrong with the block. */
export async function contradictionOf(
  { chain, transactions: wanted, recoverSigners }: SourceProof,
  { block, receipts, isCanonical }: SourceBlock,
): Promise<string | null> {
  const { header, transactions, transactionHashes } = block;
  // The hash of a canonical header is known.
  const proof = proveBlock({ header, transactionHashes, receipts }, { ...chain, headerHash: !isCanonical });
  if (proof.level !== 'receipts') return proof.level === 'unproven' ? proof.reason : proof.level;
  if (!isCanonical && proof.headerHash !== 'verified') return 'the header has not all fields of its hash';
  if (checkWithdrawals(header.raw, transactions?.[0]) === 'mismatch') return 'withdrawals-root-mismatch';
  if (placeLogs(receipts).misplaced > 0) return 'log-index-mismatch';
  // A reader that returns no transactions has checked their root itself.
  if (transactions === null) return wanted ? 'no transactions' : null;
  if (!wanted) return contradictsRoot({ header, transactions }, chain)?.reason ?? null;
  const ofTransactions = proveTransactions({ header, transactions, receipts }, chain);
  if (ofTransactions.level === 'unproven') return ofTransactions.reason;
  const wrongFee = transactions.findIndex(
    (transaction, index) => !holdsFees(transaction, receipts[index], header.raw),
  );
  if (wrongFee >= 0) return `fees of transaction ${wrongFee} can't be derived`;
  const signed = committedTransactions(header, transactions, chain);
  return (await contradictsSenders(signed, recoverSigners))?.reason ?? null;
}

/** Size and total difficulty, which no hash covers, follow from the rest: without uncles, and after the merge. */
export function isDerivable({ raw: { uncles, difficulty } }: BlockHeader): boolean {
  return amountOf(difficulty) === 0n && (!Array.isArray(uncles) || uncles.length === 0);
}

/** @param block proven and derivable */
export function derivedHeader({ header, transactions }: Block, chain: Chain): BlockHeader {
  const { totalDifficulty, size: _, ...raw } = header.raw;
  const size = blockSize(header, committedTransactions(header, transactions ?? [], chain));
  const isMerged = TOTAL_DIFFICULTIES.includes(String(totalDifficulty));
  return {
    ...header,
    raw: {
      ...raw,
      ...(size !== null && { size: toQuantity(size) }),
      ...(isMerged && { totalDifficulty }),
    },
  };
}

/** Chains that began after the merge, and Ethereum. */
const TOTAL_DIFFICULTIES: readonly string[] = ['0x0', '0xc70d815d562d3cfa955'];

const BLOB_GAS = 131_072n;
/** EIP-4844, EIP-7691, EIP-7892: divisors of the excess, one per fork so far. */
const BLOB_FEE_DIVISORS = [3_338_477n, 5_007_716n, 8_346_193n, 11_684_671n] as const;

/** Fees follow from the transaction and the header. Those for a chain below are in no root. */
function holdsFees(
  { maxFeePerGas, maxPriorityFeePerGas, gasPrice, blobVersionedHashes }: TransactionJson,
  receipt: Receipt | undefined,
  header: TransactionJson,
): boolean {
  const { effectiveGasPrice, blobGasUsed, blobGasPrice, l1Fee, operatorFee } = receipt?.raw ?? {};
  if (isNamed(l1Fee) || isNamed(operatorFee)) return false;
  const [limit, tip, base] = [maxFeePerGas, maxPriorityFeePerGas, header.baseFeePerGas].map(amountOf);
  const price =
    limit === null || tip === null || limit === undefined || tip === undefined
      ? amountOf(gasPrice)
      : least(limit, (base ?? 0n) + tip);
  if (isNamed(effectiveGasPrice) && amountOf(effectiveGasPrice) !== price) return false;
  if (!Array.isArray(blobVersionedHashes)) return true;
  const excess = amountOf(header.excessBlobGas);
  return (
    amountOf(blobGasUsed) === BLOB_GAS * BigInt(blobVersionedHashes.length) &&
    excess !== null &&
    BLOB_FEE_DIVISORS.some((divisor) => blobFee(excess, divisor) === amountOf(blobGasPrice))
  );
}

/** `fake_exponential` of EIP-4844. */
function blobFee(excess: bigint, divisor: bigint): bigint {
  let sum = 0n;
  let term = divisor;
  for (let step = 1n; term > 0n; step++) {
    sum += term;
    term = (term * excess) / (divisor * step);
  }
  return sum / divisor;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function isNamed(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function amountOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}
