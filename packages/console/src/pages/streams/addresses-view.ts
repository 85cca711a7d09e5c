import type { Stream } from '@chainstead/streams';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';
import { nameOf } from './stream-list-view.ts';

/** What a stream watches, a page of it. */
export interface WatchedAddresses {
  readonly addresses: readonly string[];
  readonly total: number;
  readonly next: string | null;
}

export function addressesView(stream: Stream, watched: WatchedAddresses, token: string): Html {
  const { addresses, total, next } = watched;
  const address = `/console/streams/${stream.id}`;
  return html`<h1>Addresses</h1>
<p class="soft"><a href="/console/streams">Streams</a> · <a href="${address}">${shown(nameOf(stream), 60)}</a></p>
<p>It watches ${count(total)} ${total === 1 ? 'address' : 'addresses'}${stream.allAddresses ? html`, and its events wherever they are` : NOTHING}.</p>
${changeForm(
  '/console/streams/addresses',
  token,
  html`<input type="hidden" name="stream" value="${stream.id}"><div class="fields form">
<div><label for="addresses">Addresses, one a line</label><textarea id="addresses" name="addresses" rows="6" spellcheck="false" autocomplete="off"></textarea></div>
<fieldset><legend>What is done with them</legend>
<label for="add"><input type="radio" id="add" name="operation" value="add" checked> add</label>
<label for="remove"><input type="radio" id="remove" name="operation" value="remove"> remove</label>
<label for="replace"><input type="radio" id="replace" name="operation" value="replace"> watch these and no others</label></fieldset>
<div><button>Change</button></div></div>`,
  'Change the addresses',
)}
${addresses.length === 0 ? NOTHING : html`<ul class="addresses">${addresses.map((one) => html`<li><code>${one}</code></li>`)}</ul>`}
${next === null ? NOTHING : html`<p><a href="${address}/addresses?after=${next}" rel="next">More</a></p>`}`;
}
