import type { RawResult } from '@chainstead/rpc';
import type { Subscriber } from '../subscriptions/client-subscriptions.ts';

/** Part of an answer: text, or the result as an upstream wrote it. */
export type AnswerPart = string | RawResult;

/** Takes the answer to one body, over HTTP or a WebSocket. One of the methods is called, once. */
export interface Reply {
  /** Principal's id. */
  readonly keyId: string;
  /** Takes subscriptions; null where the client can't be told anything later. */
  readonly subscriber: Subscriber | null;
  /** JSON text; an empty one answers nothing, as a notification gets it. Status and headers are HTTP's alone. */
  sendText(status: number, text: string, headers?: readonly string[]): void;
  /** What HTTP has a status for: there in the API's envelope, elsewhere as the JSON-RPC answer. */
  sendRefusal(status: number, message: string, rpcText: string): void;
  /** One result: what stands before it, the JSON text that an upstream wrote, and what stands behind it. */
  sendResult(head: string, result: Buffer, tail: string): void;
  /** Parts whose length is known. */
  sendParts(parts: readonly (string | Buffer)[]): void;
  /** Parts as they come. @throws what a part's iteration throws: the client got no whole answer then */
  sendStream(parts: AsyncIterable<AnswerPart>): Promise<void>;
  /** Calls the listener when the client goes away. @returns what ends that */
  onGone(listener: () => void): () => void;
}
