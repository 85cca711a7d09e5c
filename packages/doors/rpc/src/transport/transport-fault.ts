import { type Reaction, UpstreamFault } from '../errors.ts';
import type { TransportError } from '../upstream-http/index.ts';
import type { FaultKind } from '../upstream-pool.ts';

export function transportFault(
  upstream: { readonly name: string; readonly redact: (text: string) => string },
  method: string,
  error: TransportError,
): UpstreamFault {
  let kind: FaultKind = 'range-limit';
  let reaction: Reaction = method === 'eth_getLogs' ? 'density' : 'batch-size';
  if (error.kind !== 'too-large' && error.kind !== 'aborted') {
    kind = error.kind;
    reaction = kind === 'timeout' ? 'timeout' : 'transient';
  }
  const text = upstream.redact(error.message);
  return new UpstreamFault({ upstream: upstream.name, method, kind, text, hints: { reaction, cause: error } });
}

/** A pause began meanwhile. Not counted; another upstream is tried. */
export function unsentFault(upstream: string, method: string, why: string, retryAfterMs: number): UpstreamFault {
  const hints = { reaction: 'throttled', retryAfterMs } as const;
  return new UpstreamFault({ upstream, method, kind: 'rate-limited', text: `not sent: ${why}`, hints });
}
