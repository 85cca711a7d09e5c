import type { Chain } from '@chainstead/chains';
import type { GraphqlRequest } from '../operations/operation.ts';

/** Settings of a thread. */
export interface ThreadSettings {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly databaseUrl: string;
  /** Time for one operation. Milliseconds. */
  readonly timeoutMs: number;
  /** Bytes of the values of one operation, and of its result. */
  readonly bytesMax: number;
  /** Operations that read at the same time. */
  readonly concurrency: number;
  /** Chains that operations may name. */
  readonly chains: readonly Chain[];
  /** Level of log lines. */
  readonly logLevel: string;
}

/** A request for the thread. Its port carries a null for each wanted reply, and the replies. */
export interface ThreadRequest extends GraphqlRequest {
  /** Whether the client reads a stream of events. */
  readonly acceptsEvents: boolean;
}

/** A reply of the thread. `opened` is followed by events, and those by `ended`. */
export type ThreadReply =
  | {
      readonly type: 'result';
      readonly status: 200 | 400 | 500 | 503;
      readonly isRetryable: boolean;
      readonly body: Uint8Array<ArrayBuffer>;
    }
  | { readonly type: 'opened' | 'ended' }
  | { readonly type: 'event'; readonly body: Uint8Array<ArrayBuffer> };
