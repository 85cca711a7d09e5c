import type { RawResult } from '@chainstead/rpc';
import type { Subscriber } from '../subscriptions/client-subscriptions.ts';

export type AnswerPart = string | RawResult;

/** For one body, over HTTP or a WebSocket. One method is called, once. */
export interface Reply {
  readonly keyId: string;
  readonly subscriber: Subscriber | null;
  /** An empty text sends no response. Status and headers are for HTTP. */
  sendText(status: number, text: string, headers?: readonly string[]): void;
  sendRefusal(status: number, message: string, rpcText: string): void;
  sendResult(head: string, result: Buffer, tail: string): void;
  sendParts(parts: readonly (string | Buffer)[]): void;
  /** @throws the error of a part's iteration: the response is incomplete */
  sendStream(parts: AsyncIterable<AnswerPart>): Promise<void>;
  /** @returns stops it */
  onGone(listener: () => void): () => void;
}
