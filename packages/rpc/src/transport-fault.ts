import type { TransportError } from '@chainstead/upstream-http';
import type { Reaction } from './error-rules.ts';
import { UpstreamFault } from './errors.ts';
import type { FaultKind } from './upstream-pool.ts';

/** The fault that a failed HTTP exchange is. */
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

/** It was paused while a request waited for its turn: not counted, another upstream is asked. */
export function unsentFault(upstream: string, method: string, why: string, retryAfterMs: number): UpstreamFault {
  return new UpstreamFault({
    upstream,
    method,
    kind: 'rate-limited',
    text: `not sent: ${why}`,
    hints: { reaction: 'throttled', retryAfterMs },
  });
}
