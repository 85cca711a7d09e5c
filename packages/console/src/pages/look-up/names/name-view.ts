import { domainToASCII } from 'node:url';
import type { Chain } from '@chainstead/chains';
import type { NameService, StoredName } from '@chainstead/names';
import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../../layout/html.ts';
import { count, moment } from '../../../layout/numbers.ts';
import { curlLine } from '../tables/curl-line.ts';
import { curlView } from '../tables/table-view.ts';
import type { NameFinding } from './ask-name.ts';

/** What findings are shown with. */
export interface NameContext {
  readonly origin: string;
  /** Whose blocks have pages. */
  readonly chains: readonly Chain[];
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export const SERVICE_NAMES: Readonly<Record<NameService, string>> = { ens: 'ENS', unstoppable: 'Unstoppable' };
const NAME_MAX = 255;
const MESSAGE_MAX = 600;

/** A name as it is meant, and how it is written where it has other letters than most. */
export function nameText(name: string): Html {
  const ascii = domainToASCII(name);
  const isPlain = /^[\x21-\x7e]*$/.test(name);
  return html`<strong>${shown(name, NAME_MAX)}</strong>${
    isPlain
      ? NOTHING
      : html` <span class="soft">(not all of it is a–z: it may look like another name${ascii === '' ? NOTHING : html`; it is <code>${shown(ascii, NAME_MAX)}</code>`})</span>`
  }`;
}

/** What a service found, or why not, in words. @param found how an answer is shown */
export function findingView(finding: NameFinding, context: NameContext, found: (answer: string) => Html): Html {
  return html`<div><dt>${SERVICE_NAMES[finding.question.service]}</dt><dd>${wordsOf(finding, context, found)}
${curlView(curlLine(context.origin, finding.target))}</dd></div>`;
}

function wordsOf(finding: NameFinding, context: NameContext, found: (answer: string) => Html): Html {
  if (finding.kind === 'late')
    return html`<span class="soft">The nodes take longer than this page waits. Load it again in a moment.</span>`;
  if (finding.kind === 'told')
    return html`<span class="soft">${shown(finding.message, MESSAGE_MAX)}${isPassing(finding) ? '. Load the page again in a moment.' : ''}</span>`;
  return html`${found(finding.answer)}${readingView(finding.reading, context)}`;
}

/** Whether another answer may come of asking again at once. */
export function isPassing(finding: NameFinding): boolean {
  return finding.kind === 'late' || (finding.kind === 'told' && (finding.status === 429 || finding.status >= 500));
}

function readingView(reading: StoredName | null, { chains, now }: NameContext): Html {
  if (reading === null) return NOTHING;
  const at = moment(new Date(now - reading.ageMs));
  if (reading.asOf === null) return html`<br><span class="soft">Read ${at}</span>`;
  const { chainId, block } = reading.asOf;
  const chain = chains.find(({ id }) => id === chainId);
  const place =
    chain === undefined
      ? html`block ${count(block)} of chain ${chainId}`
      : html`<a href="/console/look-up/block/${block}?chain=${encodeURIComponent(chain.key)}">block ${count(block)}</a> of ${chain.key}`;
  return html`<br><span class="soft">As of ${place}, read ${at}</span>`;
}
