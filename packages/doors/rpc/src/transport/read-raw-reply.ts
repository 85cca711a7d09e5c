import { UpstreamFault } from '../errors.ts';
import type { RawResult } from '../forwarding-pool.ts';
import type { Redactor } from '../redact-secrets.ts';
import { TransportError } from '../upstream-http/index.ts';
import { toAnswer } from './http-endpoint.ts';
import { type CallOutcome, interpretReply } from './interpret-reply.ts';
import { decodeReply } from './json-rpc.ts';
import { isId, type RawReply } from './raw-request.ts';
import { type ByteSpan, scanEnvelope } from './scan-envelope.ts';
import { transportFault } from './transport-fault.ts';

export function readRawReply(
  upstream: { readonly name: string; readonly redact: Redactor },
  method: string,
  id: number,
  reply: RawReply,
): CallOutcome<RawResult> {
  if (reply.kind === 'stream') return { ok: true, result: reply.pieces };
  const { statusCode, body } = reply;
  if (statusCode >= 200 && statusCode <= 299) {
    const result = findResult(body, id);
    if (result !== null) return { ok: true, result };
  }
  try {
    const answer = toAnswer(reply, body);
    const outcome = interpretReply(upstream, method, decodeReply(answer, id), answer, 'foreign');
    if (!outcome.ok) return outcome;
    const text = 'the answer cannot be cut out of its envelope';
    const hints = { reaction: 'transient' } as const;
    const error = new UpstreamFault({ upstream: upstream.name, method, kind: 'malformed', text, hints });
    return { ok: false, error };
  } catch (error) {
    if (error instanceof TransportError) return { ok: false, error: transportFault(upstream, method, error) };
    throw error;
  }
}

function findResult(body: Buffer, id: number): Buffer | null {
  const envelope = scanEnvelope(body);
  if (envelope.kind !== 'complete' || envelope.result === null) return null;
  const textOf = ({ start, end }: ByteSpan): string => body.toString('latin1', start, end);
  if (envelope.error !== null && textOf(envelope.error) !== 'null') return null;
  if (envelope.id !== null && !isId(textOf(envelope.id), id)) return null;
  return body.subarray(envelope.result.start, envelope.result.end);
}
