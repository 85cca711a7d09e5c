import { ChainsteadError, errorText } from '@chainstead/core';
import { BlockedAddressError, type Egress, EgressTimeoutError } from '@chainstead/egress';
import type { AttemptOutcome } from './delivery.ts';

export const WEBHOOK_TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 65_536;
const ERROR_MESSAGE_MAX = 500;
const ANSWER_SHOWN_MAX = 1_000;

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly showsAnswer?: boolean;
  readonly signal?: AbortSignal;
}

/** Any 2xx is a success; follows no redirects. @throws only the reason of the request's signal */
export async function postWebhook(egress: Egress, request: WebhookRequest): Promise<AttemptOutcome> {
  const started = performance.now();
  const outcome = (status: number | null, errorMessage: string | null): AttemptOutcome => ({
    success: errorMessage === null,
    httpStatus: status,
    errorMessage,
    durationMs: Math.round(performance.now() - started),
  });
  try {
    const {
      status,
      headers,
      body: answer,
    } = await egress.request({
      url: request.url,
      method: 'POST',
      headers: request.headers,
      body: request.body,
      redirects: 0,
      timeoutMs: WEBHOOK_TIMEOUT_MS,
      maxResponseBytes: ANSWER_BYTES_MAX,
      oversize: 'truncate',
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const failure = status >= 200 && status < 300 ? null : `Request failed with status code ${status}`;
    const [retryAfter] = [headers['retry-after']].flat();
    const result = {
      ...outcome(status, failure),
      ...(failure !== null && retryAfter !== undefined && { retryAfter }),
    };
    if (request.showsAnswer !== true) return result;
    return { ...result, answer: answer.toString().slice(0, ANSWER_SHOWN_MAX) };
  } catch (error) {
    request.signal?.throwIfAborted();
    const blocked = error instanceof BlockedAddressError ? { blockedRange: String(error.facts.range) } : {};
    return { ...outcome(null, reasonOf(error)), ...blocked };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof EgressTimeoutError) return `timeout of ${WEBHOOK_TIMEOUT_MS}ms exceeded`;
  if (error instanceof ChainsteadError || error instanceof Error)
    return errorText(error).replaceAll('\0', '').toWellFormed().slice(0, ERROR_MESSAGE_MAX);
  throw error;
}
