import { errorText, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { NotFoundError, UnavailableError } from '@chainstead/http';
import { html, raw } from 'hono/html';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { ConsoleServices } from '../console-page.ts';
import { beat, type Html } from '../layout/html.ts';
import type { ConsoleContext } from '../sessions/require-session.ts';

export type SendLive = (c: ConsoleContext, read: () => Promise<Html>) => Response;

const LOOK_MS = 2_000;
/** Unchanged content too: pages treat a longer silence as a lost connection. */
const BEAT_MS = 10_000;
const STREAMS_MAX = 200;

const END_EVENT = 'end';
const SIGNED_OUT = html`<p class="problem" role="alert">Signed out. <a href="/console/sign-in">Sign in</a></p>`;

/** The session is over, or the subject was removed. */
interface Ended {
  readonly last: Html;
}

/** Starts with the whole part. The end of the session ends its streams. */
export function createSendLive(
  { sessions, clock, logger }: Pick<ConsoleServices, 'sessions' | 'clock' | 'logger'>,
  closing: AbortSignal,
): SendLive {
  let open = 0;

  return (c, read) => {
    if (open >= STREAMS_MAX)
      throw new UnavailableError('Too many live pages are open. Close some, or reload manually');
    open += 1;
    const secret = c.get('sessionSecret');
    const send = async (stream: SSEStreamingApi): Promise<void> => {
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      const signal = AbortSignal.any([left.signal, closing]);
      let sent = '';
      let sentAt = Number.NEGATIVE_INFINITY;
      try {
        while (!signal.aborted) {
          const part = await nextPart(secret, read);
          if (typeof part === 'object') {
            await writeEnd(stream, part);
            return;
          }
          if (part !== undefined && (part !== sent || clock.now() - sentAt >= BEAT_MS)) {
            sent = part;
            sentAt = clock.now();
            await stream.writeSSE({ data: String(await beat(raw(part), sentAt)) });
          }
          await sleepUnlessAborted(clock, LOOK_MS, signal);
        }
      } finally {
        open -= 1;
      }
    };
    const logEnd = async (error: Error) => logger.error({ err: error }, 'Live part of the console ended');
    return unbuffered(streamSSE(c, send, logEnd));
  };

  /** Undefined: it can't be read now. */
  async function nextPart(secret: string, read: () => Promise<Html>): Promise<string | Ended | undefined> {
    try {
      if ((await sessions.find(secret, false)) === null) return { last: SIGNED_OUT };
      return String(await read());
    } catch (error) {
      if (error instanceof NotFoundError)
        return { last: html`<p class="notice" role="status">${error.message}.</p>` };
      logger[failureLevel(error)]({ error: errorText(error) }, 'Live part of the console could not be read');
      return undefined;
    }
  }
}

/** Not an error: the page would keep its content. */
export function sendSignedOut(c: ConsoleContext): Response {
  return unbuffered(streamSSE(c, (stream) => writeEnd(stream, { last: SIGNED_OUT })));
}

async function writeEnd(stream: SSEStreamingApi, { last }: Ended): Promise<void> {
  await stream.writeSSE({ data: String(await last) });
  await stream.writeSSE({ event: END_EVENT, data: 'end' });
}

function unbuffered(answer: Response): Response {
  answer.headers.set('cache-control', 'no-store, no-transform');
  answer.headers.set('x-accel-buffering', 'no');
  return answer;
}
