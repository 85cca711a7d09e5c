import type { AttemptPage, WaitingPage } from '@chainstead/streams';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { attemptView } from '../../layout/severity.ts';
import { number, table, wide } from '../../layout/table.ts';
import { writePosition } from './list-position.ts';
import { SHOWN, type ShownWebhooks, writeQuery } from './stream-query.ts';

/** The webhooks of a stream on the page. */
export type ListedWebhooks =
  | { readonly show: 'waiting'; readonly page: WaitingPage }
  | { readonly show: 'all' | 'failed'; readonly page: AttemptPage };

export interface WebhooksFacts {
  readonly streamId: string;
  readonly listed: ListedWebhooks;
  readonly chainName: (id: number) => string;
  readonly token: string;
}

const NAMES: Readonly<Record<ShownWebhooks, string>> = {
  all: 'All attempts',
  failed: 'Failed attempts',
  waiting: 'Waiting',
};
const ERROR_MAX = 200;

/** The webhooks of a stream: attempts or waiting ones. */
export function webhooksView(facts: WebhooksFacts): Html {
  const { streamId, listed } = facts;
  const address = `/console/streams/${streamId}`;
  const links = SHOWN.map(
    (show) =>
      html`<li><a href="${address}${writeQuery({ show: show === 'all' ? null : show })}#webhooks" ${show === listed.show ? html`aria-current="true"` : NOTHING}>${NAMES[show]}</a></li>`,
  );
  const { next } = listed.page;
  const following =
    next === null ? null : `${address}${writeQuery({ show: listed.show, after: writePosition(next) })}#webhooks`;
  return html`<nav aria-label="Webhooks"><ul>${links}</ul></nav>
${listed.show === 'waiting' ? waitingView(facts, listed.page) : attemptsView(facts, listed.page)}
${following === null ? NOTHING : html`<p><a href="${following}" rel="next">${listed.show === 'waiting' ? 'Later' : 'Older'}</a></p>`}
${replayAllView(facts)}`;
}

function attemptsView({ streamId, chainName, token }: WebhooksFacts, { attempts }: AttemptPage): Html {
  if (attempts.length === 0) return html`<p class="soft">No attempts recorded.</p>`;
  const rows = attempts.map((attempt) => {
    const name = `the attempt of ${attempt.createdAt.toISOString()}`;
    const box = attempt.success
      ? NOTHING
      : html`<input type="checkbox" name="attempt" value="${attempt.id}" aria-label="Select ${name}">`;
    return [
      box,
      html`<a href="/console/streams/${streamId}/deliveries/${attempt.deliveryId}">${moment(attempt.createdAt)}</a>`,
      shown(chainName(attempt.chainId)),
      count(attempt.blockNumber),
      attempt.confirmed ? 'confirmed' : 'unconfirmed',
      count(attempt.retries + 1),
      attemptView(attempt.success),
      answerOf(attempt),
      html`${count(attempt.durationMs)} ms`,
      count(attempt.records),
    ];
  });
  const list = table({
    label: 'Attempts',
    caption: 'Delivery attempts, newest first. Each links to its webhook',
    columns: [
      'Select',
      wide('Time', 'whole'),
      'Chain',
      number('Block'),
      wide('Kind', 'whole'),
      number('Attempt'),
      'Outcome',
      'Response',
      number('Duration'),
      number('Records'),
    ],
    rows,
  });
  if (attempts.every(({ success }) => success)) return list;
  const fields = html`<input type="hidden" name="stream" value="${streamId}">${list}<p><button class="quiet">Resend selected</button></p>`;
  return changeForm('/console/streams/replay', token, fields, 'Resend webhooks');
}

/** The response. */
export function answerOf({
  httpStatus,
  errorMessage,
}: {
  readonly httpStatus: number | null;
  readonly errorMessage: string;
}): Html {
  return html`${httpStatus === null ? NOTHING : html`HTTP ${String(httpStatus)} `}${errorMessage === '' ? NOTHING : shown(errorMessage, ERROR_MAX)}`;
}

function waitingView({ streamId, chainName }: WebhooksFacts, { deliveries }: WaitingPage): Html {
  if (deliveries.length === 0) return html`<p class="soft">No webhooks are waiting.</p>`;
  const rows = deliveries.map(({ id, chainId, blockNumber, kind, retries, createdAt, dueAt }) => [
    html`<a href="/console/streams/${streamId}/deliveries/${id}">${moment(dueAt)}</a>`,
    shown(chainName(chainId)),
    count(blockNumber),
    kind,
    count(retries),
    moment(createdAt),
  ]);
  return table({
    label: 'Waiting webhooks',
    caption: 'Waiting webhooks, next due first',
    columns: [
      wide('Due', 'whole'),
      'Chain',
      number('Block'),
      wide('Kind', 'whole'),
      number('Failed attempts'),
      wide('Created', 'whole'),
    ],
    rows,
  });
}

function replayAllView({ streamId, token }: WebhooksFacts): Html {
  const fields = html`<input type="hidden" name="stream" value="${streamId}"><p>Resends each webhook whose retries are used up, with the body of its last attempt.</p><button class="quiet">Resend all</button>`;
  return html`<details><summary>Resend all failed webhooks</summary>${changeForm('/console/streams/replay-failed', token, fields)}</details>`;
}
