import {
  ChainsteadError,
  getOrCompute,
  type Logger,
  type Registry,
  type Tally,
  toQuantity,
} from '@chainstead/core';
import type { Answer, ForwardingPool, RawResult, RequestOptions } from '@chainstead/rpc';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { callKey } from '../cache/call-key.ts';
import type { Call, GatewayChain, HandleCall, LeaveSignal, Outcome, RequestScope } from '../call.ts';
import { createGatewayMetrics } from '../gateway-metrics.ts';
import type { HeadFloor } from '../heads/head-floor.ts';
import {
  BLOCK_NUMBER_METHOD,
  blockOfCall,
  blockReported,
  type CallBlock,
  isKeepable,
  isText,
  keepAnswer,
  mayBeStored,
  pinParams,
  reportedAnswer,
  speaksOfHead,
  speaksOfPending,
} from './cached-answer.ts';
import { failedOutcome } from './call-error.ts';
import { isSameAnswer } from './confirm-answer.ts';
import { createSharedCalls } from './share-calls.ts';

export interface AnswerCallOptions {
  readonly headFloor: (chain: GatewayChain) => HeadFloor;
  readonly cache: AnswerCache;
  readonly forwardOf?: (chain: GatewayChain) => ForwardingPool['forward'];
  readonly clientVersion: string;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Under way: a second upstream is requested for a final response. */
  readonly confirmations: Set<Promise<void>>;
}

type AnswerCounts = Readonly<Record<'hit' | 'miss' | 'coalesced' | 'error', Tally>>;

interface Line {
  readonly chain: GatewayChain;
  readonly floor: HeadFloor;
  readonly forward: ForwardingPool['forward'];
  readonly constants: ReadonlyMap<string, Outcome>;
  readonly prefix: string;
  readonly counts: Map<string, AnswerCounts>;
}

/** Its parameters mean the same on every upstream, as far as possible. */
interface PlacedCall extends Call {
  readonly key: string;
  readonly block: CallBlock;
  /** The gateway chose the block, so the upstream must have reached it. */
  readonly isPinned: boolean;
}

const SEND = 'eth_sendRawTransaction';
const LOGS = 'eth_getLogs';

/** Never rejects. Synchronous from memory. Indexed data has no whole blocks, so it is not used. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the ways of a call share one cache and one set of calls under way.
export function createAnswerCall(options: AnswerCallOptions): HandleCall {
  const { cache, logger } = options;
  const lines = new Map<GatewayChain, Line>();
  const shared = createSharedCalls();
  const metrics = createGatewayMetrics(options.metrics);
  metrics.cacheBytes.addSource({}, () => cache.bytes);

  function lineOf(chain: GatewayChain): Line {
    return getOrCompute(lines, chain, () => createLine(chain));
  }

  function createLine(chain: GatewayChain): Line {
    const floor = options.headFloor(chain);
    metrics.head.addSource({ chain: chain.slug }, () => floor.latest);
    metrics.finalBlock.addSource({ chain: chain.slug }, () => floor.finalBlock);
    return {
      chain,
      floor,
      forward: options.forwardOf?.(chain) ?? ((call, given) => chain.pool.forward(call, given)),
      constants: constantsOf(chain, options.clientVersion),
      // A response cached without proof must not be served if proof is required.
      prefix: `${chain.chain.id}${chain.integrity === 'strict' ? '!' : ':'}`,
      counts: new Map(),
    };
  }

  function countsOf({ counts, chain: { slug } }: Line, method: string): AnswerCounts {
    const tally = (outcome: string): Tally => metrics.answers.tally({ chain: slug, method, outcome });
    return getOrCompute(counts, method, () => ({
      hit: tally('hit'),
      miss: tally('miss'),
      coalesced: tally('coalesced'),
      error: tally('error'),
    }));
  }

  function failed(line: Line, call: Call, thrown: unknown): Outcome {
    const outcome = failedOutcome(thrown, { slug: line.chain.slug, method: call.method.name, logger });
    countOutcome(countsOf(line, call.method.countedAs), outcome);
    return outcome;
  }

  function hit(line: Line, call: Call, outcome: Outcome): Outcome {
    countsOf(line, call.method.countedAs).hit.value++;
    return outcome;
  }

  async function answerPinned(line: Line, call: Call, scope: RequestScope): Promise<Outcome> {
    try {
      scope.head ??= line.floor.read();
      const head = await scope.head;
      if (call.method.name === BLOCK_NUMBER_METHOD)
        return hit(line, call, constant(`"${toQuantity(head.latest)}"`));
      return await answerPlaced(
        line,
        { ...call, params: pinParams(call.method, call.params, head) },
        scope,
        true,
      );
    } catch (error) {
      return failed(line, call, error);
    }
  }

  function answerPlaced(
    line: Line,
    call: Call,
    scope: RequestScope,
    isPinned: boolean,
  ): Outcome | Promise<Outcome> {
    const { method, params } = call;
    const block = blockOfCall(method, params);
    const key = line.prefix + callKey(method.name, params);
    const kept = isKeepable(method, block) ? cache.get(key, line.floor.generation) : undefined;
    if (kept !== undefined) return hit(line, call, { ok: true, result: kept, cached: true });
    return ask(line, { method, params, key, block, isPinned }, scope.signal);
  }

  async function ask(line: Line, call: PlacedCall, signal: LeaveSignal | undefined): Promise<Outcome> {
    line.floor.use();
    const run = shared.run(
      { key: call.key, isFresh: call.block === 'tag' || call.block === 'none', signal },
      (ending) => fetchAnswer(options, line, call, ending),
    );
    const outcome = await run.outcome;
    countOutcome(countsOf(line, call.method.countedAs), outcome, run);
    return outcome;
  }

  /** Sends once for concurrent clients; a disconnecting client does not stop it. */
  async function send(line: Line, call: Call): Promise<Outcome> {
    const raw = String(call.params[0]);
    const run = shared.run({ key: `${line.prefix}${SEND}[${raw.toLowerCase()}`, isFresh: false }, async () => {
      try {
        const { value } = await line.chain.pool.broadcast(raw);
        return { ok: true, result: Buffer.from(JSON.stringify(value)), cached: false };
      } catch (error) {
        return failedOutcome(error, { slug: line.chain.slug, method: SEND, logger });
      }
    });
    const outcome = await run.outcome;
    countOutcome(countsOf(line, SEND), outcome, run);
    return outcome;
  }

  return (call, scope) => {
    const line = lineOf(scope.chain);
    const { method } = call;
    try {
      if (method.lifetime === 'constant') {
        const outcome = line.constants.get(method.name);
        if (outcome !== undefined) return hit(line, call, outcome);
      }
      if (method.name === SEND) return send(line, call);
      const isPinned =
        scope.chain.pinsHead && (method.name === BLOCK_NUMBER_METHOD || speaksOfHead(method, call.params));
      return isPinned ? answerPinned(line, call, scope) : answerPlaced(line, call, scope, false);
    } catch (error) {
      return failed(line, call, error);
    }
  };
}

function countOutcome(counts: AnswerCounts, outcome: Outcome, { isShared } = { isShared: false }): void {
  if (!outcome.ok) counts.error.value++;
  else if (outcome.cached) counts.hit.value++;
  else if (isShared) counts.coalesced.value++;
  else counts.miss.value++;
}

async function fetchAnswer(
  { cache, logger, confirmations }: Pick<AnswerCallOptions, 'cache' | 'logger' | 'confirmations'>,
  line: Line,
  call: PlacedCall,
  signal: AbortSignal,
): Promise<Outcome> {
  const { chain, floor } = line;
  const moment = { generation: floor.generation, finalBlock: floor.finalBlock };
  try {
    const mayStand = mayBeStored(call.method, call.block, moment.finalBlock);
    const stored = mayStand ? await cache.find(chain.chain.id, call.key) : undefined;
    if (stored !== undefined) return { ok: true, result: stored, cached: true };
    const { value: result, upstream } = await forward(line, call, { signal });
    if (!Buffer.isBuffer(result)) return { ok: true, result, cached: false };
    const reported = chain.pinsHead ? blockReported(call.method, call.block, result) : null;
    // Invariant: GATEWAY-HEAD-FLOOR
    if (reported !== null) await floor.reveal(reported);
    const cached = { ...call, chain: chain.chain };
    if (keepAnswer(cache, cached, result, moment, !chain.pinsHead)) {
      const confirmation = confirm(line, call, { result, upstream }).then((isConfirmed) => {
        if (isConfirmed) keepAnswer(cache, cached, result, moment, true);
        else if (isConfirmed === false) cache.forget(call.key);
        confirmations.delete(confirmation);
      });
      confirmations.add(confirmation);
    }
    return { ok: true, result: reportedAnswer(call.method, result), cached: false };
  } catch (error) {
    return failedOutcome(error, { slug: chain.slug, method: call.method.name, logger });
  }
}

/** By another upstream. Null: none responds. Never rejects. */
async function confirm(
  line: Line,
  call: PlacedCall,
  { result, upstream }: { readonly result: Buffer; readonly upstream: string },
): Promise<boolean | null> {
  const { chain } = line;
  try {
    const second = await forward(line, call, { exclude: new Set([upstream]) });
    if (isSameAnswer(result, second.value)) return true;
    // Either may be wrong: both chain ids are requested again.
    await Promise.all([upstream, second.upstream].map((name) => chain.pool.checkChain(name, null)));
    return false;
  } catch (error) {
    if (error instanceof ChainsteadError) return null;
    throw error;
  }
}

async function forward(
  { chain, forward: pass, floor }: Line,
  call: PlacedCall,
  given: Pick<RequestOptions, 'signal' | 'exclude'>,
): Promise<Answer<RawResult>> {
  const { method, params, block, isPinned } = call;
  const named = typeof block === 'number' ? block : null;
  const { latest } = floor;
  // Above the known head, the chosen upstream may have the block, or reports that it doesn't.
  const isKnown = isPinned || method.nullable || (latest !== null && named !== null && named <= latest);
  const fallback = method.name === LOGS ? latest : null;
  // Tags that only the upstream resolves (`pending`, `safe`) need one that does not lag.
  const needed = block === 'tag' && chain.pinsHead ? latest : isPinned ? named : null;
  // Pending transactions differ between upstreams.
  const sticky = block === 'tag' && speaksOfPending(method, params);
  const request = {
    method: method.name,
    params: JSON.stringify(params),
    nullable: method.nullable,
    block: named === null || isKnown ? named : fallback,
  };
  const options = {
    ...given,
    hedge: method.hedge && !sticky,
    sticky,
    ...(needed === null ? {} : { minBlock: needed }),
  };
  const answer = await pass(request, options);
  // Some nodes return null for no logs; others may have logs.
  const { value } = answer;
  if (method.name !== LOGS || !Buffer.isBuffer(value) || !isText(value, 'null')) return answer;
  return pass({ ...request, nullable: true }, options);
}

function constant(json: string): Outcome {
  return { ok: true, result: Buffer.from(json), cached: true };
}

function constantsOf({ chain }: GatewayChain, clientVersion: string): ReadonlyMap<string, Outcome> {
  return new Map([
    ['eth_chainId', constant(`"${toQuantity(chain.id)}"`)],
    ['net_version', constant(`"${chain.id}"`)],
    ['web3_clientVersion', constant(JSON.stringify(clientVersion))],
  ]);
}
