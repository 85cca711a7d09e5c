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
