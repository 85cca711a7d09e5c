import { readFile } from 'node:fs/promises';
import { defineError, errorText } from '@chainstead/core';
import { createEgress } from '@chainstead/egress';

const URL_START = /^https?:\/\//i;
const BYTES_MAX = 64 * 1_024 * 1_024;
/** Each takes about 60 bytes of memory. */
const VALUES_MAX = 5_000_000;
const DEPTH_MAX = 64;
const TIMEOUT_MS = 60_000;
const REDIRECTS_MAX = 5;

export class UnreadablePlaceError extends defineError(
  'PLACE_UNREADABLE',
  (place: string, problem: string, cause?: unknown) => ({
    message: `${place} can't be read: ${problem}`,
    facts: { place },
    retryable: true,
    cause,
  }),
) {}

export function isUrl(place: string): boolean {
  return URL_START.test(place);
}

/** @param bytesMax of a response. @throws UnreadablePlaceError */
export async function readFileOrUrl(place: string, signal: AbortSignal, bytesMax = BYTES_MAX): Promise<string> {
  try {
    return isUrl(place) ? await readUrl(place, signal, bytesMax) : await readFile(place, 'utf8');
  } catch (error) {
    throw error instanceof UnreadablePlaceError
      ? error
      : new UnreadablePlaceError(place, errorText(error), error);
  }
}

async function readUrl(url: string, signal: AbortSignal, bytesMax: number): Promise<string> {
  const egress = createEgress({
    allowPrivate: false,
    // A local user reaches its networks anyway; the server of the URL does not.
    privateOrigin: URL.parse(url)?.origin ?? '',
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: bytesMax,
  });
  try {
    const answer = await egress.request({ url, redirects: REDIRECTS_MAX, signal });
    if (answer.status !== 200) throw new UnreadablePlaceError(url, `it answered ${answer.status}`);
    const problem = problemOf(answer.body);
    if (problem !== null) throw new UnreadablePlaceError(url, problem);
    return answer.body.toString('utf8');
  } finally {
    await egress.close();
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

function problemOf(body: Buffer): string | null {
  if (!/^\uFEFF?\s*[[{]/.test(body.toString('utf8', 0, 64))) return null;
  let [values, depth, isText] = [0, 0, false];
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) isText = !isText;
    else if (isText) at += byte === BACKSLASH ? 1 : 0;
    else if (OPENING.has(byte)) {
      values += 1;
      depth += 1;
      if (depth > DEPTH_MAX) return `it is nested more than ${DEPTH_MAX} levels deep`;
    } else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (values > VALUES_MAX) return `it has more than ${VALUES_MAX} values`;
  }
  return null;
}
