import { type Block, type BlockHeader, ChainsteadError, type Hash, inParts, toQuantity } from '@chainstead/core';
import type { Failover } from '../failover/failover.ts';
import { runNullable } from '../failover/nullable-operation.ts';
import { parseBlock, parseHeader } from '../formats/parse-block.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { CallOptions } from '../transport/rpc-exchange.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions, UpstreamPool } from '../upstream-pool.ts';

/** All upstreams must return null this often before an announced block counts as missing. */
const NULL_PATIENCE = 3;
const HEADERS_PER_RUN = 100;

export function createBlockFetcher({
  failover,
}: {
  readonly failover: Failover;
}): Pick<UpstreamPool, 'getBlock' | 'getHeaders'> {
  async function someHeaders(
    numbers: readonly number[],
    options: RequestOptions,
  ): Promise<Answer<BlockHeader>[]> {
    const headers = new Map<number, Answer<BlockHeader>>();
    const highest = numbers.reduce((max, number) => Math.max(max, number), 0);
    await failover.run(
      {
        method: 'eth_getBlockByNumber',
        isRepeatable: true,
        async run(upstream, signal) {
          const rest = numbers.filter((number) => !headers.has(number));
          const calls = rest.map((number) => blockCall(number));
          const outcomes = await upstream.callMany(calls, { signal, timeoutMs: options.timeoutMs });
          let problem: Error | null = null;
          for (const [index, outcome] of outcomes.entries()) {
            const number = rest[index] ?? 0;
            const value = outcome.ok ? readHeader(upstream, outcome.result, number) : outcome.error;
            if (value instanceof Error) problem ??= value;
            else {
              upstream.state.setServed(number);
              headers.set(number, { value, upstream: upstream.name });
            }
          }
          if (problem !== null) throw problem;
        },
      },
      { minBlock: highest, ...options },
    );
    return numbers.flatMap((number) => headers.get(number) ?? []);
  }

  return {
    getBlock(at, given = {}) {
      const { method, params } = blockCall(at, given);
      return runAt<Block>(failover, at, given, async (upstream, options) => {
        const result = await upstream.call(method, params, options);
        if (result === null) return null;
        const block = parseBlock(result);
        checkIdentity(block.header, at);
        upstream.state.setServed(block.header.number);
        return block;
      });
    },

    async getHeaders(numbers, given = {}) {
      const parts = inParts(numbers, HEADERS_PER_RUN).map((part) => someHeaders(part, given));
      return (await Promise.all(parts)).flat();
    },
  };
}

export async function runAt<T>(
  failover: Failover,
  at: number | Hash,
  given: RequestOptions,
  run: (upstream: Upstream, options: CallOptions) => Promise<T | null>,
): Promise<Answer<T> | null> {
  const isNumber = typeof at === 'number';
  const { value, upstream } = await runNullable<T>(
    failover,
    {
      method: blockCall(at).method,
      isRepeatable: true,
      patience: NULL_PATIENCE,
      countNull: isNumber,
      block: isNumber ? at : undefined,
      run: (chosen, signal) => run(chosen, callOptions(given, signal)),
    },
    given,
  );
  return value === null ? null : { value, upstream };
}

export function callOptions(
  { timeoutMs, background }: RequestOptions,
  signal: AbortSignal | undefined,
): CallOptions {
  return { signal, timeoutMs, rank: background === true ? 'history' : 'follow' };
}

export function blockCall(
  at: number | Hash,
  { transactions = false }: { readonly transactions?: boolean | undefined } = {},
): { method: string; params: readonly unknown[] } {
  return typeof at === 'number'
    ? { method: 'eth_getBlockByNumber', params: [toQuantity(at), transactions] }
    : { method: 'eth_getBlockByHash', params: [at, transactions] };
}

function readHeader(upstream: Upstream, json: unknown, number: number): BlockHeader | Error {
  if (json === null)
    return upstream.fault('missing-block', 'eth_getBlockByNumber', `answered null for block ${number}`);
  try {
    const header = parseHeader(json);
    checkIdentity(header, number);
    return header;
  } catch (error) {
    if (error instanceof ChainsteadError) return error;
    throw error;
  }
}

/** @throws MalformedAnswerError if it is another block */
export function checkIdentity(header: BlockHeader, at: number | Hash): void {
  const given = typeof at === 'number' ? header.number : header.hash;
  if (given !== at) throw new MalformedAnswerError(`The response has block ${given}, but ${at} was requested`);
}
