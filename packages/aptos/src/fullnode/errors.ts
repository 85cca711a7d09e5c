import { ChainsteadError } from '@chainstead/core';

/** What an answer of a fullnode was wrong with. */
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

/** One call to one fullnode failed. Others may do better. */
export class FullnodeFault extends ChainsteadError {
  readonly kind: FullnodeFaultKind;
  /** How long the fullnode asked to be left alone, in milliseconds. */
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

/** What one fullnode said, for the message of an error about all of them. */
export interface FullnodeComplaint {
  readonly fullnode: string;
  readonly complaint: string;
}

/** No fullnode gave a usable answer. */
export class FullnodesExhaustedError extends ChainsteadError {
  constructor(facts: { chain: string; call: string; complaints: readonly FullnodeComplaint[] }) {
    const said = facts.complaints.map(({ fullnode, complaint }) => `${fullnode}: ${complaint}`).join('; ');
    super({
      code: 'FULLNODES_EXHAUSTED',
      message: `No fullnode of ${facts.chain} answered ${facts.call} (${said === '' ? 'none could be asked' : said})`,
      facts,
      remedy: 'Check the fullnodes, or add one',
      retryable: true,
    });
  }
}

/** Every fullnode has thrown away what was asked for. */
export class VersionsPrunedError extends ChainsteadError {
  /** The lowest version that one of the fullnodes still has. */
  readonly oldest: number;

  constructor(facts: { chain: string; version: number; oldest: number; fullnodes: readonly string[] }) {
    super({
      code: 'VERSIONS_PRUNED',
      message: `Version ${facts.version} of ${facts.chain} is pruned from every fullnode; the oldest version that ${facts.fullnodes.join(', ')} still ${facts.fullnodes.length === 1 ? 'has' : 'have'} is ${facts.oldest}`,
      facts,
      remedy: `Add a fullnode that keeps the whole history, or begin at ${facts.oldest}`,
      retryable: false,
    });
    this.oldest = facts.oldest;
  }
}

/** Two fullnodes gave different roots of the ledger's accumulator: one of them is not the ledger that the other is. */
export class RootMismatchError extends ChainsteadError {
  constructor(facts: {
    chain: string;
    version: number;
    first: { fullnode: string; root: string };
    second: { fullnode: string; root: string };
  }) {
    const { first, second } = facts;
    super({
      code: 'ACCUMULATOR_ROOT_MISMATCH',
      message: `After version ${facts.version} of ${facts.chain}, ${first.fullnode} gives the accumulator root ${first.root} and ${second.fullnode} gives ${second.root}`,
      facts,
      remedy: 'Find out which of the two serves the true ledger, remove the other, and start again',
      retryable: false,
    });
  }
}
