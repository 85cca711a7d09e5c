import type { Logger } from '@chainstead/core';
import { failedOutcome } from '../answering/call-error.ts';
import type { AnswerCall, Call, Outcome } from '../call.ts';
import { FILTER_NOT_FOUND, type FilterContext, type Filters } from '../filters/filters.ts';
import { findMethod } from '../method-table.ts';
import type { RequestContext } from './answer-request.ts';

/**
 * Answers calls whose answer depends on what the client did before; null: it is not one of them.
 * @param answer answers other calls, such as the one that a filter stands for
 */
export type AnswerStateful = (
  call: Call,
  context: RequestContext,
  answer: AnswerCall,
) => Outcome | Promise<Outcome> | null;

/** Methods that are offered to sockets alone. */
export const SOCKET_METHODS: ReadonlySet<string> = new Set(['eth_subscribe', 'eth_unsubscribe']);

export function createAnswerStateful({
  filters,
  logger,
}: {
  readonly filters: Filters;
  readonly logger: Logger;
}): AnswerStateful {
  async function filterLogs(id: string, context: RequestContext, answer: AnswerCall): Promise<Outcome> {
    const filter = await filters.logFilter(contextOf(context), id);
    const method = findMethod('eth_getLogs');
    if (filter === null || method === undefined) return { ok: false, error: FILTER_NOT_FOUND };
    return answer({ method, params: [filter] }, context.scope);
  }

  function outcomeOf(call: Call, context: RequestContext, answer: AnswerCall): Outcome | Promise<Outcome> | null {
    const [first, second] = call.params;
    switch (call.method.name) {
      case 'eth_subscribe':
        return context.subscriber?.subscribe(first, second) ?? null;
      case 'eth_unsubscribe':
        return context.subscriber?.unsubscribe(first) ?? null;
      case 'eth_newFilter':
        return filters.newLogFilter(contextOf(context), first);
      case 'eth_newBlockFilter':
        return filters.newBlockFilter(contextOf(context));
      case 'eth_newPendingTransactionFilter':
        return filters.newPendingFilter(contextOf(context));
      case 'eth_getFilterChanges':
        return filters.changes(contextOf(context), String(first));
      case 'eth_getFilterLogs':
        return filterLogs(String(first), context, answer);
      case 'eth_uninstallFilter':
        return filters.uninstall(contextOf(context), String(first));
      default:
        return null;
    }
  }

  return (call, context, answer) => {
    const outcome = outcomeOf(call, context, answer);
    if (!(outcome instanceof Promise)) return outcome;
    const { slug } = context.served.chain;
    return outcome.catch((error: unknown) => failedOutcome(error, { slug, method: call.method.name, logger }));
  };
}

function contextOf({ served, keyId }: RequestContext): FilterContext {
  return { chain: served.chain, keyId };
}
