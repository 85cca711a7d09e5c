import { ChainsteadError, defineError } from '@chainstead/core';

export type FullnodeFaultKind =
  | 'connection'
  | 'timeout'
  | 'throttled'
  | 'server-error'
  | 'rejected'
  | 'truncated'
  | 'too-large'
  | 'malformed'
  | 'wrong-versions'
  | 'behind'
  | 'pruned'
  | 'wrong-chain';

/** One call to one fullnode failed. */
export class FullnodeFault extends ChainsteadError {
  readonly kind: FullnodeFaultKind;
  /** Requested by the fullnode, milliseconds. */
  readonly waitMs: number | undefined;

  constructor(kind: FullnodeFaultKind, message: string, details: { waitMs?: number; cause?: unknown } = {}) {
    const retryable = kind !== 'wrong-chain';
    super({ code: 'FULLNODE_FAULT', message, facts: { kind }, retryable, cause: details.cause });
    this.kind = kind;
    this.waitMs = details.waitMs;
  }
}

export class FullnodesExhaustedError extends defineError(
  'FULLNODES_EXHAUSTED',
  (facts: { chain: string; call: string; complaints: readonly { fullnode: string; complaint: string }[] }) => {
    const complaints = facts.complaints.map(({ fullnode, complaint }) => `${fullnode}: ${complaint}`).join('; ');
    return {
      message: `No fullnode of ${facts.chain} returned a result for ${facts.call} (${complaints === '' ? 'none is available' : complaints})`,
      remedy: 'Check the fullnodes of this network, or add one',
      retryable: true,
    };
  },
) {}

export class VersionsPrunedError extends defineError(
  'VERSIONS_PRUNED',
  (facts: { chain: string; version: number; oldest: number; fullnodes: readonly string[] }) => ({
    message: `Version ${facts.version} of ${facts.chain} is pruned from every fullnode. The oldest version that ${facts.fullnodes.join(', ')} still ${facts.fullnodes.length === 1 ? 'has' : 'have'} is ${facts.oldest}`,
    remedy: `Add a fullnode with the full history, or start at version ${facts.oldest}`,
  }),
) {
  readonly oldest: number = Number(this.facts.oldest);
}

/** Two fullnodes returned different accumulator roots, so their ledgers differ. */
export class RootMismatchError extends defineError(
  'ACCUMULATOR_ROOT_MISMATCH',
  ({
    chain,
    version,
    first,
    second,
  }: {
    chain: string;
    version: number;
    first: GivenRoot;
    second: GivenRoot;
  }) => ({
    message: `Two fullnodes differ after version ${version} of ${chain}: ${first.fullnode} returns the accumulator root ${first.root}, ${second.fullnode} returns ${second.root}`,
    remedy: 'Determine which of the two serves the correct ledger, remove the other, and restart',
  }),
) {}

export interface GivenRoot {
  readonly fullnode: string;
  readonly root: string;
}
