import { domainToASCII } from 'node:url';
import type { Chain } from '@chainstead/chains';
import { isAddress, isObject, parseAddress, within } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { InnerApi, InnerAsker } from '@chainstead/http/server';
import {
  type NameQuestion,
  type NameService,
  normalName,
  readStoredName,
  type StoredName,
} from '@chainstead/tokens/names';
import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices, View } from '../../console-page.ts';
import { cut, type Html, NOTHING, problem, record, shown, soft } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { pageOf } from './subjects.ts';
import { textAt } from './tables/cells.ts';
import { curlLine, curlView, messageIn } from './tables/data-table.ts';

const PATIENCE_MS = 60_000;

export function addNameRoutes(routes: ConsoleRoutes, { database, explorer, clock }: ConsoleServices): void {
  routes.view('/look-up/name/:name', async ({ parameter, origin, asker }) => {
    const given = parameter('name');
    const name = normalName(given);
    if (name === null) return refusal(given);
    const findings = await Promise.all(
      servicesOfName(name).map((service) =>
        fetchName(
          { data: explorer.data, database, asker },
          { service, wanted: 'address', subject: name },
          PATIENCE_MS,
        ),
      ),
    );
    const addresses = new Set(
      findings.flatMap((finding) =>
        finding.kind === 'found' && isAddress(finding.answer) ? [parseAddress(finding.answer)] : [],
      ),
    );
    const [only] = addresses;
    if (only !== undefined && addresses.size === 1)
      return { goTo: `${pageOf({ kind: 'address', address: only })}?${new URLSearchParams({ name })}` };
    const context = { origin, chains: explorer.chains, now: clock.now() };
    return {
      title: `Name ${cut(name)}`,
      heading: html`Name ${nameText(name)}`,
      status: addresses.size > 1 ? 200 : statusOf(findings),
      body: nameView(name, findings, context),
    };
  });
}

function statusOf(findings: readonly NameFinding[]): 404 | 501 | 503 {
  if (findings.some(isPassing)) return 503;
  return findings.every((finding) => finding.kind === 'reported' && finding.status === 501) ? 501 : 404;
}

function refusal(given: string): View {
  return {
    status: 400,
    body: problem(
      html`${shown(given, 200)} is not a valid name by ENSIP-15. It has characters that names must not have, or mixes scripts so that it looks like another name. Type it again, or look up its address.`,
    ),
  };
}

function nameView(name: string, findings: readonly NameFinding[], context: NameContext): Html {
  const several = findings.filter(({ kind }) => kind === 'found').length > 1;
  const leads = (to: string): Html => {
    const address = to.toLowerCase();
    return html`resolves to <a href="/console/look-up/address/${address}?${new URLSearchParams({ name })}"><code>${to}</code></a>`;
  };
  return html`${several && html`<p class="notice">The name resolves to different addresses. Check which one you mean.</p>`}
${record(findings.map((finding) => findingView(finding, context, leads)))}`;
}

export interface NameContext {
  readonly origin: string;
  readonly chains: readonly Chain[];
  readonly now: number;
}

const SERVICE_NAMES: Readonly<Record<NameService, string>> = { ens: 'ENS', unstoppable: 'Unstoppable' };
const NAME_MAX = 255;
const MESSAGE_MAX = 600;

/** Normalized, with its original spelling if that has unusual letters. */
export function nameText(name: string): Html {
  const ascii = domainToASCII(name);
  const isPlain = /^[\x21-\x7e]*$/.test(name);
  return html`<strong>${shown(name, NAME_MAX)}</strong>${
    !isPlain &&
    html` <span class="soft">(has letters other than a–z, so it may look like another name${ascii !== '' && html`. Encoded: <code>${shown(ascii, NAME_MAX)}</code>`})</span>`
  }`;
}

/** A fact of a record. */
export function findingView(finding: NameFinding, context: NameContext, found: (answer: string) => Html) {
  const curl = curlView(curlLine(context.origin, finding.target));
  return [SERVICE_NAMES[finding.question.service], html`${wordsOf(finding, context, found)}\n${curl}`] as const;
}

function wordsOf(finding: NameFinding, context: NameContext, found: (answer: string) => Html): Html {
  if (finding.kind === 'late')
    return soft('The upstreams take longer than this page waits. Reload the page in a moment.');
  if (finding.kind === 'reported')
    return soft(
      html`${shown(finding.message, MESSAGE_MAX)}${isPassing(finding) && '. Reload the page in a moment.'}`,
    );
  return html`${found(finding.answer)}${readingView(finding.reading, context)}`;
}

export function isPassing(finding: NameFinding): boolean {
  if (finding.kind === 'late') return true;
  if (finding.kind !== 'reported' || finding.status === 501) return false;
  return finding.status === 429 || finding.status >= 500;
}

function readingView(reading: StoredName | null, { chains, now }: NameContext): Html {
  if (reading === null) return NOTHING;
  const at = moment(new Date(now - reading.ageMs));
  if (reading.asOf === null) return html`<br>${soft(html`Read ${at}`)}`;
  const { chainId, block } = reading.asOf;
  const chain = chains.find(({ id }) => id === chainId);
  const place =
    chain === undefined
      ? html`block ${count(block)} of chain ${chainId}`
      : html`<a href="/console/look-up/block/${block}?chain=${encodeURIComponent(chain.key)}">block ${count(block)}</a> of ${chain.key}`;
  return html`<br>${soft(html`As of ${place}, read ${at}`)}`;
}

export type NameFinding = { readonly question: NameQuestion; readonly target: string } & (
  | { readonly kind: 'found'; readonly answer: string; readonly reading: StoredName | null }
  | { readonly kind: 'reported'; readonly status: number; readonly message: string }
  | { readonly kind: 'late' }
);

export interface NameSources {
  readonly data: InnerApi;
  /** Not a standby, which may lack data that was just read. */
  readonly database: Database;
  readonly asker: InnerAsker;
}

export async function fetchName(
  { data, database, asker }: NameSources,
  question: NameQuestion,
  timeMs: number,
): Promise<NameFinding> {
  const target = targetOf(question);
  const requested = { question, target };
  const given = await within(timeMs, data.get(target, asker), () => null);
  if (given === null) return { ...requested, kind: 'late' };
  const { status, body } = given;
  const answer = isObject(body) ? textAt(body, question.wanted) : null;
  if (status !== 200 || answer === null)
    return {
      ...requested,
      kind: 'reported',
      status,
      message: messageIn(body) ?? `The API returned HTTP ${status}`,
    };
  return { ...requested, kind: 'found', answer, reading: await readStoredName(database, question) };
}

function targetOf({ service, wanted, subject }: NameQuestion): string {
  const given = encodeURIComponent(subject);
  const below = {
    ens: { address: `ens/${given}`, name: `${given}/reverse` },
    unstoppable: { address: given, name: `${given}/domain` },
  }[service][wanted];
  return `/api/v2.2/resolve/${below}`;
}

export function servicesOfName(name: string): readonly NameService[] {
  return name.endsWith('.eth') ? ['ens'] : ['ens', 'unstoppable'];
}
