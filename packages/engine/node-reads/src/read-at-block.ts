import { type Hash, toQuantity } from '@chainstead/core';
import {
  type Answer,
  type RequestOptions,
  RpcCallError,
  type UpstreamPool,
  UpstreamsExhaustedError,
} from '@chainstead/rpc';
import { StateNotArchivedError, StateUnavailableError } from './state-error.ts';

/** A number alone is whichever block an upstream has there. */
export type BlockToRead =
  | { readonly number: number; readonly hash: Hash }
  | { readonly number: number }
  | 'latest';

type AtBlock<T> = (tag: unknown, options: RequestOptions) => Promise<Answer<T>>;

export interface StateBlockReader {
  /** Null before the first result. */
  readonly upstream: string | null;
  /** @throws as {@link StateAt}, RpcCallError; StateUnavailableError */
  ask<T>(perform: AtBlock<T>, signal: AbortSignal): Promise<Answer<T>>;
}

/** EIP-1898 was refused: their blocks are read by number. */
const WITHOUT_HASHES = new WeakSet<UpstreamPool>();

export function createBlockReader(
  pool: UpstreamPool,
  block: BlockToRead,
  exclude: ReadonlySet<string>,
): StateBlockReader {
  let upstream: string | null = null;

  /** All upstreams may reject only the tag: the call is repeated by number. */
  async function byHash<T>(perform: AtBlock<T>, at: { number: number; hash: Hash }, signal: AbortSignal) {
    try {
      return await perform({ blockHash: at.hash, requireCanonical: true }, { signal, exclude });
    } catch (error) {
      if (!(error instanceof RpcCallError) || !error.disputable || error.about === 'execution') throw error;
      const answer = await byNumber(perform, at, signal);
      WITHOUT_HASHES.add(pool);
      return answer;
    }
  }

  /** One after the other: the hash must be that of the upstream which responds. */
  async function byNumber<T>(
    perform: AtBlock<T>,
    { number, hash }: { number: number; hash: Hash },
    signal: AbortSignal,
  ): Promise<Answer<T>> {
    const tag = toQuantity(number);
    const tried = new Set(exclude);
    const hashAt = async (options: RequestOptions): Promise<Answer<unknown>> => {
      const answer = await pool.request('eth_getBlockByNumber', [tag, false], { ...options, signal });
      return { value: Object(answer.value).hash, upstream: answer.upstream };
    };
    let failure: unknown = null;
    for (;;) {
      const before = await hashAt({ exclude: tried, minBlock: number }).catch((error: unknown) => {
        throw failure ?? error;
      });
      tried.add(before.upstream);
      try {
        if (before.value === hash) {
          const answer = await perform(tag, { only: before.upstream, signal });
          const after = await hashAt({ only: before.upstream });
          if (after.value === hash) return answer;
        }
        failure ??= new StateUnavailableError(`Block ${number} of the nodes differs from the indexed block`);
      } catch (error) {
        if (!(error instanceof UpstreamsExhaustedError)) throw error;
        // A pruned state counts only if all upstreams report it.
        if (failure === null || isPruned(failure)) failure = error;
      }
    }
  }

  function answer<T>(perform: AtBlock<T>, signal: AbortSignal): Promise<Answer<T>> {
    if (block === 'latest') return perform('latest', { signal, exclude });
    if (!('hash' in block)) return perform(toQuantity(block.number), { signal, exclude, minBlock: block.number });
    return WITHOUT_HASHES.has(pool) ? byNumber(perform, block, signal) : byHash(perform, block, signal);
  }

  return {
    get upstream() {
      return upstream;
    },
    async ask(perform, signal) {
      try {
        const given = await answer(perform, signal);
        upstream = given.upstream;
        return given;
      } catch (error) {
        if (block !== 'latest' && isPruned(error)) throw StateNotArchivedError.at(block.number);
        throw error;
      }
    },
  };
}

function isPruned(error: unknown): boolean {
  return error instanceof UpstreamsExhaustedError && error.isPruned;
}
