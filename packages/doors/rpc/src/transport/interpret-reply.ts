import { type Reaction, RpcCallError, UpstreamFault } from '../errors.ts';
import type { Redactor } from '../redact-secrets.ts';
import type { TransportError } from '../upstream-http/index.ts';
import type { FaultKind } from '../upstream-pool.ts';
import { classifyError, classifyForeignError } from './error-rules.ts';
import type { JsonAnswer } from './http-endpoint.ts';
import type { RpcReply } from './json-rpc.ts';

const MESSAGE_LENGTH_MAX = 10_000;

export type CallOutcome<T = unknown> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly error: UpstreamFault | RpcCallError };

/** Origin of the text: this program, or a client or contract whose text a node may echo. */
export type Wording = 'own' | 'foreign';

export function interpretReply(
  upstream: { readonly name: string; readonly redact: Redactor },
  method: string,
  reply: RpcReply,
  answer: Pick<JsonAnswer, 'status' | 'retryAfterMs'>,
  wording: Wording = 'own',
): CallOutcome {
  if (reply.kind === 'result') return { ok: true, result: reply.result };
  const { name, redact } = upstream;
  if (reply.kind === 'malformed') {
    const text = redact(reply.text);
    const hints = { reaction: 'transient' } as const;
    return { ok: false, error: new UpstreamFault({ upstream: name, method, kind: 'malformed', text, hints }) };
  }
  const httpStatus = answer.status < 400 ? undefined : answer.status;
  const said = {
    method,
    text: reply.text,
    rpcCode: reply.code,
    httpStatus,
    data: reply.data,
  };
  const meaning = wording === 'own' ? { ...classifyError(said), isSure: true } : classifyForeignError(said);
  const { reaction, kind, isSure, rule, limitBlocks, limitResults, suggestedRange } = meaning;
  const text = redact(reply.text === '' ? 'no text' : reply.text);
  const rpcMessage = reply.message === '' ? text : redact(reply.message, MESSAGE_LENGTH_MAX);
  if (reaction === 'call' || reaction === 'caller') {
    const error = new RpcCallError({
      upstream: name,
      method,
      rpcCode: reply.code ?? -32600,
      rpcMessage,
      rpcData: reply.data,
      about: reaction === 'caller' ? 'parameters' : rule?.execution === undefined ? 'call' : 'execution',
      disputable: reaction === 'caller' || rule?.execution === 'bound',
    });
    return { ok: false, error };
  }
  const fault = new UpstreamFault({
    upstream: name,
    method,
    kind,
    text: httpStatus === undefined ? text : `HTTP ${httpStatus}: ${text}`,
    hints: {
      reaction,
      isSure,
      isPruned: rule?.isPruned,
      retryAfterMs: answer.retryAfterMs,
      limitBlocks,
      limitResults,
      suggestedRange,
    },
    said: reply.code === undefined ? undefined : { code: reply.code, message: rpcMessage, data: reply.data },
  });
  return { ok: false, error: fault };
}

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
