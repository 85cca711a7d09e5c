import { type Indexed, indexedFields, inside, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { tracedMark, tracesMark } from './internal-transaction-response.ts';

const { flag } = wire;

/** `no-archive`: no upstream has old state. */
const searchState = wire.wire(z.enum(['waiting', 'reading', 'done', 'refused', 'no-archive', 'failed']));
export type SearchState = z.infer<ReturnType<typeof searchState>['schema']>;

interface SentMark {
  readonly complete: boolean;
  readonly state: SearchState | null;
}

const sentView = view(null, (sent: SentMark) => sent, {
  complete: flag('true if all transactions sent by the wallet are known'),
  state: searchState.orNull(
    'Status of the search for sent transactions in older blocks. Values: waiting (for its turn or for final blocks), reading, done, failed (retried), refused (too many node calls), no-archive (no node has old state). null if no search is required',
  ),
});

interface ReceivedMark {
  readonly searched: boolean;
  readonly exact: boolean;
  readonly state: SearchState | null;
}

const receivedView = view(null, (received: ReceivedMark) => received, {
  searched: flag(
    'true if the balances of the wallet were searched for received native tokens, except in the newest blocks, which may still be reorged. Amounts received and spent between two searched blocks are not found',
  ),
  exact: flag(
    'true if the account index of a node returned the transactions in these blocks, and they explain all changes of its nonce and balance',
  ),
  state: searchState.orNull(
    'Status of this search. It starts when all sent transactions are known. Same values as for `sent`',
  ),
});

export interface OlderMarks {
  readonly sent: SentMark;
  readonly received: ReceivedMark;
}

/** Null: all wallets are stored. */
interface WithOlder {
  readonly older: OlderMarks | null;
}

export const olderFields = {
  sent: inside(sentView).orAbsent(
    'Only if only the transactions of requested wallets are indexed',
    ({ older }: WithOlder) => older?.sent,
  ),
  received: inside(receivedView).orAbsent('Only if `sent` is present', ({ older }: WithOlder) => older?.received),
};

interface IndexedTransactions extends WithOlder {
  readonly indexed: Indexed;
  readonly areSendersRecovered: boolean;
  /** Undefined: not requested; null: no node provides traces. */
  readonly traced: unknown;
}

export const indexedTransactionsView = view(
  'IndexedTransactions',
  ({ indexed, ...found }: IndexedTransactions) => ({ ...indexed, ...found }),
  {
    ...indexedFields,
    traces: wire.wire(tracesMark).orAbsent(({ traced }) => tracedMark(traced)?.traces),
    senders: wire.wire(z.enum(['recovered', 'believed']))(
      'true if every sender on the page was recovered from its signature',
      ({ areSendersRecovered }) => (areSendersRecovered ? 'recovered' : 'believed'),
    ),
    ...olderFields,
  },
);
