import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, type Registry, silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ForwardingPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { type Closable, closeOf } from '@chainstead/testkit';
import { onTestFinished } from 'vitest';
import type { GatewayChain, Outcome, RequestScope } from '../../call.ts';
import { findMethod } from '../../methods/method-table.ts';
import type { RpcErrorObject } from '../../protocol/rpc-errors.ts';
import { createCallHandler } from '../create-call-handler.ts';

/** One API process: its own pool over the given upstreams, and a call handler over shared storage. */
export interface StageProcess extends Closable {
  readonly chain: GatewayChain;
  readonly metrics: Registry;
  /** Handles one call, in its own HTTP request or in the given scope. */
  outcome(method: string, params?: readonly unknown[], scope?: RequestScope): Outcome | Promise<Outcome>;
  /** As above, with the parsed result. @throws RefusedCall with the error response */
  ask(method: string, params?: readonly unknown[], scope?: RequestScope): Promise<unknown>;
  scope(signal?: AbortSignal): RequestScope;
}

export interface StageProcessOptions {
  readonly database: Database;
  readonly chainId: number;
  readonly urls: readonly string[];
  /** Wraps the forwarding of calls. */
  readonly wrapForward?: (forward: ForwardingPool['forward']) => ForwardingPool['forward'];
}

/** The call returned an error. */
export class RefusedCall extends Error {
  readonly answer: RpcErrorObject;

  constructor(answer: RpcErrorObject) {
    super(answer.message);
    this.answer = answer;
  }
}

/** Starts a process that ends with the test. */
export async function startProcess(options: StageProcessOptions): Promise<StageProcess> {
  const chain = stageChain(options);
  const metrics = createMetricsRegistry();
  const logger = silentLogger();
  await using parts = new AsyncDisposableStack();
  const upstreams = options.urls.map((url) => ({ url }));
  const pool = parts.adopt(createUpstreamPool({ chain, upstreams, logger, metrics, pollIntervalMs: 20 }), (one) =>
    one.close(),
  );
  await pool.start();
  const forward = options.wrapForward?.(pool.forward) ?? pool.forward;
  const gatewayChain: GatewayChain = {
    slug: chain.key,
    chain,
    pool: { ...pool, forward },
    pinsHead: options.urls.length > 1,
    logRangeMax: 10_000,
    integrity: 'none',
  };
  const { answer, close } = createCallHandler({
    database: options.database,
    strictForward: () => forward,
    // A busy machine is slow. The tests check the cached content, not the timing.
    settings: { storeTimeoutMs: 30_000 },
    clientVersion: 'chainstead/test',
    logger,
    metrics,
  });
  parts.defer(close);
  const scope = (signal?: AbortSignal): RequestScope => ({ chain: gatewayChain, signal, head: null });
  const outcome: StageProcess['outcome'] = (name, params = [], given = scope()) => {
    const method = findMethod(name);
    if (method === undefined) throw new TypeError(`${name} is not in the table`);
    return answer({ method, params }, given);
  };
  const closable = closeOf(parts);
  onTestFinished(closable.close);
  return {
    chain: gatewayChain,
    metrics,
    outcome,
    async ask(method, params, given) {
      const answered = await outcome(method, params, given);
      if (!answered.ok) throw new RefusedCall(answered.error);
      return JSON.parse(await textOf(answered.result));
    },
    scope,
    ...closable,
  };
}

async function textOf(result: Buffer | AsyncIterable<Buffer>): Promise<string> {
  if (Buffer.isBuffer(result)) return result.toString();
  const pieces: Buffer[] = [];
  for await (const piece of result) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function stageChain({ chainId }: StageProcessOptions): Chain {
  const key = `stage-${chainId}`;
  const added = { key, id: chainId, finalizedTag: true, reorgDepthMax: 64, pollIntervalMs: 20, blockTimeMs: 200 };
  return createChainRegistry({ additional: [added] }).get(key);
}
