import { countJsonValues, errorText, JSON_DEPTH_MAX, JsonBoundsError } from '@chainstead/core';
import type { CreateFault, HttpStream } from './http-stream.ts';

export const BODY_BYTES_MAX = 256 * 1024 * 1024;
/** One block. Bytes, text and objects take five times its size, and 3.5 times without the bytes: 250 MiB end a process. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
/** A block has thousands. A byte can become 30 bytes of objects. */
const VALUES_MAX = 16_000_000;
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
  for await (const { bytes, isEnded } of splitLines(body, fault, lineBytesMax)) {
    if (isBlank(bytes)) continue;
    yield { json: isEnded ? parseJson(bytes, fault) : parseLast(bytes, fault), bytes: bytes.length };
  }
}

/** @throws SourceError */
export async function readJson(stream: HttpStream, fault: CreateFault): Promise<unknown> {
  return (await readJsonBody(stream, fault)).json;
}

/** @throws SourceError */
export async function readJsonBody(
  stream: HttpStream,
  fault: CreateFault,
  bytesMax = BODY_BYTES_MAX,
): Promise<JsonLine> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream.body) {
    length += chunk.length;
    if (length > bytesMax) throw fault('wrong', `the response exceeds ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return { json: parseLast(Buffer.concat(chunks), fault), bytes: length };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte <= SPACE);
}

interface Line {
  readonly bytes: Buffer;
  readonly isEnded: boolean;
}

/** Parts of a line are joined once: joining at each chunk would copy a long line over and over. */
async function* splitLines(
  body: AsyncIterable<Buffer>,
  fault: CreateFault,
  bytesMax: number,
): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
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
      const bytes = parts.length === 1 ? chunk.subarray(from, at) : Buffer.concat(parts);
      // A long line is not held twice while it is parsed.
      parts = [];
      length = 0;
      from = at + 1;
      yield { bytes, isEnded: true };
    }
    if (from < chunk.length) {
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > bytesMax) throw fault('wrong', `a line exceeds ${bytesMax} bytes`);
    }
  }
  if (length > 0) yield { bytes: Buffer.concat(parts), isEnded: false };
}

/** The start of an object that is no JSON was cut. */
function parseLast(bytes: Buffer, fault: CreateFault): unknown {
  if (bytes[0] !== OBJECT) return parseJson(bytes, fault);
  try {
    return parseBounded(bytes);
  } catch (error) {
    if (error instanceof JsonBoundsError) throw fault('wrong', errorText(error));
    throw fault('unavailable', 'the response ended inside a JSON object');
  }
}

function parseJson(bytes: Buffer, fault: CreateFault): unknown {
  try {
    return parseBounded(bytes);
  } catch (error) {
    const start = JSON.stringify(bytes.toString('utf8', 0, SHOWN_LENGTH));
    throw fault(
      'wrong',
      error instanceof JsonBoundsError ? errorText(error) : `the response is not JSON: ${start}`,
    );
  }
}

/** @throws JsonBoundsError, SyntaxError */
function parseBounded(bytes: Buffer): unknown {
  countJsonValues(bytes, { depthMax: JSON_DEPTH_MAX, valuesMax: VALUES_MAX });
  return JSON.parse(bytes.toString('utf8'));
}
