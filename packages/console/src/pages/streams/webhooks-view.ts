import type { AttemptPage, WaitingPage } from '@chainstead/streams';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { attemptView } from '../../layout/severity.ts';
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
    return html`<tr><td>${box}</td><td class="whole"><a href="/console/streams/${streamId}/deliveries/${attempt.deliveryId}">${moment(attempt.createdAt)}</a></td>
<td>${shown(chainName(attempt.chainId))}</td><td class="number">${count(attempt.blockNumber)}</td><td class="whole">${attempt.confirmed ? 'confirmed' : 'unconfirmed'}</td>
<td class="number">${count(attempt.retries + 1)}</td><td>${attemptView(attempt.success)}</td><td>${answerOf(attempt)}</td><td class="number">${count(attempt.durationMs)} ms</td><td class="number">${count(attempt.records)}</td></tr>`;
  });
  const table = html`<div class="table" tabindex="0" role="region" aria-label="Attempts"><table><caption>Delivery attempts, newest first. Each links to its webhook</caption><thead><tr><th scope="col">Select</th><th scope="col">Time</th><th scope="col">Chain</th><th scope="col" class="number">Block</th><th scope="col">Kind</th><th scope="col" class="number">Attempt</th><th scope="col">Outcome</th><th scope="col">Response</th><th scope="col" class="number">Duration</th><th scope="col" class="number">Records</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  if (attempts.every(({ success }) => success)) return table;
  const fields = html`<input type="hidden" name="stream" value="${streamId}">${table}<p><button class="quiet">Resend selected</button></p>`;
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
  const rows = deliveries.map(
    ({ id, chainId, blockNumber, kind, retries, createdAt, dueAt }) =>
      html`<tr><td class="whole"><a href="/console/streams/${streamId}/deliveries/${id}">${moment(dueAt)}</a></td><td>${shown(chainName(chainId))}</td><td class="number">${count(blockNumber)}</td><td class="whole">${kind}</td><td class="number">${count(retries)}</td><td class="whole">${moment(createdAt)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Waiting webhooks"><table><caption>Waiting webhooks, next due first</caption><thead><tr><th scope="col">Due</th><th scope="col">Chain</th><th scope="col" class="number">Block</th><th scope="col">Kind</th><th scope="col" class="number">Failed attempts</th><th scope="col">Created</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function replayAllView({ streamId, token }: WebhooksFacts): Html {
  const fields = html`<input type="hidden" name="stream" value="${streamId}"><p>Resends each webhook whose retries are used up, with the body of its last attempt.</p><button class="quiet">Resend all</button>`;
  return html`<details><summary>Resend all failed webhooks</summary>${changeForm('/console/streams/replay-failed', token, fields)}</details>`;
}
