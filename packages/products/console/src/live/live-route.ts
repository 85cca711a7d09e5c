import { errorText, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { UnavailableError } from '@chainstead/http';
import { html, raw } from 'hono/html';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { ConsoleServices } from '../console-page.ts';
import type { Html } from '../layout/html.ts';
import { beat } from '../layout/live-part.ts';
import type { ConsoleContext } from '../sessions/console-env.ts';

export type SendLive = (c: ConsoleContext, read: () => Promise<Html>) => Response;

const LOOK_MS = 2_000;
/** Unchanged content too: pages treat a longer silence as a lost connection. */
const BEAT_MS = 10_000;
const STREAMS_MAX = 200;

const SIGNED_OUT_EVENT = 'signed-out';
const SIGNED_OUT = html`<p class="problem" role="alert">Signed out. <a href="/console/sign-in">Sign in</a></p>`;

/** Starts with the whole part. The end of a session ends its streams. */
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
          if (part === null) {
            await writeSignedOut(stream);
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

  /** Null: the session is over; undefined: it can't be read now. */
  async function nextPart(secret: string, read: () => Promise<Html>): Promise<string | null | undefined> {
    try {
      if ((await sessions.find(secret, false)) === null) return null;
      return String(await read());
    } catch (error) {
      logger[failureLevel(error)]({ error: errorText(error) }, 'Live part of the console could not be read');
      return undefined;
    }
  }
}

/** Not an error: the page would keep its content. */
export function sendSignedOut(c: ConsoleContext): Response {
  return unbuffered(streamSSE(c, writeSignedOut));
}

async function writeSignedOut(stream: SSEStreamingApi): Promise<void> {
  await stream.writeSSE({ data: String(SIGNED_OUT) });
  await stream.writeSSE({ event: SIGNED_OUT_EVENT, data: 'sign in again' });
}

function unbuffered(answer: Response): Response {
  answer.headers.set('cache-control', 'no-store, no-transform');
  answer.headers.set('x-accel-buffering', 'no');
  return answer;
}
