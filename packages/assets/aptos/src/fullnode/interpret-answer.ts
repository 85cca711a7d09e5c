import { errorText, JsonBoundsError, parseModestJson } from '@chainstead/core';
import type { HttpAnswer } from '@chainstead/rpc/upstream-http';
import { jsonObject } from '../rows/json-object.ts';
import { FullnodeFault } from './errors.ts';
import { refusalWaitMs } from './rate-limit.ts';

const SHOWN_MAX = 200;
/** The Move VM nests values up to 128 levels. */
export const JSON_DEPTH_MAX = 256;

/** @throws FullnodeFault pruned, behind, too-large, throttled, server-error, rejected */
export function requireGood({ status, headers, body }: HttpAnswer, now: number): Buffer {
  if (status === 200) return body;
  const { code, message } = readError(body);
  const text = `HTTP ${status}${code === '' ? '' : ` ${code}`}: ${message}`;
  const waitMs = refusalWaitMs(headers, now);
  const details = waitMs === undefined ? {} : { waitMs };
  if (status === 410 || code.endsWith('_pruned')) throw new FullnodeFault('pruned', text);
  if (status === 404 && code.endsWith('_not_found')) throw new FullnodeFault('behind', text);
  if (status === 413) throw new FullnodeFault('too-large', text);
  if (status === 429) throw new FullnodeFault('throttled', text, details);
  if (status >= 500 || status === 408) throw new FullnodeFault('server-error', text, details);
  throw new FullnodeFault('rejected', text);
}

/** @throws FullnodeFault truncated, malformed */
export function parseJson(body: Buffer): unknown {
  try {
    // Invariant: HTTP-BODY-BOUNDED
    return parseModestJson(body, { depthMax: JSON_DEPTH_MAX });
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new FullnodeFault('malformed', errorText(error));
    throw new FullnodeFault('truncated', 'the response is not complete JSON', { cause: error });
  }
}

function readError(body: Buffer): { code: string; message: string } {
  const text = body.toString('utf8', 0, 10_000);
  let error: ReturnType<typeof jsonObject> = null;
  try {
    error = jsonObject(JSON.parse(text));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  return {
    code: typeof error?.error_code === 'string' ? error.error_code : '',
    message: cut(typeof error?.message === 'string' ? error.message : text),
  };
}

function cut(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
