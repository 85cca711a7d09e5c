/**
 * Reads a block whole and proves it, asking one upstream after another until one's receipts reproduce the header's root.
 */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import type { Block, BlockHeader, Hash, Log, Receipt } from '@chainstead/core';
import { ChainsteadError } from '@chainstead/core';
import { type ProofLevel, proveBlock } from '@chainstead/proof';
import type { RequestOptions, UpstreamPool } from '@chainstead/rpc';
import type { InternalTransfer } from './block-watcher.ts';
import { UnprovenBlockError } from './errors.ts';

/** What a chain that commits otherwise may legitimately show; stored as `unproven` under the policy `record`. */
const RECORDABLE: ReadonlySet<string> = new Set([
  'root-mismatch',
  'root-missing',
  'header-hash-mismatch',
  'receipt-count',
]);

export interface ProvenBlock {
  readonly header: BlockHeader;
  readonly block: Block;
  readonly receipts: readonly Receipt[];
  readonly logs: readonly Log[];
  /** Null where nobody asked for them. */
  readonly internalTransfers: readonly InternalTransfer[] | null;
  readonly level: ProofLevel;
  readonly reason: string | null;
  readonly upstream: string;
}

/** How far a block is proven, and by whose answer. */
export interface ProvenLevel extends Pick<ProvenBlock, 'level' | 'reason' | 'upstream'> {
  readonly header: Pick<BlockHeader, 'number'>;
}

/**
 * Null when no upstream (but those excluded) has the block. Transaction objects come along when asked for.
 * @throws UnprovenBlockError under the policy `strict` when no upstream's answer proves itself.
 */
export async function readProvenBlock(
  pool: UpstreamPool,
  chain: Chain,
  policy: ProofPolicy,
  at: number | Hash,
  signal?: AbortSignal,
  exclude: ReadonlySet<string> = new Set(),
  transactions = false,
): Promise<ProvenBlock | null> {
  const refused = new Set<string>(exclude);
  let unproven: ProvenBlock | null = null;
  let lastReason: string | null = null;
  for (;;) {
    const answer = await readWhole(pool, at, {
      exclude: refused,
      transactions,
      ...(signal === undefined ? {} : { signal }),
    });
    if (answer === null) break;
    const { block, receipts } = answer.value;
    const proof = proveBlock({ header: block.header, transactionHashes: block.transactionHashes, receipts }, chain);
    const found: ProvenBlock = {
      header: block.header,
      block,
      receipts,
      logs: receipts.flatMap((receipt) => receipt.logs),
      internalTransfers: null,
      level: proof.level,
      reason: proof.level === 'unproven' ? proof.reason : null,
      upstream: answer.upstream,
    };
    if (proof.level !== 'unproven') return found;
    pool.reportFault(
      answer.upstream,
      proof.reason === 'header-hash-mismatch' ? 'header-hash-mismatch' : 'receipts-root-mismatch',
      { block: block.header.number, reason: proof.reason },
    );
    // An answer whose logs contradict themselves is never stored, whatever the policy.
    if (RECORDABLE.has(proof.reason)) unproven ??= found;
    lastReason = proof.reason;
    refused.add(answer.upstream);
  }
  if (unproven !== null && policy === 'record') return unproven;
  if (lastReason === null) return null;
  throw new UnprovenBlockError({
    chain: chain.key,
    block: at,
    reason: lastReason,
    upstreams: [...refused],
  });
}

/** Null when nobody has the block, or when nobody is left to ask after some were refused. */
async function readWhole(
  pool: UpstreamPool,
  at: number | Hash,
  options: RequestOptions & { readonly exclude: ReadonlySet<string>; readonly transactions: boolean },
) {
  try {
    return await pool.getWholeBlock(at, options);
  } catch (error) {
    // Once some answer is in hand, the others being down must not hide what was found.
    if (options.exclude.size > 0 && error instanceof ChainsteadError && !options.signal?.aborted) return null;
    throw error;
  }
}
