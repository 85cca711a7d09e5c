import type { Logger } from '@chainstead/core';
import type { Call, HandleCall, Outcome } from '../call.ts';
import { failedOutcome } from '../calls/call-error.ts';
import { FILTER_NOT_FOUND, type FilterContext, type Filters } from '../filters/filters.ts';
import { findMethod } from '../methods/method-table.ts';
import type { RequestContext } from './request-context.ts';

/** Null: independent of earlier calls. `answer` handles a filter's eth_getLogs. */
export type HandleStateful = (
  call: Call,
  context: RequestContext,
  answer: HandleCall,
) => Outcome | Promise<Outcome> | null;

export const SOCKET_METHODS: ReadonlySet<string> = new Set(['eth_subscribe', 'eth_unsubscribe']);

export function createAnswerStateful(filters: Filters, logger: Logger): HandleStateful {
  async function filterLogs(id: string, context: RequestContext, answer: HandleCall): Promise<Outcome> {
    const filter = await filters.logFilter(contextOf(context), id);
    const method = findMethod('eth_getLogs');
    if (filter === null || method === undefined) return { ok: false, error: FILTER_NOT_FOUND };
    return answer({ method, params: [filter] }, context.scope);
  }

  function outcomeOf(call: Call, context: RequestContext, answer: HandleCall): Outcome | Promise<Outcome> | null {
    const [first, second] = call.params;
    const owner = contextOf(context);
    switch (call.method.name) {
      case 'eth_subscribe':
        return context.subscriber?.subscribe(first, second) ?? null;
      case 'eth_unsubscribe':
        return context.subscriber?.unsubscribe(first) ?? null;
      case 'eth_newFilter':
        return filters.newLogFilter(owner, first);
      case 'eth_newBlockFilter':
        return filters.newBlockFilter(owner);
      case 'eth_newPendingTransactionFilter':
        return filters.newPendingFilter(owner);
      case 'eth_getFilterChanges':
        return filters.changes(owner, String(first));
      case 'eth_getFilterLogs':
        return filterLogs(String(first), context, answer);
      case 'eth_uninstallFilter':
        return filters.uninstall(owner, String(first));
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
