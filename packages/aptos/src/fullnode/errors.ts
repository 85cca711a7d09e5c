import { ChainsteadError, defineError } from '@chainstead/core';

/** Why a fullnode call failed. */
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

/** One call to one fullnode failed. Others may succeed. */
export class FullnodeFault extends ChainsteadError {
  readonly kind: FullnodeFaultKind;
  /** Retry delay that the fullnode requested, milliseconds. */
  readonly waitMs: number | undefined;

  constructor(kind: FullnodeFaultKind, message: string, details: { waitMs?: number; cause?: unknown } = {}) {
    super({
      code: 'FULLNODE_FAULT',
      message,
      facts: { kind },
      retryable: kind !== 'wrong-chain',
      cause: details.cause,
    });
    this.kind = kind;
    this.waitMs = details.waitMs;
  }
}

/** The error of one fullnode, for the message of an error about all of them. */
export interface FullnodeComplaint {
  readonly fullnode: string;
  readonly complaint: string;
}

/** No fullnode returned a usable response. */
export class FullnodesExhaustedError extends defineError(
  'FULLNODES_EXHAUSTED',
  (facts: { chain: string; call: string; complaints: readonly FullnodeComplaint[] }) => {
    const said = facts.complaints.map(({ fullnode, complaint }) => `${fullnode}: ${complaint}`).join('; ');
    return {
      message: `No fullnode of ${facts.chain} returned a result for ${facts.call} (${said === '' ? 'none is available' : said})`,
      remedy: 'Check the fullnodes of this network, or add one',
      retryable: true,
    };
  },
) {}

/** Every fullnode has pruned the requested version. */
export class VersionsPrunedError extends ChainsteadError {
  /** The lowest version that one of the fullnodes still has. */
  readonly oldest: number;

  constructor(facts: { chain: string; version: number; oldest: number; fullnodes: readonly string[] }) {
    super({
      code: 'VERSIONS_PRUNED',
      message: `Version ${facts.version} of ${facts.chain} is pruned from every fullnode. The oldest version that ${facts.fullnodes.join(', ')} still ${facts.fullnodes.length === 1 ? 'has' : 'have'} is ${facts.oldest}`,
      facts,
      remedy: `Add a fullnode with the full history, or start at version ${facts.oldest}`,
      retryable: false,
    });
    this.oldest = facts.oldest;
  }
}

/** Two fullnodes returned different accumulator roots, so their ledgers differ. */
export class RootMismatchError extends defineError(
  'ACCUMULATOR_ROOT_MISMATCH',
  (facts: {
    chain: string;
    version: number;
    first: { fullnode: string; root: string };
    second: { fullnode: string; root: string };
  }) => {
    const { first, second } = facts;
    return {
      message: `Two fullnodes differ after version ${facts.version} of ${facts.chain}: ${first.fullnode} returns the accumulator root ${first.root}, ${second.fullnode} returns ${second.root}`,
      remedy: 'Determine which of the two serves the correct ledger, remove the other, and restart',
    };
  },
) {}
