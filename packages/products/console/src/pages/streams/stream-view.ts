import type { Stream, StreamOverview } from '@chainstead/streams';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { livePart } from '../../layout/live-part.ts';
import { count, moment } from '../../layout/numbers.ts';
import { lastErrorView, nameOf, statusView, waitingText } from './stream-list-view.ts';

export interface StreamFacts {
  readonly stream: Stream;
  readonly overview: StreamOverview;
  readonly chainName: (id: number) => string;
  readonly token: string;
}

const TEXT_MAX = 4_000;

export function streamView(facts: StreamFacts, webhooks: Html): Html {
  const { stream, overview } = facts;
  const address = `/console/streams/${stream.id}`;
  return html`<h1>${shown(nameOf(stream), 80)}</h1>
<p class="soft"><a href="/console/streams">Streams</a> · <code>${stream.id}</code></p>
${livePart(`/streams/${stream.id}`, streamFactsView(overview))}
<section aria-labelledby="do"><h2 id="do">Change</h2>
<p><a href="${address}/edit">Edit</a> · <a href="${address}/addresses">${count(stream.amountOfAddresses)} ${stream.amountOfAddresses === 1 ? 'address' : 'addresses'}</a></p>
${actionsView(facts)}</section>
<section aria-labelledby="webhooks"><h2 id="webhooks">Webhooks</h2>${webhooks}</section>
<section aria-labelledby="what"><h2 id="what">Configuration</h2>${configurationView(facts)}</section>`;
}

export function streamFactsView(overview: StreamOverview): Html {
  const { status, statusMessage, successRate, delivered, failed, waiting } = overview;
  return html`<dl class="facts wide">
<dt>Status</dt><dd>${statusView(status)} ${shown(statusMessage, TEXT_MAX)}</dd>
<dt>Success rate of the URL</dt><dd>${successRate} %</dd>
<dt>Waiting</dt><dd>${waitingText(waiting)}</dd>
<dt>Delivered</dt><dd>${count(delivered)}</dd>
<dt>Failed attempts</dt><dd>${count(failed)}</dd>
<dt>Last error</dt><dd>${lastErrorView(overview)}</dd>
</dl>`;
}

function actionsView({ stream, token }: StreamFacts): Html {
  const field = html`<input type="hidden" name="stream" value="${stream.id}">`;
  const setStatus = (status: string, button: Html): Html =>
    changeForm(
      '/console/streams/status',
      token,
      html`${field}<input type="hidden" name="status" value="${status}">${button}`,
    );
  const { status } = stream;
  return html`<div class="actions">
${(status === 'active' || status === 'error') && setStatus('paused', html`<button class="quiet">Pause</button>`)}
${status !== 'active' && setStatus('active', html`<button class="quiet">Resume</button>`)}
${changeForm('/console/streams/test', token, html`${field}<button class="quiet">Send test webhook</button>`)}
${changeForm('/console/streams/duplicate', token, html`${field}<button class="quiet">Duplicate</button>`)}
</div>
${status !== 'active' && html`<p class="soft">Before the stream resumes, its URL must return 2xx to the test webhook. Waiting webhooks are sent after that.</p>`}
${
  status !== 'terminated' &&
  html`<details><summary>Terminate</summary>${setStatus(
    'terminated',
    html`<p>Chainstead stops matching blocks. Blocks until the stream resumes are never sent. Waiting webhooks stay.</p>
<p><label for="sure"><input type="checkbox" id="sure" name="sure" value="yes" required> Terminate the stream ${shown(nameOf(stream), 40)}</label></p><button class="danger">Terminate</button>`,
  )}</details>`
}
<details><summary>Delete</summary>${changeForm(
    '/console/streams/delete',
    token,
    html`${field}<p>The stream and its addresses are deleted permanently, and waiting webhooks are dropped. The API still shows sent webhooks until their retention ends.</p>
<p><label for="sure-delete"><input type="checkbox" id="sure-delete" name="sure" value="yes" required> Delete the stream ${shown(nameOf(stream), 40)}</label></p><button class="danger">Delete</button>`,
    'Delete the stream',
  )}</details>`;
}

function configurationView({ stream, chainName }: StreamFacts): Html {
  const switches = Object.entries(stream).flatMap(([name, value]) => (value === true ? [name] : []));
  const json = (name: string, value: readonly unknown[] | null): Html =>
    value === null || value.length === 0
      ? NOTHING
      : html`<details><summary>${name} (${count(value.length)})</summary>${jsonText(JSON.stringify(value), name)}</details>`;
  return html`<dl class="facts wide">
<dt>URL</dt><dd>${shown(stream.webhookUrl, TEXT_MAX)}</dd>
<dt>Description</dt><dd>${shown(stream.description, TEXT_MAX)}</dd>
<dt>Tag</dt><dd>${shown(stream.tag, TEXT_MAX)}</dd>
<dt>Chains</dt><dd>${stream.chainIds.map(chainName).join(', ')}</dd>
<dt>Options</dt><dd>${switches.join(', ') || 'none'}</dd>
<dt>Events</dt><dd>${stream.topic0 === null || stream.topic0.length === 0 ? '–' : stream.topic0.map((topic) => html`<code>${shown(topic)}</code> `)}</dd>
<dt>Created</dt><dd>${moment(stream.createdAt)}</dd>
<dt>Changed</dt><dd>${moment(stream.updatedAt)}</dd>
</dl>
${json('ABI', stream.abi)}
${json('Advanced options', stream.advancedOptions)}
${json('Triggers', stream.triggers)}
${json('Native balances', stream.getNativeBalances)}`;
}
