import type { RawResult } from '@chainstead/rpc';
import type { Subscriber } from '../subscriptions/client-subscriptions.ts';

export type AnswerPart = string | RawResult;

/** Receives the response to one body, over HTTP or a WebSocket. Exactly one of the methods is called, once. */
export interface Reply {
  readonly keyId: string;
  readonly subscriber: Subscriber | null;
  /** Sends JSON text; an empty text sends no response, as for a notification. Status and headers apply only to HTTP. */
  sendText(status: number, text: string, headers?: readonly string[]): void;
  /** In the API's envelope over HTTP, otherwise as a JSON-RPC response. */
  sendRefusal(status: number, message: string, rpcText: string): void;
  sendResult(head: string, result: Buffer, tail: string): void;
  sendParts(parts: readonly (string | Buffer)[]): void;
  /** Sends parts as they arrive. @throws the error of a part's iteration: then the client got no complete response */
  sendStream(parts: AsyncIterable<AnswerPart>): Promise<void>;
  /** Calls the listener when the client disconnects. @returns the function that stops it */
  onGone(listener: () => void): () => void;
}
