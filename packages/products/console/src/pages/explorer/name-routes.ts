import { isAddress, parseAddress } from '@chainstead/core';
import { normalName } from '@chainstead/tokens/names';
import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices, View } from '../../console-page.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import {
  fetchName,
  findingView,
  isPassing,
  type NameContext,
  type NameFinding,
  nameText,
  servicesOfName,
} from './names/name-view.ts';
import { pageOf } from './subjects/read-subject.ts';

const PATIENCE_MS = 60_000;

export function addNameRoutes(routes: ConsoleRoutes, { database, explorer, clock }: ConsoleServices): void {
  routes.view('/look-up/name/:name', async ({ parameter, origin, asker }) => {
    const given = parameter('name');
    const name = normalName(given);
    if (name === null) return refusal(given);
    const findings = await Promise.all(
      servicesOfName(name).map((service) =>
        fetchName({ data: explorer.data, database, asker }, { service, wanted: 'address', subject: name }, PATIENCE_MS),
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
      status: addresses.size > 1 ? 200 : findings.some(isPassing) ? 503 : 404,
      body: nameView(name, findings, context),
    };
  });
}

function refusal(given: string): View {
  return {
    title: 'Look up',
    status: 400,
    body: html`<h1>Look up</h1>
<p class="problem" role="alert">${shown(given, 200)} is not a valid name by ENSIP-15. It has characters that names must not have, or mixes scripts so that it looks like another name. Type it again, or look up its address.</p>`,
  };
}

function nameView(name: string, findings: readonly NameFinding[], context: NameContext): Html {
  const several = findings.filter(({ kind }) => kind === 'found').length > 1;
  const leads = (to: string): Html => {
    const address = to.toLowerCase();
    return html`resolves to <a href="/console/look-up/address/${address}?${new URLSearchParams({ name })}"><code>${to}</code></a>`;
  };
  return html`<h1>Name ${nameText(name)}</h1>
${several ? html`<p class="notice">The name resolves to different addresses. Check which one you mean.</p>` : NOTHING}
<dl class="record">${findings.map((finding) => findingView(finding, context, leads))}</dl>`;
}
