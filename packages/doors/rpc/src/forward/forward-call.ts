import type { Failover } from '../failover/failover.ts';
import type { ForwardingPool, RawCall, RawResult } from '../forwarding-pool.ts';
import type { HeadProbe } from '../heads/probe-head.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';
import { SEND_METHOD } from './broadcast-transaction.ts';
import { type Begun, fitness, highest, isNull, reached, VerifiedForward } from './verified-forward.ts';

const NEAR_MS = 2_000;

/** State for further upstreams is prepared only if the first fails. */
export function createCallForwarder(options: {
  readonly failover: Failover;
  readonly upstreams: readonly Upstream[];
  readonly probe: HeadProbe;
  readonly blockTimeMs: number;
  readonly bestHead: () => number | null;
  readonly broadcast: ForwardingPool['broadcast'];
}): ForwardingPool['forward'] {
  const { failover, upstreams, probe, bestHead, broadcast } = options;
  const isAlone = upstreams.length < 2;
  const nearBlocks = Math.max(1, Math.ceil(NEAR_MS / options.blockTimeMs));
  const tools = { failover, probe, bestHead, isAlone, nearBlocks };
  const forwardWithCare = (call: RawCall, given: RequestOptions, first?: Begun): Promise<Answer<RawResult>> =>
    new VerifiedForward(tools, call, given, first).run();

  return async (call, given = {}) => {
    const { method, nullable } = call;
    // Invariant: GATEWAY-WRITE-ONCE
    if (method === SEND_METHOD) {
      // Independent of the client: no upstream must get it twice.
      const sent = await broadcast(String(JSON.parse(call.params)[0]), given);
      return { ...sent, value: Buffer.from(`"${sent.value}"`) };
    }
    if (given.hedge === true && !isAlone) return forwardWithCare(call, given);
    const needed = isAlone ? null : highest(given.minBlock ?? null, call.block);
    const upstream = failover.choose({ method, ...fitness(tools, needed) }, given);
    if (upstream === undefined || (needed !== null && reached(upstream) < needed))
      return forwardWithCare(call, given);
    let value: RawResult;
    try {
      value = await upstream.forward(call, { signal: given.signal, timeoutMs: given.timeoutMs });
    } catch (error) {
      return forwardWithCare(call, given, { upstream, error });
    }
    if (nullable && !isAlone && isNull(value)) return forwardWithCare(call, given, { upstream, error: null });
    return { value, upstream: upstream.name };
  };
}
