import { isDoubtful, RpcCallError, UpstreamFault, UpstreamsExhaustedError } from '../errors.ts';
import { transactionHash } from '../formats/standard-form.ts';
import type { ForwardingPool } from '../forwarding-pool.ts';
import { asVerdict } from '../upstream/doubts.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer } from '../upstream-pool.ts';

export const SEND_METHOD = 'eth_sendRawTransaction';

const KNOWN = /already known|known transaction|already imported|alreadyknown|already in (?:the )?(?:mem)?pool/i;
const HASH = /^"0x[0-9a-f]{64}"$/i;

export function saysKnownTransaction(text: string): boolean {
  return KNOWN.test(text);
}

/** To all available `upstreams`; if none is, to all in use. */
export function createBroadcaster(options: {
  readonly chain: { readonly key: string };
  readonly upstreams: readonly Upstream[];
}): ForwardingPool['broadcast'] {
  const { chain, upstreams } = options;

  return async (rawTransaction, given = {}) => {
    const transaction = transactionHash(rawTransaction);
    const params = JSON.stringify([rawTransaction]);
    const inUse = upstreams.filter(({ state }) => state.disabledReason === null);
    const ready = inUse.filter(({ state }) => state.waitMs() === 0);
    const requested = ready.length > 0 ? ready : inUse;
    const sends = requested.map(async (upstream): Promise<Answer<string>> => {
      try {
        const result = await upstream.forward({ method: SEND_METHOD, params }, { ...given, isWrite: true });
        if (transaction !== null) return { value: transaction, upstream: upstream.name };
        // The chain hashes this type in its own way.
        const text = Buffer.isBuffer(result) ? result.toString('latin1') : '';
        if (HASH.test(text)) return { value: text.slice(1, -1), upstream: upstream.name };
        throw upstream.fault('malformed', SEND_METHOD, `answered ${text.slice(0, 80)} instead of a hash`);
      } catch (error) {
        const text =
          error instanceof RpcCallError ? error.rpcMessage : error instanceof UpstreamFault ? error.text : '';
        if (transaction === null || !saysKnownTransaction(text)) throw error;
        return { value: transaction, upstream: upstream.name };
      }
    });
    try {
      return await Promise.any(sends);
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error;
      throw verdictOf(error.errors, upstreams, chain.key);
    }
  };
}

function verdictOf(errors: readonly unknown[], upstreams: readonly Upstream[], chain: string): unknown {
  const verdict =
    errors.find((error) => error instanceof RpcCallError && !error.disputable) ??
    errors.find((error) => error instanceof RpcCallError);
  if (verdict !== undefined) return verdict;
  const doubtful = errors.find(isDoubtful);
  const doubted = doubtful && asVerdict(doubtful, 'call');
  if (doubted) return doubted;
  const unexpected = errors.find((error) => !(error instanceof UpstreamFault));
  if (unexpected !== undefined) return unexpected;
  const reasons = new Map(upstreams.map(({ name, state }) => [name, state.obstacle]));
  for (const error of errors)
    if (error instanceof UpstreamFault) reasons.set(error.upstream, `${error.kind}: ${error.text}`);
  const failures = [...reasons].map(([upstream, reason]) => ({ upstream, reason }));
  return new UpstreamsExhaustedError({ chain, method: SEND_METHOD, failures });
}
