import { errorText, JsonBoundsError, parseModestJson } from '@chainstead/core';
import type { CreateFault, HttpStream } from './http-stream.ts';
import type { HttpStreams } from './http-streams.ts';

/** Read, joined, decoded and parsed, it takes five times its size. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** One block. Bytes, text and objects take five times its size, and 3.5 times without the bytes: 250 MiB end a process. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
/** From here on, one line or body of all sources is read at a time. */
const LARGE_BYTES = 8 * 1024 * 1024;
/** A slow source, or a reader that waits for its turn, must not hold up the others. */
const LARGE_MS_MAX = 60_000;
const PARSED_MS_MAX = 5_000;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const OBJECT = 0x7b;
const SHOWN_LENGTH = 80;

export interface JsonLine {
  readonly json: unknown;
  /** Length of the text. */
  readonly bytes: number;
}

/** One JSON value per line. @throws SourceError; `unavailable`: the last line is cut */
export async function* readJsonLines(
  body: AsyncIterable<Buffer>,
  fault: CreateFault,
  lineBytesMax = LINE_BYTES_MAX,
): AsyncGenerator<JsonLine> {
  const place = createLargePlace(fault);
  try {
    for await (const { bytes, isEnded } of splitLines(body, { fault, bytesMax: lineBytesMax, place })) {
      if (bytes.every((byte) => byte <= SPACE)) continue;
      const json = isEnded ? parseJson(bytes, fault) : parseLast(bytes, fault);
      place.parsed();
      yield { json, bytes: bytes.length };
      place.leave();
    }
  } finally {
    place.leave();
  }
}

/** @throws SourceError */
export async function getJson(http: HttpStreams, path: string, signal: AbortSignal): Promise<unknown> {
  return (await readJsonBody(await http.open({ method: 'GET', path }, signal), http.fault)).json;
}

/** @throws SourceError */
export async function readJsonBody(
  stream: HttpStream,
  fault: CreateFault,
  bytesMax = BODY_BYTES_MAX,
): Promise<JsonLine> {
  const chunks: Buffer[] = [];
  const place = createLargePlace(fault);
  let length = 0;
  try {
    for await (const chunk of stream.body) {
      length += chunk.length;
      if (length > bytesMax) throw fault('too-large', `the response exceeds ${bytesMax} bytes`);
      await place.enter(length);
      chunks.push(chunk);
    }
    return { json: parseLast(joined(chunks), fault), bytes: length };
  } finally {
    place.leave();
  }
}

/** Frees the parts: a large body is not held twice while it is parsed. */
function joined(parts: Buffer[]): Buffer {
  const whole = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  parts.length = 0;
  return whole;
}

interface LargePlace {
  /** Waits if the line or body is large by now. @throws SourceError after {@link LARGE_MS_MAX} in the place */
  enter(bytes: number): Promise<void>;
  /** Its reader may have it for a moment. */
  parsed(): void;
  leave(): void;
}

let lastLarge: Promise<void> = Promise.resolve();

function createLargePlace(fault: CreateFault): LargePlace {
  let free: (() => void) | null = null;
  let enteredAt = 0;
  const leave = (): void => {
    free?.();
    free = null;
  };
  return {
    leave,
    async enter(bytes) {
      if (bytes < LARGE_BYTES) return;
      if (free === null) {
        const before = lastLarge;
        const own = Promise.withResolvers<void>();
        lastLarge = own.promise;
        free = own.resolve;
        await before;
        enteredAt = performance.now();
      }
      if (performance.now() - enteredAt > LARGE_MS_MAX)
        throw fault('slow', `a line or body of ${bytes} bytes took more than ${LARGE_MS_MAX} ms`);
    },
    parsed() {
      const freed = free;
      if (freed !== null) setTimeout(freed, PARSED_MS_MAX).unref();
    },
  };
}

/** Parts of a line are joined once: joining at each chunk would copy a long line over and over. */
async function* splitLines(
  body: AsyncIterable<Buffer>,
  {
    fault,
    bytesMax,
    place,
  }: { readonly fault: CreateFault; readonly bytesMax: number; readonly place: LargePlace },
): AsyncGenerator<{ readonly bytes: Buffer; readonly isEnded: boolean }> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      if (length === 0 && at === from) {
        from = at + 1;
        continue;
      }
      parts.push(chunk.subarray(from, at));
      if (length + at - from > bytesMax) throw fault('wrong', `a line exceeds ${bytesMax} bytes`);
      const bytes = joined(parts);
      length = 0;
      from = at + 1;
      yield { bytes, isEnded: true };
    }
    if (from < chunk.length) {
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > bytesMax) throw fault('wrong', `a line exceeds ${bytesMax} bytes`);
      await place.enter(length);
    }
  }
  if (length > 0) yield { bytes: Buffer.concat(parts), isEnded: false };
}

/** The start of an object that is no JSON was cut. */
function parseLast(bytes: Buffer, fault: CreateFault): unknown {
  if (bytes[0] !== OBJECT) return parseJson(bytes, fault);
  try {
    // Invariant: HTTP-BODY-BOUNDED
    return parseModestJson(bytes);
  } catch (error) {
    if (error instanceof JsonBoundsError) throw fault('wrong', errorText(error));
    throw fault('unavailable', 'the response ended inside a JSON object');
  }
}

function parseJson(bytes: Buffer, fault: CreateFault): unknown {
  try {
    // Invariant: HTTP-BODY-BOUNDED
    return parseModestJson(bytes);
  } catch (error) {
    const start = JSON.stringify(bytes.toString('utf8', 0, SHOWN_LENGTH));
    throw fault(
      'wrong',
      error instanceof JsonBoundsError ? errorText(error) : `the response is not JSON: ${start}`,
    );
  }
}
