import { type BlockRange, defineError } from '@chainstead/core';

/** The nodes abandoned a branch that is deeper than the rollback allowed without approval. */
export class ReorgTooDeepError extends defineError(
  'REORG_TOO_DEEP',
  (facts: { chain: string; checkpoint: number; lowestCompared: number; depthMax: number; upstream: string }) => ({
    message: `The upstream ${facts.upstream} has no block in common with the indexed branch of ${facts.chain} (blocks ${facts.lowestCompared} to ${facts.checkpoint}), and a rollback of more than ${facts.depthMax} blocks needs approval`,
    remedy: `Compare the upstream with another one. If its branch is right, start once with REORG_DEPTH_MAX_${facts.chain.toUpperCase().replaceAll('-', '_')} above ${facts.checkpoint - facts.lowestCompared}`,
  }),
) {}

/** A development chain was restarted with its chain id, or the database is of another chain with this id. */
export class ChainResetError extends defineError(
  'CHAIN_RESET',
  (facts: { chain: string; block: number; stored: string; found: string; upstreams: readonly string[] }) => {
    const setting = facts.chain.toUpperCase().replaceAll('-', '_');
    return {
      // Found is its hash there, or that it is above the head.
      message: `Block ${facts.block} of ${facts.chain} is ${facts.stored} in the database, and ${facts.found} at all its upstreams: ${facts.upstreams.join(', ')}. The chain was restarted with the same chain id, or it is another chain. Nothing was changed`,
      remedy: `If the upstreams are right, remove ${facts.chain} from CHAINS, restart, run "chainstead chains remove ${facts.chain}", and add it again. Or set DATABASE_URL to another database. Otherwise correct RPC_URLS_${setting}, or wait until its nodes have synchronized`,
    };
  },
) {}

/** No upstream returned receipts that match the header's receipts root, on a chain that requires proofs. */
export class UnprovenBlockError extends defineError(
  'UNPROVEN_BLOCK',
  (facts: {
    chain: string;
    block: number | string;
    reason: string;
    policy: string;
    upstreams: readonly string[];
  }) => {
    const setting = `VERIFICATION_${facts.chain.toUpperCase().replaceAll('-', '_')}`;
    const recording =
      facts.policy === 'record' ? '' : `, or set ${setting}=record to store such blocks as unproven`;
    return {
      message: `Block ${facts.block} of ${facts.chain} failed verification (${facts.reason}) on all upstreams: ${facts.upstreams.join(', ')}`,
      remedy: `Add another upstream${recording}`,
      retryable: true,
    };
  },
) {}

export class CheckpointMovedError extends defineError(
  'CHECKPOINT_MOVED',
  (facts: { chain: string; expected: number | null }) => ({
    message: `The checkpoint of ${facts.chain} is no longer ${facts.expected ?? 'unset'}: another ingest process wrote it`,
    retryable: true,
  }),
) {}

/** The upstream's chain changed during the read, or the upstream lacks data that it announced. */
export class ReorgedWhileReadingError extends defineError(
  'REORGED_WHILE_READING',
  (facts: { chain: string; what: string }) => ({
    message: `Chain ${facts.chain} has to be read again: ${facts.what}`,
    retryable: true,
  }),
) {}

/** An upstream or source returned blocks of another chain, which match their own headers and roots. */
export class OtherChainError extends defineError(
  'OTHER_CHAIN',
  (facts: {
    chain: string;
    block: number;
    hash: string;
    upstream: string;
    expected: { hash: string; source: string };
  }) => ({
    message: `Block ${facts.block} of ${facts.chain} is ${facts.hash} at ${facts.upstream}, and ${facts.expected.hash} at ${facts.expected.source}: one of them is on another chain`,
    remedy: `Compare the nodes in RPC_URLS_${facts.chain.toUpperCase().replaceAll('-', '_')}, and remove the one on another chain. The blocks are read again`,
    retryable: true,
  }),
) {}

/** The block watcher needs parts of blocks that were not read: the blocks are read again. */
export class WatchNeedsChangedError extends defineError(
  'WATCH_NEEDS_CHANGED',
  (facts: {
    chain: string;
    block: number;
    lacks: 'transactions' | 'proven transactions' | 'internal transfers';
  }) => ({
    message: `Block ${facts.block} of ${facts.chain} was read without its ${facts.lacks}, which are now needed`,
    retryable: true,
  }),
) {}

/** Detected just before the commit. The block is read again from another upstream. */
export class SenderContradictedError extends defineError(
  'SENDER_CONTRADICTED',
  (facts: { chain: string; block: number; upstream: string }) => ({
    message: `A transaction of block ${facts.block} of ${facts.chain} was not signed by the sender that ${facts.upstream} returned`,
    retryable: true,
  }),
) {}

/** No upstream returned transactions or traces that datasets read: those datasets have a gap. */
export class UnavailableBlocksError extends defineError(
  'BLOCK_PART_UNAVAILABLE',
  (facts: { chain: string; block: number; part: string; reason: string }) => {
    const what = facts.part === 'internalTransactions' ? 'traces' : facts.part;
    return {
      message: `The ${what} of block ${facts.block} of ${facts.chain} could not be read or verified (${facts.reason}): datasets that need them have a gap`,
      remedy:
        what === 'traces'
          ? `Add an upstream with debug_traceBlockByHash or trace_block to RPC_URLS_${facts.chain.toUpperCase().replaceAll('-', '_')}. "chainstead gaps" lists the missing blocks`
          : what === 'logs'
            ? 'Other blocks are not affected. "chainstead gaps" lists the missing blocks'
            : `Add another upstream, or set VERIFICATION_${facts.chain.toUpperCase().replaceAll('-', '_')}=record to store such transactions as unproven`,
      retryable: true,
    };
  },
) {}

export class RangeClaimedError extends defineError(
  'RANGE_CLAIMED',
  (facts: { chain: string; range: BlockRange; purpose: string }) => ({
    message: `Blocks ${facts.range.from} to ${facts.range.to} of ${facts.chain} are in use by another ${facts.purpose}`,
    remedy: 'Retry when the other work has finished. "chainstead status" shows running work',
    retryable: true,
  }),
) {}

/** A command requested blocks that may still be reorganized or don't exist yet. */
export class RangeNotFinalError extends defineError(
  'RANGE_NOT_FINAL',
  (facts: { chain: string; range: BlockRange; highestFinal: number }) => ({
    message: `Blocks ${facts.range.from} to ${facts.range.to} of ${facts.chain} exceed ${facts.highestFinal}, the highest final block`,
    remedy: `Set --to to ${facts.highestFinal} or lower. "chainstead start" indexes newer blocks`,
  }),
) {}
