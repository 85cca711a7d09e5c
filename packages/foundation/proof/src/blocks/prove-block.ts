import type { Chain } from '@chainstead/chains';
import type { BlockHeader, Hash, Receipt } from '@chainstead/core';
import { committedReceipts, type ReceiptsRootContext, receiptsRoot } from '../receipts/receipts-root.ts';
import { InvalidHexBytesError } from '../rlp/rlp-text.ts';
import { checkHeaderHash } from './header-hash.ts';

/** In order: root recomputed, upstreams agree, root recomputed but no link to the followed chain, unchecked, nothing committed, no match. */
export type ProofLevel = 'receipts' | 'cross' | 'record' | 'none' | 'not-applicable' | 'unproven';

type UnprovenReason =
  | 'root-mismatch'
  | 'header-hash-mismatch'
  | 'root-missing'
  | 'receipt-count'
  | 'receipt-order'
  | 'log-placement'
  | 'malformed';

export type Proof =
  | {
      readonly level: 'receipts';
      readonly headerHash: 'verified' | 'unchecked';
    }
  | { readonly level: 'not-applicable' }
  | Unproven;

export interface Unproven {
  readonly level: 'unproven';
  readonly reason: UnprovenReason;
  readonly expected: string;
  readonly computed: string;
}

export interface BlockWithReceipts {
  readonly header: BlockHeader;
  readonly transactionHashes: readonly Hash[];
  readonly receipts: readonly Receipt[];
}

export type ProvableChain = Pick<Chain, 'receiptsRoot' | 'headerHash'>;

/** Places of receipts and logs, and roots. Never throws for upstream data. */
export function proveBlock(whole: BlockWithReceipts, chain: ProvableChain): Proof {
  try {
    const misplaced = checkReceipts(whole, chain) ?? checkLogs(whole);
    if (misplaced !== null) return misplaced;
    if (chain.receiptsRoot === 'none') return { level: 'not-applicable' };
    return proveRoots(whole, contextOf(whole.header, chain.receiptsRoot), chain);
  } catch (error) {
    // BigInt() throws a SyntaxError for a malformed quantity.
    if (error instanceof InvalidHexBytesError || error instanceof SyntaxError)
      return unproven('malformed', 'hexadecimal fields', error.message);
    throw error;
  }
}

function proveRoots(whole: BlockWithReceipts, context: ReceiptsRootContext, chain: ProvableChain): Proof {
  const { header, receipts } = whole;
  if (header.receiptsRoot === null) return unproven('root-missing', 'a receipts root', 'none');
  // A matching root proves the given blooms. Computing them is a quarter of the work.
  if (receiptsRoot(receipts, context, 'given') !== header.receiptsRoot) {
    const root = receiptsRoot(receipts, context);
    // Invariant: PROOF-RECEIPTS-ROOT
    if (root !== header.receiptsRoot) return unproven('root-mismatch', header.receiptsRoot, root);
  }
  if (!chain.headerHash) return { level: 'receipts', headerHash: 'unchecked' };
  const check = checkHeaderHash(header.raw, header.hash);
  if (check.result === 'mismatch') return unproven('header-hash-mismatch', header.hash, check.computed);
  return { level: 'receipts', headerHash: check.result };
}

function contextOf(header: BlockHeader, encoding: ReceiptsRootContext['encoding']): ReceiptsRootContext {
  return { encoding, blockNumber: header.number, blockHash: header.hash };
}

function checkReceipts(whole: BlockWithReceipts, chain: ProvableChain): Unproven | null {
  const { header, transactionHashes } = whole;
  // Some nodes list HyperCore's system transactions, some omit them.
  if (chain.receiptsRoot === 'hyperliquid') return checkSubsequence(whole);
  let { receipts } = whole;
  if (receipts.length > transactionHashes.length) {
    receipts = committedReceipts(receipts, contextOf(header, 'ethereum'));
    // Celo's before it became a rollup: the last receipt may be of the block itself. The root contains it.
    const last = receipts.at(-1);
    if (last?.transactionHash === header.hash && last.transactionIndex === transactionHashes.length)
      receipts = receipts.slice(0, -1);
  }
  if (receipts.length !== transactionHashes.length)
    return unproven('receipt-count', `${transactionHashes.length} receipts`, `${receipts.length} receipts`);
  for (const [index, receipt] of receipts.entries()) {
    const expected = transactionHashes[index] ?? '';
    const { transactionHash, transactionIndex } = receipt;
    if (transactionHash !== expected || transactionIndex !== index)
      return unproven('receipt-order', `${expected} at ${index}`, `${transactionHash} at ${transactionIndex}`);
  }
  return null;
}

function checkSubsequence(whole: BlockWithReceipts): Unproven | null {
  const receipts = committedReceipts(whole.receipts, contextOf(whole.header, 'hyperliquid'));
  let from = 0;
  for (const receipt of receipts) {
    const at = whole.transactionHashes.indexOf(receipt.transactionHash, from);
    if (at < 0) return unproven('receipt-order', 'transactions of the block in order', receipt.transactionHash);
    from = at + 1;
  }
  return null;
}

/** The trie has no block or transaction; the log index follows from the position. */
function checkLogs(whole: BlockWithReceipts): Unproven | null {
  const { header } = whole;
  for (const receipt of whole.receipts)
    for (const log of receipt.logs)
      if (
        log.blockHash !== header.hash ||
        log.blockNumber !== header.number ||
        log.transactionHash !== receipt.transactionHash ||
        log.transactionIndex !== receipt.transactionIndex
      )
        return unproven('log-placement', placement(header.hash, receipt), placement(log.blockHash, log));
  return null;
}

function placement(block: Hash, at: Pick<Receipt, 'transactionHash' | 'transactionIndex'>): string {
  return `block ${block}, transaction ${at.transactionHash} at ${at.transactionIndex}`;
}

function unproven(reason: UnprovenReason, expected: string, computed: string): Unproven {
  return { level: 'unproven', reason, expected, computed };
}
