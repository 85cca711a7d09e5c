import type { Chain } from '@chainstead/chains';
import { rangeSize } from '@chainstead/core';
import type { RangePreview } from '@chainstead/streams';
import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { count } from '../../layout/numbers.ts';

/** What a configuration would have sent. */
export function previewView(preview: RangePreview & { readonly followedTo: number | null }, chain: Chain): Html {
  const { range, looked, matched, items, webhooks } = preview;
  const told = Object.entries(items).filter(([, number]) => number > 0);
  return html`<section class="card" aria-labelledby="preview"><h2 id="preview">What it would have sent</h2>
<p role="status">${range.from === range.to ? html`Block ${count(range.from)}` : html`Blocks ${count(range.from)} to ${count(range.to)}`} of ${shown(chain.name)}: ${
    matched === 0
      ? html`<strong>nothing matched</strong> in ${count(looked - preview.absent.length)} blocks.`
      : html`<strong>${count(matched)} of ${count(looked - preview.absent.length)} blocks matched.</strong> Each would have been told twice: at once, and after ${count(chain.confirmations)} further blocks with <code>confirmed: true</code>.`
  }</p>
${told.length === 0 ? NOTHING : html`<p>Together they have ${told.map(([name, number], index) => html`${index === 0 ? '' : ', '}${count(number)} ${name}`)}.</p>`}
${notLookedAt(preview, chain)}
${webhooks.map(({ blockNumber, body }, index) => html`<details ${index === 0 ? html`open` : NOTHING}><summary>Block ${count(blockNumber)}</summary>${jsonText(body, `Webhook of block ${blockNumber}`)}</details>`)}
${matched > webhooks.length ? html`<p class="soft">The first ${count(webhooks.length)} of ${count(matched)} are shown.</p>` : NOTHING}</section>`;
}

function notLookedAt(
  { range, looked, absent, followedTo }: RangePreview & { readonly followedTo: number | null },
  chain: Chain,
): Html {
  const [first] = absent;
  const known =
    followedTo === null
      ? html`nothing of it was indexed here yet`
      : html`it is indexed here up to block ${count(followedTo)}`;
  return html`${
    first === undefined
      ? NOTHING
      : html`<p class="problem">${absent.length === 1 ? html`Block ${count(first)} is not there` : html`${count(absent.length)} of these blocks, from ${count(first)} on, are not there`}: no node of ${shown(chain.name)} has ${absent.length === 1 ? 'it' : 'them'}; ${known}.</p>`
  }${
    looked === rangeSize(range)
      ? NOTHING
      : html`<p class="problem">The nodes took too long: blocks from ${count(range.from + looked)} on were not looked at. Choose a smaller range.</p>`
  }`;
}
