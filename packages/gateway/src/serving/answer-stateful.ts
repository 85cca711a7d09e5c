import type { Logger } from '@chainstead/core';
import { failedOutcome } from '../answering/call-error.ts';
import type { Call, Outcome } from '../call.ts';
import type { RequestContext } from './answer-request.ts';

/** Answers calls whose answer depends on what the client did before; null: it is not one of them. */
export type AnswerStateful = (call: Call, context: RequestContext) => Outcome | Promise<Outcome> | null;

/** Methods that are offered to sockets alone. */
export const SOCKET_METHODS: ReadonlySet<string> = new Set(['eth_subscribe', 'eth_unsubscribe']);

export function createAnswerStateful({ logger }: { readonly logger: Logger }): AnswerStateful {
  return ({ method: { name }, params }, { served, subscriber }) => {
    if (subscriber === null) return null;
    if (name === 'eth_unsubscribe') return subscriber.unsubscribe(params[0]);
    if (name !== 'eth_subscribe') return null;
    return subscriber
      .subscribe(params[0], params[1])
      .catch((error: unknown) => failedOutcome(error, { slug: served.chain.slug, method: name, logger }));
  };
}
