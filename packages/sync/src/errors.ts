import { type BlockRange, ChainsteadError } from '@chainstead/core';

/** The chain's nodes left a branch that is older than what is rolled back without asking. */
export class ReorgTooDeepError extends ChainsteadError {
  constructor(facts: {
    chain: string;
    checkpoint: number;
    lowestCompared: number;
    depthMax: number;
    upstream: string;
  }) {
    super({
      code: 'REORG_TOO_DEEP',
      message: `The upstream ${facts.upstream} follows a branch of ${facts.chain} that shares no block with the indexed one from ${facts.lowestCompared} to ${facts.checkpoint}, and a rollback of more than ${facts.depthMax} blocks is not made without asking`,
      facts,
      remedy: `Check the upstream against another one; if its branch is right, start once with REORG_DEPTH_MAX_${facts.chain.toUpperCase().replaceAll('-', '_')} above ${facts.checkpoint - facts.lowestCompared}`,
      retryable: false,
    });
  }
}

/** No upstream gave receipts that reproduce the header's receipts root, on a chain where they must. */
export class UnprovenBlockError extends ChainsteadError {
  constructor(facts: {
    chain: string;
    block: number | string;
    reason: string;
    policy: string;
    upstreams: readonly string[];
  }) {
    const setting = `PROOF_${facts.chain.toUpperCase().replaceAll('-', '_')}`;
    const recording = facts.policy === 'record' ? '' : `, or set ${setting}=record to store such blocks as unproven`;
    super({
      code: 'UNPROVEN_BLOCK',
      message: `Block ${facts.block} of ${facts.chain} could not be proven (${facts.reason}) with any of ${facts.upstreams.join(', ')}`,
      facts,
      remedy: `Add another upstream${recording}`,
      retryable: true,
    });
  }
}

/** Another process wrote the checkpoint since this one read it. */
export class CheckpointMovedError extends ChainsteadError {
  constructor(facts: { chain: string; expected: number | null }) {
    super({
      code: 'CHECKPOINT_MOVED',
      message: `The checkpoint of ${facts.chain} is no longer ${facts.expected ?? 'unset'}: another ingest process wrote it`,
      facts,
      retryable: true,
    });
  }
}

/** The upstream's chain changed while it was being read, or it does not have what it announced. */
export class ChainMovedError extends ChainsteadError {
  constructor(facts: { chain: string; what: string }) {
    super({
      code: 'CHAIN_MOVED',
      message: `Reading ${facts.chain} has to start over: ${facts.what}`,
      facts,
      retryable: true,
    });
  }
}

/** What watches the chain needs to see more of blocks than was read: they are read again. */
export class WatchNeedsChangedError extends ChainsteadError {
  constructor(facts: {
    chain: string;
    block: number;
    lacks: 'transactions' | 'proven transactions' | 'internal transfers';
  }) {
    super({
      code: 'WATCH_NEEDS_CHANGED',
      message: `Block ${facts.block} of ${facts.chain} was read without its ${facts.lacks}, which is needed by now`,
      facts,
      retryable: true,
    });
  }
}

/** A transaction names another sender than signed it, which came out when its block was about to be committed: the block is read again, from who tells the truth. */
export class SenderContradictedError extends ChainsteadError {
  constructor(facts: { chain: string; block: number; upstream: string }) {
    super({
      code: 'SENDER_CONTRADICTED',
      message: `A transaction of block ${facts.block} of ${facts.chain} was not signed by the sender that ${facts.upstream} names`,
      facts,
      retryable: true,
    });
  }
}

/** No upstream gives what datasets read of a block besides its logs: those datasets lack it. */
export class UnavailableBlocksError extends ChainsteadError {
  constructor(facts: { chain: string; block: number; part: string; reason: string }) {
    const what = facts.part === 'internalTransactions' ? 'traces' : 'transactions';
    super({
      code: 'BLOCK_PART_UNAVAILABLE',
      message: `The ${what} of block ${facts.block} of ${facts.chain} could not be read or proven (${facts.reason}): datasets that need them lack blocks`,
      facts,
      remedy:
        what === 'traces'
          ? `Add an upstream with debug_traceBlockByHash or trace_block to RPC_URLS_${facts.chain.toUpperCase().replaceAll('-', '_')}; "chainstead gaps" shows what is missing`
          : `Add another upstream, or set PROOF_${facts.chain.toUpperCase().replaceAll('-', '_')}=record to store such transactions as unproven`,
      retryable: true,
    });
  }
}

/** Another work (backfill, prover, reindex) holds part of the range. */
export class RangeClaimedError extends ChainsteadError {
  constructor(facts: { chain: string; range: BlockRange; purpose: string }) {
    super({
      code: 'RANGE_CLAIMED',
      message: `Blocks ${facts.range.from} to ${facts.range.to} of ${facts.chain} are being worked on by another ${facts.purpose}`,
      facts,
      remedy: 'Try again when it has finished; "chainstead status" shows what runs',
      retryable: true,
    });
  }
}

/** A command asks for blocks that may still be reorganised, or that do not exist yet. */
export class RangeNotFinalError extends ChainsteadError {
  constructor(facts: { chain: string; range: BlockRange; highestFinal: number }) {
    super({
      code: 'RANGE_NOT_FINAL',
      message: `Blocks ${facts.range.from} to ${facts.range.to} of ${facts.chain} reach above ${facts.highestFinal}, the highest block that can no longer be reorganised`,
      facts,
      remedy: `Ask for --to ${facts.highestFinal} or lower; "chainstead start" follows what is above`,
      retryable: false,
    });
  }
}
