import type { TransportError } from '@chainstead/upstream-http';
import type { Reaction } from '../errors.ts';
import { UpstreamFault } from '../errors.ts';
import type { FaultKind } from '../upstream-pool.ts';

/** Returns the fault for a failed HTTP exchange. */
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

/**
 * Returns the fault for a pause that began while a request waited. It is not counted, and another upstream is tried.
 */
export function unsentFault(upstream: string, method: string, why: string, retryAfterMs: number): UpstreamFault {
  return new UpstreamFault({
    upstream,
    method,
    kind: 'rate-limited',
    text: `not sent: ${why}`,
    hints: { reaction: 'throttled', retryAfterMs },
  });
}
