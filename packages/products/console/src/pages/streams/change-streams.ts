import type { AttemptOutcome, Replayed } from '@chainstead/streams';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsoleRoutes, ConsoleServices, View } from '../../console-page.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';
import { isUuid } from './stream-list-view.ts';

const ANSWER_MAX = 1_000;
const ATTEMPTS_MAX = 1_000;
const id = z.string().refine(isUuid, 'is not an id');
const streamForm = z.object({ stream: id });
const sure = z.literal('yes', 'tick the box to confirm');
const statusForm = z.discriminatedUnion('status', [
  z.object({ stream: id, status: z.enum(['active', 'paused']) }),
  z.object({ stream: id, status: z.literal('terminated'), sure }),
]);
const deleteForm = z.object({ stream: id, sure });
const replayForm = z.object({
  stream: id,
  attempt: z
    .union([id, z.array(id).max(ATTEMPTS_MAX)], 'choose at least one attempt')
    .transform((attempts) => [attempts].flat()),
});
const operation = z.enum(['add', 'remove', 'replace']);
const addressesForm = z.object({ stream: id, operation, addresses: z.string() });

export function addStreamChanges(routes: ConsoleRoutes, { streams }: ConsoleServices): void {
  routes.change('/streams/status', statusForm, async ({ form, by }) => {
    await streams.setStatus(form.stream, form.status, by);
    return { goTo: `/console/streams/${form.stream}` };
  });
  routes.change('/streams/addresses', addressesForm, async ({ form, by }) => {
    await streams.changeAddresses(form.stream, form.operation, linesOf(form.addresses), by);
    return { goTo: `/console/streams/${form.stream}/addresses` };
  });
  routes.change('/streams/duplicate', streamForm, async ({ form, by }) => {
    const { id: copy } = await streams.duplicate(form.stream, by);
    return { goTo: `/console/streams/${copy}` };
  });
  routes.change('/streams/delete', deleteForm, async ({ form, by }) => {
    await streams.remove(form.stream, by);
    return { goTo: '/console/streams' };
  });
  routes.change('/streams/test', streamForm, async ({ form, by }) => {
    const outcome = testOutcomeView(await streams.test(form.stream, by));
    return {
      title: 'Test webhook',
      body: html`<h1>Test webhook</h1>
${outcome}
<p><a href="/console/streams/${form.stream}">Stream</a></p>`,
    };
  });
  routes.change('/streams/replay', replayForm, async ({ form, by }) =>
    replayedView(form.stream, await streams.replay({ streamId: form.stream, attemptIds: form.attempt, by })),
  );
  routes.change('/streams/replay-failed', streamForm, async ({ form, by }) =>
    replayedView(form.stream, await streams.replay({ streamId: form.stream, attemptIds: null, by })),
  );
}

export function linesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

export function testOutcomeView(outcome: AttemptOutcome): Html {
  const { success, httpStatus, errorMessage, durationMs, answer, blockedRange } = outcome;
  const response = html`${httpStatus === null ? 'No response' : html`Response: HTTP ${String(httpStatus)}`}, after ${count(durationMs)} ms.`;
  const body =
    answer === undefined || answer === ''
      ? NOTHING
      : html`<p>Response body:</p><pre class="json" tabindex="0" role="region" aria-label="Response body">${shown(answer, ANSWER_MAX)}</pre>`;
  if (success)
    return html`<div class="done" role="status"><p>The endpoint accepted the test webhook. ${response}</p>${body}</div>`;
  const allow =
    blockedRange === undefined
      ? NOTHING
      : html`<p>Webhooks cannot reach this address range (${shown(blockedRange)}). If you trust it, add it to <code>WEBHOOK_ALLOW_PRIVATE</code>.</p>`;
  return html`<div class="problem" role="alert"><p><strong>The endpoint did not accept the test webhook.</strong> ${response} ${shown(errorMessage ?? '', ANSWER_MAX)}</p>${allow}${body}</div>`;
}

function replayedView(streamId: string, { webhooks, isPart }: Replayed): View {
  const text =
    webhooks === 0
      ? html`<p class="problem" role="alert">Nothing is sent: no failed webhook of this selection is stored.</p>`
      : html`<div class="done" role="status"><p>${count(webhooks)} ${webhooks === 1 ? 'webhook is' : 'webhooks are'} queued to be resent${isPart ? ', the limit of waiting webhooks (REPLAYS_PER_KEY). Resend the others when these are delivered' : ''}.</p>
<p>If the stream is not active, they wait.</p></div>`;
  return {
    title: 'Resend',
    body: html`<h1>Resend</h1>${text}<p><a href="/console/streams/${streamId}?show=waiting#webhooks">Waiting webhooks</a> · <a href="/console/streams/${streamId}">Stream</a></p>`,
  };
}
