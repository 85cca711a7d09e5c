import type { Dispatcher } from 'undici';
import type { SourceError } from '../source-error.ts';

/** Only time in which this side waits counts: a slow reader is no fault of the source. */
export interface StreamDeadlines {
  /** To the status and headers. */
  readonly headersMs: number;
  /** Without a byte. */
  readonly idleMs: number;
  /** Each such period of waiting must bring `windowBytesMin`: a byte per minute is no stream. */
  readonly windowMs: number;
  readonly windowBytesMin: number;
}

/** @throws SourceError by `late`, or the connection's error */
export async function* timedBytes(
  body: Dispatcher.ResponseData['body'],
  { idleMs, windowMs, windowBytesMin }: StreamDeadlines,
  late: (what: string) => SourceError,
): AsyncGenerator<Buffer> {
  const iterator: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  let waitedMs = 0;
  let bytes = 0;
  try {
    for (;;) {
      const timer = setTimeout(() => body.destroy(late(`no byte within ${idleMs} ms`)), idleMs);
      const startedAt = performance.now();
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      waitedMs += performance.now() - startedAt;
      bytes += next.value.length;
      if (waitedMs >= windowMs) {
        if (bytes < windowBytesMin) throw late(`only ${bytes} bytes in ${Math.round(waitedMs)} ms`);
        waitedMs = 0;
        bytes = 0;
      }
      yield next.value;
    }
  } finally {
    body.destroy();
  }
}
