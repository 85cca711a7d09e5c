import type { Chain } from '@chainstead/chains';
import type { GraphqlRequest } from '../operations/operation.ts';

export interface ThreadSettings {
  readonly databaseUrl: string;
  /** Time for one operation. Milliseconds. */
  readonly timeoutMs: number;
  /** Bytes of the values of one operation, and of its result. */
  readonly bytesMax: number;
  readonly concurrency: number;
  readonly chains: readonly Chain[];
  readonly logLevel: string;
}

/** A request for the thread. Its port carries a null for each wanted reply, and the replies. */
export interface ThreadRequest extends GraphqlRequest {
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
