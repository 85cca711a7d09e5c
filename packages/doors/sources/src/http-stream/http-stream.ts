import { parseRetryAfter } from '@chainstead/rpc/upstream-http';
import type { Dispatcher } from 'undici';
import type { SourceError, SourceFault } from '../source-error.ts';

/** Names the source, and redacts its credentials. */
export type CreateFault = (fault: SourceFault, what: string, retryAfterMs?: number | null) => SourceError;

export interface StreamRequest {
  readonly method: 'GET' | 'POST';
  /** Below the path of the URL, such as `/metadata`. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  /** Statuses whose bodies the caller reads. @default 200 */
  readonly accepted?: readonly number[];
}

export interface HttpStream {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** Decompressed and bounded. @throws SourceError; `unavailable`: the stream was cut */
  readonly body: AsyncIterable<Buffer>;
}

const TEXT_BYTES_MAX = 4_096;
const SHOWN_LENGTH = 300;
const BUSY = [429, 503, 529];
const MOVED_PERMANENTLY = [301, 308];
/** Request timeout, too early. */
const PASSING = [408, 425];

/** @throws SourceError by the status */
export async function checkStatus(stream: HttpStream, fault: CreateFault): Promise<never> {
  const { status } = stream;
  const kind = faultOf(status);
  // An unread body would hold its connection.
  const body = await readText(stream.body);
  const text = status >= 300 && status < 400 ? 'a redirect, which is not followed' : body;
  const retryAfterMs = kind === 'busy' ? parseRetryAfter(stream.header('retry-after'), Date.now()) : undefined;
  throw fault(kind, `HTTP ${status}${text === '' ? '' : `: ${text}`}`, retryAfterMs ?? null);
}

/** An HTML page is named, not shown. */
export async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of body) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length > TEXT_BYTES_MAX) break;
  }
  const text = bytes.toString('utf8').trim();
  return text.startsWith('<') ? 'an HTML page' : text.slice(0, SHOWN_LENGTH);
}

export function headerOf(headers: Dispatcher.ResponseData['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function faultOf(status: number): SourceFault {
  if (BUSY.includes(status)) return 'busy';
  if (status >= 500 || PASSING.includes(status)) return 'unavailable';
  if (status >= 300 && status < 400) return MOVED_PERMANENTLY.includes(status) ? 'refused' : 'unavailable';
  return status >= 400 ? 'refused' : 'wrong';
}
