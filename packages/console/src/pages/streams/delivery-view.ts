import type { DeliveryRecord } from '@chainstead/streams';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { count, moment } from '../../layout/numbers.ts';
import { answerOf } from './webhooks-view.ts';

const URL_MAX = 2_000;

const MEANINGS: Readonly<Record<DeliveryRecord['status'], string>> = {
  pending: 'waits to be sent',
  delivered: 'arrived',
  failed: 'failed for good: its retries are used up',
  dropped: 'dropped: its block left the chain, or its stream was deleted',
};

/** One webhook: what it tells, and all that became of it. */
export function deliveryView(
  delivery: DeliveryRecord,
  { chainName, token }: { readonly chainName: (id: number) => string; readonly token: string },
): Html {
  const { id, streamId, chainId, blockNumber, blockHash, kind, status, retries, body } = delivery;
  const address = `/console/streams/${streamId}`;
  return html`<h1>Webhook</h1>
<p class="soft"><a href="/console/streams">Streams</a> · <a href="${address}">Stream</a> · <code>${id}</code></p>
<dl class="facts wide">
<dt>Status</dt><dd>${MEANINGS[status]}</dd>
<dt>Tells of</dt><dd>block ${count(blockNumber)} of ${shown(chainName(chainId))}, ${kind}</dd>
<dt>Block hash</dt><dd><code>${blockHash}</code></dd>
<dt>Failed attempts</dt><dd>${count(retries)}</dd>
<dt>Made</dt><dd>${moment(delivery.createdAt)}</dd>
${status === 'pending' ? html`<dt>Due</dt><dd>${moment(delivery.dueAt)}</dd>` : NOTHING}
<dt>Arrived</dt><dd>${delivery.deliveredAt === null ? '–' : html`${moment(delivery.deliveredAt)}, ${count(delivery.deliveredAt.getTime() - delivery.createdAt.getTime())} ms after it was made`}</dd>
</dl>
<section aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>${attemptsView(delivery, token)}</section>
<section aria-labelledby="body"><h2 id="body">Body</h2>
${body === null ? html`<p class="soft">It is made before the first attempt, and kept as long as the history of webhooks.</p>` : jsonText(body, 'Body', `${address}/deliveries/${id}/body.json`)}</section>`;
}

function attemptsView({ streamId, attempts }: DeliveryRecord, token: string): Html {
  if (attempts.length === 0) return html`<p class="soft">It was not sent yet.</p>`;
  const rows = attempts.map(
    (
      attempt,
    ) => html`<tr><td class="whole">${moment(attempt.createdAt)}</td><td class="number">${count(attempt.retries + 1)}</td><td>${attempt.success ? 'arrived' : 'failed'}</td>
<td>${answerOf(attempt)}</td><td class="number">${count(attempt.durationMs)} ms</td><td>${shown(attempt.webhookUrl, URL_MAX)}</td><td class="whole">${attempt.success ? NOTHING : replayForm(streamId, attempt.id, token)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Attempts"><table><caption>The newest first</caption><thead><tr><th scope="col">Answered</th><th scope="col" class="number">Attempt</th><th scope="col">Outcome</th><th scope="col">Answer</th><th scope="col" class="number">Took</th><th scope="col">To</th><th scope="col">Once more</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function replayForm(streamId: string, attempt: string, token: string): Html {
  return changeForm(
    '/console/streams/replay',
    token,
    html`<input type="hidden" name="stream" value="${streamId}"><input type="hidden" name="attempt" value="${attempt}"><button class="quiet">Send again</button>`,
    'Send what this attempt sent once more',
  );
}
