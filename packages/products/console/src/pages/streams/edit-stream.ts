import type { Chain } from '@chainstead/chains';
import { type BlockRange, ChainsteadError, rangeSize, toQuantity } from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { ApiError, NotFoundError } from '@chainstead/http';
import {
  type AttemptOutcome,
  type GivenStream,
  type RangePreview,
  type Replayed,
  ValidationFailedError,
} from '@chainstead/streams';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ChangeRequest, ConsoleRoutes, ConsoleServices, View } from '../../console-page.ts';
import type { FieldProblem } from '../../layout/form.ts';
import { type Html, NOTHING, note, problem, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { count, counted } from '../../layout/numbers.ts';
import {
  emptyForm,
  formOf,
  linesOf,
  problemsOf,
  readForm,
  type StreamForm,
  streamForm,
  streamFormView,
} from './stream-form.ts';
import { isUuid, readId } from './webhooks.ts';

const ANSWER_MAX = 1_000;
const ATTEMPTS_MAX = 1_000;
const id = z.string().refine(isUuid, 'is not an id');
const oneStream = z.object({ stream: id });
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

export function addStreamChanges(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { streams } = services;
  addStreamForm(routes, services);
  routes.change('/streams/status', statusForm, async ({ form, by }) => {
    await streams.setStatus(form.stream, form.status, by);
    return { goTo: `/console/streams/${form.stream}` };
  });
  routes.change('/streams/addresses', addressesForm, async ({ form, by }) => {
    await streams.changeAddresses(form.stream, form.operation, linesOf(form.addresses), by);
    return { goTo: `/console/streams/${form.stream}/addresses` };
  });
  routes.change('/streams/duplicate', oneStream, async ({ form, by }) => {
    const { id: copy } = await streams.duplicate(form.stream, by);
    return { goTo: `/console/streams/${copy}` };
  });
  routes.change('/streams/delete', deleteForm, async ({ form, by }) => {
    await streams.remove(form.stream, by);
    return { goTo: '/console/streams' };
  });
  routes.change('/streams/test', oneStream, async ({ form, by }) => {
    const outcome = testOutcomeView(await streams.test(form.stream, by));
    return {
      title: 'Test webhook',
      body: html`${outcome}\n<p><a href="/console/streams/${form.stream}">Stream</a></p>`,
    };
  });
  routes.change('/streams/replay', replayForm, async ({ form, by }) =>
    replayedView(form.stream, await streams.replay({ streamId: form.stream, attemptIds: form.attempt, by })),
  );
  routes.change('/streams/replay-failed', oneStream, async ({ form, by }) =>
    replayedView(form.stream, await streams.replay({ streamId: form.stream, attemptIds: null, by })),
  );
}

type Request = ChangeRequest<StreamForm>;

const BLOCK = /^\d{1,15}$/;
const NO_RECEIVER = 'https://receiver.invalid/';

function addStreamForm(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { streams } = services;
  const { chains } = streams;
  const view = (
    { token }: Pick<Request, 'token'>,
    form: StreamForm,
    outcome: Html,
    problems: readonly FieldProblem[] = [],
  ): View => ({
    title: form.stream === '' ? 'New stream' : 'Edit the stream',
    body: streamFormView({ form, problems, outcome, chains, token }),
    ...(problems.length > 0 && { status: 400 as const }),
  });
  const addAction = (
    path: string,
    act: (request: Request, given: GivenStream) => Promise<View | { goTo: string }>,
  ) =>
    routes.change(path, streamForm, async (request) => {
      const { given, problems } = readForm(request.form);
      if (problems.length > 0) return view(request, request.form, NOTHING, problems);
      try {
        return await act(request, given);
      } catch (error) {
        const refusals = problemsOf(error);
        if (refusals === null) throw error;
        return view(request, request.form, NOTHING, refusals);
      }
    });
  routes.view('/streams/new', async (request) => view(request, emptyForm(), NOTHING));
  routes.view('/streams/:stream/edit', async (request) => {
    const stream = await streams.find(readId(request.parameter('stream'), 'stream'));
    if (stream === null) throw new NotFoundError('There is no such stream, or it was deleted');
    return view(request, formOf(stream), NOTHING);
  });
  addAction('/streams/form/check', async (request, given) => {
    streams.check(given);
    const done = html`<div class="done" role="status"><p>The stream is valid. It is not saved yet.</p></div>`;
    return view(request, request.form, done);
  });
  addAction('/streams/form/test', async (request) => {
    const outcome = await streams.testUrl(request.form.webhookUrl.trim(), request.by);
    return view(request, request.form, testOutcomeView(outcome));
  });
  addAction('/streams/form/preview', async (request, given) =>
    view(request, request.form, await showPreview(services, request.form, given)),
  );
  addAction('/streams/form/save', async ({ form, by }, given) => {
    const { id } =
      form.stream === '' ? await streams.create(given, by) : await streams.update(form.stream, given, by);
    return { goTo: `/console/streams/${id}` };
  });
}

/** @throws ValidationFailedError */
async function showPreview({ streams }: ConsoleServices, form: StreamForm, given: GivenStream): Promise<Html> {
  const range = readRange(form);
  const chain = streams.chains.find(({ id }) => form.chain === toQuantity(id));
  if (chain === undefined) throw refusal('chain', 'is not indexed here, so nothing is sent for it');
  const webhookUrl = form.webhookUrl.trim() || NO_RECEIVER;
  try {
    const preview = await streams.preview({
      given: { ...given, config: { ...given.config, webhookUrl } },
      streamId: form.stream || null,
      chain,
      range,
    });
    return previewView(preview, chain);
  } catch (error) {
    const isOfNode = error instanceof ChainsteadError && !(error instanceof ApiError);
    if (!isOfNode || error instanceof DatabaseUnavailableError) throw error;
    throw refusal(
      '',
      `The blocks could not be read from the chain's upstreams: ${error.message}. Try again later, or check the upstreams on the page of the chain`,
    );
  }
}

function refusal(path: string, message: string): ValidationFailedError {
  return new ValidationFailedError([{ path, message }]);
}

function readRange({ from, to }: StreamForm): BlockRange {
  const last = to.trim() || from.trim();
  if (!BLOCK.test(from.trim())) throw refusal('from', 'must be a whole number');
  if (!BLOCK.test(last)) throw refusal('to', 'must be a whole number or empty');
  const range = { from: Number(from), to: Number(last) };
  if (range.to < range.from) throw refusal('to', 'is below the first block');
  return range;
}

function previewView(preview: RangePreview & { readonly followedTo: number | null }, chain: Chain): Html {
  const { range, looked, matched, items, webhooks, absent } = preview;
  const reported = Object.entries(items).filter(([, number]) => number > 0);
  const blocks = count(looked - absent.length);
  const result =
    matched === 0
      ? html`<strong>nothing matched</strong> in ${blocks} blocks.`
      : html`<strong>${count(matched)} of ${blocks} blocks matched.</strong> Each block sends two webhooks: one immediately, and one after ${count(chain.confirmations)} more blocks with <code>confirmed: true</code>.`;
  const totals = reported.map(([name, number], index) => [index > 0 && ', ', count(number), ` ${name}`]);
  const bodies = webhooks.map(({ blockNumber, body }, index) => {
    const content = jsonText(body, `Webhook of block ${blockNumber}`);
    return html`<details ${index === 0 && 'open'}><summary>Block ${count(blockNumber)}</summary>${content}</details>`;
  });
  const place =
    range.from === range.to
      ? ['Block ', count(range.from)]
      : ['Blocks ', count(range.from), ' to ', count(range.to)];
  return html`<section class="card" aria-labelledby="preview"><h2 id="preview">Preview</h2>
<p role="status">${place} of ${shown(chain.name)}: ${result}</p>
${reported.length > 0 && html`<p>Total: ${totals}.</p>`}
${notLookedAt(preview, chain)}
${bodies}
${matched > webhooks.length && note(html`Showing the first ${count(webhooks.length)} of ${count(matched)}.`)}</section>`;
}

function notLookedAt(
  { range, looked, absent, followedTo }: RangePreview & { readonly followedTo: number | null },
  chain: Chain,
): Html {
  const [first] = absent;
  const state =
    followedTo === null
      ? 'no block of it is indexed here yet'
      : html`it is indexed here up to block ${count(followedTo)}`;
  const blocksFrom = (block: number): Html =>
    absent.length === 1
      ? html`Block ${count(block)} is missing`
      : html`${count(absent.length)} of these blocks, from ${count(block)} on, are missing`;
  const nodes = html`no upstream of ${shown(chain.name)} has ${absent.length === 1 ? 'it' : 'them'}`;
  const late = html`<p class="problem">The upstreams took too long. Blocks from ${count(range.from + looked)} on were not checked. Choose a smaller range.</p>`;
  const missing = first !== undefined && html`<p class="problem">${blocksFrom(first)}: ${nodes}; ${state}.</p>`;
  return html`${missing}${looked !== rangeSize(range) && late}`;
}

function testOutcomeView(outcome: AttemptOutcome): Html {
  const { success, httpStatus, errorMessage, durationMs, answer = '', blockedRange } = outcome;
  const status = httpStatus === null ? 'No response' : `Response: HTTP ${httpStatus}`;
  const response = html`${status}, after ${count(durationMs)} ms.`;
  const body =
    answer !== '' &&
    html`<p>Response body:</p><pre class="json" tabindex="0" role="region" aria-label="Response body">${shown(answer, ANSWER_MAX)}</pre>`;
  if (success)
    return html`<div class="done" role="status"><p>The endpoint accepted the test webhook. ${response}</p>${body}</div>`;
  const allow =
    blockedRange !== undefined &&
    html`<p>Webhooks cannot reach this address range (${shown(blockedRange)}). If you trust it, add it to <code>WEBHOOK_ALLOW_PRIVATE</code>.</p>`;
  return html`<div class="problem" role="alert"><p><strong>The endpoint did not accept the test webhook.</strong> ${response} ${shown(errorMessage ?? '', ANSWER_MAX)}</p>${allow}${body}</div>`;
}

function replayedView(streamId: string, { webhooks, isPart }: Replayed): View {
  const limit = isPart && ', the limit of waiting webhooks. Resend the others when these are delivered';
  const text =
    webhooks === 0
      ? problem('Nothing is sent: no failed webhook of this selection is stored.')
      : html`<div class="done" role="status"><p>${counted(webhooks, 'webhook is', 'webhooks are')} queued to be resent${limit}.</p>
<p>If the stream is not active, they wait.</p></div>`;
  const address = `/console/streams/${streamId}`;
  return {
    title: 'Resend',
    body: html`${text}<p><a href="${address}?show=waiting#webhooks">Waiting webhooks</a> · <a href="${address}">Stream</a></p>`,
  };
}
