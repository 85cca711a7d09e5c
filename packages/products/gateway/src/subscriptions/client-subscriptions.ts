import { randomBytes } from 'node:crypto';
import type { GatewayChain, Outcome } from '../call.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { invalidParams, type RpcErrorObject } from '../protocol/rpc-errors.ts';
import type { FeedListener } from './chain-feed.ts';
import type { FeedBlock, FeedLog } from './feed-block.ts';
import {
  type LogCriteria,
  matchesCriteria,
  type Notifications,
  readLogCriteria,
  type SharedText,
  Subscription,
} from './log-criteria.ts';
import type { ChainSources } from './pending-feed.ts';

type SubscriptionKind = 'newHeads' | 'logs' | 'newPendingTransactions';

export interface ClientSubscriptionsOptions {
  readonly chain: GatewayChain;
  readonly sources: ChainSources;
  readonly metrics: GatewayMetrics;
  readonly report: (notifications: Notifications) => void;
  readonly subscriptionsMax: number;
}

export interface Subscriber {
  subscribe(kind: unknown, options: unknown): Promise<Outcome>;
  unsubscribe(id: unknown): Outcome;
  /** After the response to the message: its subscriptions may notify now. */
  answered(): void;
}

export interface ClientSubscriptions {
  subscriberOfMessage(): Subscriber;
  close(): void;
}

const ID_BYTES = 16;

export function createClientSubscriptions(options: ClientSubscriptionsOptions): ClientSubscriptions {
  const { chain, sources, metrics, report, subscriptionsMax } = options;
  const { slug } = chain;
  const open = new Map<string, { readonly subscription: Subscription; readonly kind: SubscriptionKind }>();
  let isClosed = false;

  function end(id: string): boolean {
    const entry = open.get(id);
    if (entry === undefined) return false;
    open.delete(id);
    entry.subscription.end();
    metrics.subscriptions.dec({ chain: slug, kind: entry.kind });
    return true;
  }

  function add(kind: SubscriptionKind): Subscription {
    const id = `0x${randomBytes(ID_BYTES).toString('hex')}`;
    const subscription = new Subscription(id, report, () => metrics.notifications.inc({ chain: slug, kind }));
    open.set(subscription.id, { subscription, kind });
    metrics.subscriptions.inc({ chain: slug, kind });
    return subscription;
  }

  function watch(wanted: Wanted, subscription: Subscription): Promise<() => void> {
    switch (wanted.kind) {
      case 'newHeads':
        return sources.blocks.watch({
          wantsLogs: false,
          added: (block) => subscription.notify([block.headText], block),
          removed: () => undefined,
        });
      case 'logs':
        return sources.blocks.watch(logListener(subscription, wanted.criteria));
      case 'newPendingTransactions':
        return sources.pending.watch({
          isFull: wanted.isFull,
          pending: (transactions) => subscription.notify(transactions.texts, transactions),
        });
    }
  }

  return {
    subscriberOfMessage() {
      const begun: Subscription[] = [];
      let isAnswered = false;
      return {
        async subscribe(kind, given) {
          const wanted = readWanted(kind, given);
          if ('code' in wanted) return { ok: false, error: wanted };
          if (open.size >= subscriptionsMax) {
            const message = `A connection may have ${subscriptionsMax} subscriptions`;
            return { ok: false, error: { code: -32_005, message } };
          }
          const subscription = add(wanted.kind);
          try {
            subscription.source = await watch(wanted, subscription);
          } catch (error) {
            end(subscription.id);
            throw error;
          }
          // The client timed out or disconnected, and never knows the id.
          if (isAnswered || isClosed) end(subscription.id);
          begun.push(subscription);
          return { ok: true, result: Buffer.from(`"${subscription.id}"`), cached: true };
        },
        unsubscribe(id) {
          if (typeof id === 'string' && end(id)) return { ok: true, result: Buffer.from('true'), cached: true };
          return { ok: false, error: NOT_FOUND };
        },
        answered() {
          isAnswered = true;
          for (const subscription of begun) subscription.activate();
        },
      };
    },
    close() {
      isClosed = true;
      for (const id of [...open.keys()]) end(id);
    },
  };
}

const NOT_FOUND: RpcErrorObject = { code: -32_000, message: 'subscription not found' };

type Wanted =
  | { readonly kind: 'newHeads' }
  | { readonly kind: 'logs'; readonly criteria: LogCriteria }
  | { readonly kind: 'newPendingTransactions'; readonly isFull: boolean };

function readWanted(kind: unknown, given: unknown): Wanted | RpcErrorObject {
  if (kind === 'newHeads') return { kind };
  if (kind === 'newPendingTransactions') {
    if (given === undefined || given === null || typeof given === 'boolean')
      return { kind, isFull: given === true };
    return invalidParams('invalid argument 1: full transactions must be true or false');
  }
  if (kind !== 'logs')
    return { code: -32_601, message: `no ${JSON.stringify(kind)} subscription in eth namespace` };
  const criteria = readLogCriteria(given);
  return typeof criteria === 'string' ? invalidParams(`invalid argument 1: ${criteria}`) : { kind, criteria };
}

function logListener(subscription: Subscription, criteria: LogCriteria): FeedListener {
  const report = (
    block: FeedBlock,
    logs: readonly FeedLog[] | null,
    textOf: (log: FeedLog) => SharedText,
  ): void => {
    if (logs !== null && logs.length > 0) subscription.notify(wantedOf(criteria, logs, textOf), block);
  };
  return {
    wantsLogs: true,
    added: (block) => report(block, block.logs, ({ text }) => text),
    // A client undoes changes in reverse order.
    removed: (block) => report(block, block.logs?.toReversed() ?? null, ({ removedText }) => removedText),
  };
}

function* wantedOf(
  criteria: LogCriteria,
  logs: readonly FeedLog[],
  textOf: (log: FeedLog) => SharedText,
): Generator<SharedText> {
  for (const entry of logs) if (matchesCriteria(criteria, entry.log)) yield textOf(entry);
}
