import type { Failover } from '../failover/failover.ts';
import type { ForwardingPool, RawCall, RawResult } from '../forwarding-pool.ts';
import type { HeadProbe } from '../heads/probe-head.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';
import { SEND_METHOD } from './broadcast-transaction.ts';
import {
  type Begun,
  type ForwardTools,
  fitness,
  highest,
  isNull,
  reached,
  VerifiedForward,
} from './verified-forward.ts';

/** A block at most this far above every head may arrive during the wait, milliseconds. */
const NEAR_MS = 2_000;

type Forward = ForwardingPool['forward'];

/**
 * Forwards calls with the failover of all calls. Most calls succeed on the first upstream, so the state for further
 * ones is prepared only if it fails.
 */
export function createCallForwarder(options: {
  readonly failover: Failover;
  readonly upstreams: readonly Upstream[];
  readonly probe: HeadProbe;
  readonly blockTimeMs: number;
  readonly bestHead: () => number | null;
  readonly broadcast: ForwardingPool['broadcast'];
}): Forward {
  const { failover, upstreams, probe, bestHead, broadcast } = options;
  const isAlone = upstreams.length < 2;
  const nearBlocks = Math.max(1, Math.ceil(NEAR_MS / options.blockTimeMs));
  const tools: ForwardTools = { failover, probe, bestHead, isAlone, nearBlocks };
  const forwardWithCare = (call: RawCall, given: RequestOptions, first?: Begun): Promise<Answer<RawResult>> =>
    new VerifiedForward(tools, call, given, first).run();

  return (call, given = {}) => {
    const { method, nullable } = call;
    if (method === SEND_METHOD) return forwardSend(broadcast, call, given);
    if (given.hedge === true && !isAlone) return forwardWithCare(call, given);
    const needed = isAlone ? null : highest(given.minBlock ?? null, call.block);
    const upstream = failover.choose({ method, ...fitness(tools, needed) }, given);
    if (upstream === undefined || (needed !== null && reached(upstream) < needed)) return forwardWithCare(call, given);
    const { name } = upstream;
    return upstream.forward(call, { signal: given.signal, timeoutMs: given.timeoutMs }).then(
      (value) => {
        if (nullable && !isAlone && isNull(value)) return forwardWithCare(call, given, { upstream, error: null });
        return { value, upstream: name };
      },
      (error: unknown) => forwardWithCare(call, given, { upstream, error }),
    );
  };
}

/** Independent of the client: a transaction must not be sent to the same upstream twice. */
async function forwardSend(
  broadcast: ForwardingPool['broadcast'],
  call: RawCall,
  given: RequestOptions,
): Promise<Answer<RawResult>> {
  const { value, upstream } = await broadcast(String(JSON.parse(call.params)[0]), given);
  return { value: Buffer.from(`"${value}"`), upstream };
}
