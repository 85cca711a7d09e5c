import type { Chain } from '@chainstead/chains';
import { type BlockRange, rangeSize, toQuantity } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import type { GivenStream, RangePreview } from '@chainstead/streams';
import { html } from 'hono/html';
import type { ChangeRequest, ConsoleRoutes, ConsoleServices, View } from '../../console-page.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { count } from '../../layout/numbers.ts';
import { testOutcomeView } from './change-streams.ts';
import {
  emptyForm,
  type FieldProblem,
  formOf,
  nodeProblemOf,
  problemsOf,
  readForm,
  type StreamForm,
  streamForm,
} from './stream-form.ts';
import { streamFormView } from './stream-form-view.ts';
import { readId } from './stream-list-view.ts';

type Request = ChangeRequest<StreamForm>;

const BLOCK = /^\d{1,15}$/;
const NO_RECEIVER = 'https://receiver.invalid/';

export function addStreamForm(routes: ConsoleRoutes, services: ConsoleServices): void {
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
  const addAction = (path: string, act: (request: Request, given: GivenStream) => Promise<View | { goTo: string }>) =>
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
  addAction('/streams/form/preview', async (request, given) => {
    const preview = await showPreview(services, request.form, given);
    if ('problem' in preview) return view(request, request.form, NOTHING, [preview.problem]);
    return view(request, request.form, preview.outcome);
  });
  addAction('/streams/form/save', async ({ form, by }, given) => {
    const { id } = form.stream === '' ? await streams.create(given, by) : await streams.update(form.stream, given, by);
    return { goTo: `/console/streams/${id}` };
  });
}

async function showPreview(
  { streams }: Pick<ConsoleServices, 'streams'>,
  form: StreamForm,
  given: GivenStream,
): Promise<{ readonly outcome: Html } | { readonly problem: FieldProblem }> {
  const read = readRange(form);
  if ('problem' in read) return read;
  const chain = streams.chains.find(({ id }) => form.chain === toQuantity(id));
  if (chain === undefined)
    return { problem: { field: 'chain', message: 'is not indexed here, so nothing is sent for it' } };
  const webhookUrl = form.webhookUrl.trim() === '' ? NO_RECEIVER : form.webhookUrl.trim();
  try {
    const preview = await streams.preview({
      given: { ...given, config: { ...given.config, webhookUrl } },
      streamId: form.stream === '' ? null : form.stream,
      chain,
      range: read.range,
    });
    return { outcome: previewView(preview, chain) };
  } catch (error) {
    const problem = nodeProblemOf(error);
    if (problem === null) throw error;
    return { problem };
  }
}

function readRange({ from, to }: StreamForm): { readonly range: BlockRange } | { readonly problem: FieldProblem } {
  const last = to.trim() === '' ? from.trim() : to.trim();
  if (!BLOCK.test(from.trim())) return { problem: { field: 'from', message: 'must be a whole number' } };
  if (!BLOCK.test(last)) return { problem: { field: 'to', message: 'must be a whole number or empty' } };
  const range = { from: Number(from), to: Number(last) };
  if (range.to < range.from) return { problem: { field: 'to', message: 'is below the first block' } };
  return { range };
}

function previewView(preview: RangePreview & { readonly followedTo: number | null }, chain: Chain): Html {
  const { range, looked, matched, items, webhooks } = preview;
  const reported = Object.entries(items).filter(([, number]) => number > 0);
  return html`<section class="card" aria-labelledby="preview"><h2 id="preview">Preview</h2>
<p role="status">${range.from === range.to ? html`Block ${count(range.from)}` : html`Blocks ${count(range.from)} to ${count(range.to)}`} of ${shown(chain.name)}: ${
    matched === 0
      ? html`<strong>nothing matched</strong> in ${count(looked - preview.absent.length)} blocks.`
      : html`<strong>${count(matched)} of ${count(looked - preview.absent.length)} blocks matched.</strong> Each block sends two webhooks: one immediately, and one after ${count(chain.confirmations)} more blocks with <code>confirmed: true</code>.`
  }</p>
${reported.length > 0 && html`<p>Total: ${reported.map(([name, number], index) => html`${index === 0 ? '' : ', '}${count(number)} ${name}`)}.</p>`}
${notLookedAt(preview, chain)}
${webhooks.map(({ blockNumber, body }, index) => html`<details ${index === 0 && html`open`}><summary>Block ${count(blockNumber)}</summary>${jsonText(body, `Webhook of block ${blockNumber}`)}</details>`)}
${matched > webhooks.length && html`<p class="soft">Showing the first ${count(webhooks.length)} of ${count(matched)}.</p>`}</section>`;
}

function notLookedAt(
  { range, looked, absent, followedTo }: RangePreview & { readonly followedTo: number | null },
  chain: Chain,
): Html {
  const [first] = absent;
  const state =
    followedTo === null
      ? html`no block of it is indexed here yet`
      : html`it is indexed here up to block ${count(followedTo)}`;
  return html`${
    first !== undefined &&
    html`<p class="problem">${absent.length === 1 ? html`Block ${count(first)} is missing` : html`${count(absent.length)} of these blocks, from ${count(first)} on, are missing`}: no node of ${shown(chain.name)} has ${absent.length === 1 ? 'it' : 'them'}; ${state}.</p>`
  }${
    looked !== rangeSize(range) &&
    html`<p class="problem">The nodes took too long. Blocks from ${count(range.from + looked)} on were not checked. Choose a smaller range.</p>`
  }`;
}
