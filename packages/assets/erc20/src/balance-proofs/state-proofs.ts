import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError, type Hash, toQuantity } from '@chainstead/core';
import type { StateBlock } from '@chainstead/node-reads/requests';
import {
  type CommittedStateRoot,
  committedStateRoot,
  InvalidHexBytesError,
  InvalidStateProofError,
  type ProvenAccount,
  verifyAccountProof,
} from '@chainstead/proof';
import { NoUpstreamError, RpcCallError, type UpstreamPool, UpstreamsExhaustedError } from '@chainstead/rpc';

export interface RefusedAnswer {
  readonly upstream: string;
  readonly why: string;
}

export interface StateProofs {
  /** Upstreams with invalid headers or proofs, once each. */
  readonly refused: readonly RefusedAnswer[];
  /** @throws UnprovableError, RequestAbortedError */
  read(address: Address, slots: readonly Hash[], signal: AbortSignal): Promise<ProvenAccount>;
}

interface StateProofReader extends StateProofs {
  /** @throws as read */
  readWithProof(address: Address, slots: readonly Hash[], signal: AbortSignal): Promise<AccountWithProof>;
}

/** `proof`: the verified response of `eth_getProof`. */
type AccountWithProof = { readonly account: ProvenAccount; readonly proof: unknown };

export type BlockOfState = Pick<StateBlock, 'number' | 'hash'>;

interface StateProofsOptions {
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly block: BlockOfState;
}

const UPSTREAMS_MAX = 3;

/** Under the state root of a known hash. An invalid proof leads to the next upstream. */
export function createStateProofs(options: StateProofsOptions): StateProofReader {
  const refused: RefusedAnswer[] = [];
  const refuse: Refuse = (upstream, why) => {
    if (!refused.some((answer) => answer.upstream === upstream)) refused.push({ upstream, why });
  };
  let root: Promise<Hash> | null = null;
  const readWithProof: StateProofReader['readWithProof'] = async (address, slots, signal) => {
    root ??= readStateRoot(options, refuse, signal);
    try {
      const stateRoot = await root;
      return await readProof(options, { stateRoot, address, slots }, refuse, signal);
    } catch (error) {
      root = null;
      throw error;
    }
  };
  return {
    refused,
    readWithProof,
    read: async (address, slots, signal) => (await readWithProof(address, slots, signal)).account,
  };
}

type Refuse = (upstream: string, why: string) => void;

async function readStateRoot(
  { pool, chain, block }: StateProofsOptions,
  refuse: Refuse,
  signal: AbortSignal,
): Promise<Hash> {
  const tried = new Set<string>();
  while (tried.size < UPSTREAMS_MAX) {
    const answer = await ifAnother(tried, () => pool.getBlock(block.hash, { exclude: tried, signal }));
    if (answer === null) break;
    const check = checkHeader(answer.value.header.raw, block.hash);
    if (check.result === 'verified') return check.stateRoot;
    tried.add(answer.upstream);
    if (check.result === 'mismatch' && chain.headerHash) {
      refuse(answer.upstream, `its header of block ${block.number} does not hash to the block's hash`);
      pool.reportFault(answer.upstream, 'header-hash-mismatch', { block: block.number });
    }
  }
  if (tried.size === 0)
    throw new UnprovableError('no-proof-from-upstream', `no upstream has block ${block.number} (${block.hash})`);
  throw new UnprovableError(
    'header-not-verifiable',
    `the header of block ${block.number} does not hash to ${block.hash} by an encoding that is known`,
  );
}

async function readProof(
  { pool, block }: StateProofsOptions,
  requested: { readonly stateRoot: Hash; readonly address: Address; readonly slots: readonly Hash[] },
  refuse: Refuse,
  signal: AbortSignal,
): Promise<AccountWithProof> {
  const params = [requested.address, requested.slots, toQuantity(block.number)];
  const tried = new Set<string>();
  let last = 'no proof';
  while (tried.size < UPSTREAMS_MAX) {
    const options = { exclude: tried, minBlock: block.number, signal };
    const answer = await ifAnother(tried, () => pool.request('eth_getProof', params, options));
    if (answer === null) break;
    const { upstream, value } = answer;
    try {
      return { account: verifyAccountProof(value, requested), proof: value };
    } catch (error) {
      if (!(error instanceof InvalidStateProofError)) throw error;
      if (error.fault === 'account-encoding')
        throw new UnprovableError('no-proof-from-upstream', error.message, error);
      tried.add(upstream);
      refuse(upstream, error.message);
      // Another root may belong to a block that replaced this one.
      if (error.fault !== 'other-root')
        pool.reportFault(upstream, 'malformed', { method: 'eth_getProof', fault: error.fault });
      last = error.message;
    }
  }
  throw new UnprovableError('no-proof-from-upstream', `${[...tried].join(', ')}: ${last}`);
}

/** Null if there was a response and no upstream is left. */
async function ifAnother<T>(tried: ReadonlySet<string>, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    const isUnanswered =
      error instanceof UpstreamsExhaustedError ||
      error instanceof RpcCallError ||
      error instanceof NoUpstreamError;
    if (!isUnanswered) throw error;
    if (tried.size > 0) return null;
    const isPruned = error instanceof UpstreamsExhaustedError && error.isPruned;
    throw new UnprovableError(isPruned ? 'not-archived' : 'no-proof-from-upstream', error.message, error);
  }
}

function checkHeader(raw: Readonly<Record<string, unknown>>, hash: Hash): CommittedStateRoot {
  try {
    return committedStateRoot(raw, hash);
  } catch (error) {
    // BigInt() throws a SyntaxError for an invalid quantity.
    if (error instanceof InvalidHexBytesError || error instanceof SyntaxError) return { result: 'mismatch' };
    throw error;
  }
}

export type UnprovableReason =
  /** No known slot holds the balances, or no holders are known to search with. */
  | 'no-slot-found'
  /** The token computes balances from stored values (`live`). */
  | 'rebasing'
  /** The stored value is not the balance, and upstreams agree on another one. */
  | 'not-plain'
  | 'no-balance'
  /** No upstream supports `eth_getProof`, or none returns a valid proof. */
  | 'no-proof-from-upstream'
  /** The header does not hash to the block hash with any known encoding. */
  | 'header-not-verifiable'
  /** No upstream has the state of the block any more. */
  | 'not-archived';

export class UnprovableError extends ChainsteadError {
  readonly reason: UnprovableReason;
  readonly why: string;

  constructor(reason: UnprovableReason, why: string, cause?: unknown) {
    super({
      code: 'BALANCE_UNPROVABLE',
      message: `The balance can't be proven (${reason}): ${why}`,
      facts: { reason },
      retryable: false,
      cause,
    });
    this.reason = reason;
    this.why = why;
  }
}
