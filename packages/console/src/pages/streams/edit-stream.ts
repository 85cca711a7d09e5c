import { type BlockRange, toQuantity } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import type { GivenStream } from '@chainstead/streams';
import { html } from 'hono/html';
import type { ChangeRequest, ConsoleRoutes, ConsoleServices, View } from '../../console-page.ts';
import { type Html, NOTHING } from '../../layout/html.ts';
import { testOutcomeView } from './change-streams.ts';
import { type FieldProblem, nodeProblemOf, problemsOf } from './form-problems.ts';
import { previewView } from './preview-view.ts';
import { emptyForm, formOf, readForm, type StreamForm, streamForm } from './stream-form.ts';
import { streamFormView } from './stream-form-view.ts';
import { readId } from './stream-query.ts';

type Request = ChangeRequest<StreamForm>;

const BLOCK = /^\d{1,15}$/;
/** Of a preview, whose webhooks do not tell it. */
const NO_RECEIVER = 'https://receiver.invalid/';

/** The form of streams: checked, previewed, tested and saved by the rules of the API. */
export function addStreamForm(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { streams } = services;
  const { chains } = streams;
  const view = (token: string, form: StreamForm, outcome: Html, problems: readonly FieldProblem[] = []): View => ({
    title: form.stream === '' ? 'New stream' : 'Edit the stream',
    body: streamFormView({ form, problems, outcome, chains, token }),
    ...(problems.length > 0 && { status: 400 as const }),
  });
  /** What the form's errors are shown beside it for. */
  const tried = async (
    { form, token }: Request,
    work: (read: ReturnType<typeof readForm>) => Promise<View | { goTo: string }>,
  ) => {
    const read = readForm(form);
    if (read.problems.length > 0) return view(token, form, NOTHING, read.problems);
    try {
      return await work(read);
    } catch (error) {
      const problems = problemsOf(error);
      if (problems === null) throw error;
      return view(token, form, NOTHING, problems);
    }
  };
  routes.view('/streams/new', async ({ token }) => view(token, emptyForm(), NOTHING));
  routes.view('/streams/:stream/edit', async ({ parameter, token }) => {
    const stream = await streams.find(readId(parameter('stream'), 'stream'));
    if (stream === null) throw new NotFoundError('There is no such stream, or it was deleted');
    return view(token, formOf(stream), NOTHING);
  });
  routes.change('/streams/form/check', streamForm, (request) =>
    tried(request, async ({ given }) => {
      streams.check(given);
      const done = html`<div class="done" role="status"><p>Nothing is wrong with it. It is not saved yet.</p></div>`;
      return view(request.token, request.form, done);
    }),
  );
  routes.change('/streams/form/test', streamForm, (request) =>
    tried(request, async () => {
      const outcome = await streams.testUrl(request.form.webhookUrl.trim(), request.by);
      return view(request.token, request.form, testOutcomeView(outcome));
    }),
  );
  routes.change('/streams/form/preview', streamForm, (request) =>
    tried(request, async ({ given }) => {
      const shown = await showPreview(services, request.form, given);
      return 'problem' in shown
        ? view(request.token, request.form, NOTHING, [shown.problem])
        : view(request.token, request.form, shown.outcome);
    }),
  );
  routes.change('/streams/form/save', streamForm, (request) =>
    tried(request, async ({ given }) => {
      const { form, by } = request;
      const { id } =
        form.stream === '' ? await streams.create(given, by) : await streams.update(form.stream, given, by);
      return { goTo: `/console/streams/${id}` };
    }),
  );
}

/** What a form's configuration would have sent, or why that can't be told. */
async function showPreview(
  { streams }: Pick<ConsoleServices, 'streams'>,
  form: StreamForm,
  given: GivenStream,
): Promise<{ readonly outcome: Html } | { readonly problem: FieldProblem }> {
  const place = readPlace(form);
  if ('problem' in place) return place;
  const chain = streams.chains.find(({ id }) => form.chain === toQuantity(id));
  if (chain === undefined)
    return { problem: { field: 'chain', message: 'is not followed here, so nothing of it is sent' } };
  const webhookUrl = form.webhookUrl.trim() === '' ? NO_RECEIVER : form.webhookUrl.trim();
  try {
    const preview = await streams.preview({
      given: { ...given, config: { ...given.config, webhookUrl } },
      streamId: form.stream === '' ? null : form.stream,
      chain,
      range: place.range,
    });
    return { outcome: previewView(preview, chain) };
  } catch (error) {
    const problem = nodeProblemOf(error);
    if (problem === null) throw error;
    return { problem };
  }
}

/** The blocks of a preview. */
function readPlace({ from, to }: StreamForm): { readonly range: BlockRange } | { readonly problem: FieldProblem } {
  const last = to.trim() === '' ? from.trim() : to.trim();
  if (!BLOCK.test(from.trim())) return { problem: { field: 'from', message: 'is a whole number' } };
  if (!BLOCK.test(last)) return { problem: { field: 'to', message: 'is a whole number, or nothing' } };
  const range = { from: Number(from), to: Number(last) };
  if (range.to < range.from) return { problem: { field: 'to', message: 'is below the first block' } };
  return { range };
}
