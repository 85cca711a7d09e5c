import { readFile } from 'node:fs/promises';
import { ChainsteadError, errorText } from '@chainstead/core';
import { createEgress } from '@chainstead/egress';

const URL_START = /^https?:\/\//i;
const BYTES_MAX = 256 * 1_024 * 1_024;
const TIMEOUT_MS = 60_000;
const REDIRECTS_MAX = 5;

/** The file or URL of a command's argument can't be read. */
export class UnreadablePlaceError extends ChainsteadError {
  constructor(place: string, problem: string, cause?: unknown) {
    super({
      code: 'PLACE_UNREADABLE',
      message: `${place} can't be read: ${problem}`,
      facts: { place },
      retryable: true,
      cause,
    });
  }
}

/** Whether a command's argument is a URL, rather than a file. */
export function isUrl(place: string): boolean {
  return URL_START.test(place);
}

/** The text of a file, or of an http(s) URL that the operator gave. @throws UnreadablePlaceError */
export async function readFileOrUrl(place: string, signal: AbortSignal): Promise<string> {
  try {
    return isUrl(place) ? await readUrl(place, signal) : await readFile(place, 'utf8');
  } catch (error) {
    throw error instanceof UnreadablePlaceError ? error : new UnreadablePlaceError(place, errorText(error), error);
  }
}

async function readUrl(url: string, signal: AbortSignal): Promise<string> {
  // Whoever types a URL at this machine's command line reaches its networks anyway.
  const egress = createEgress({ allowPrivate: true, timeoutMs: TIMEOUT_MS, maxResponseBytes: BYTES_MAX });
  try {
    const answer = await egress.request({ url, redirects: REDIRECTS_MAX, signal });
    if (answer.status !== 200) throw new UnreadablePlaceError(url, `it answered ${answer.status}`);
    return answer.body.toString('utf8');
  } finally {
    await egress.close();
  }
}
