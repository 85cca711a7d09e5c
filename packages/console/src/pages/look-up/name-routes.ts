import { isAddress, parseAddress } from '@chainstead/core';
import { normalName } from '@chainstead/names';
import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices, View } from '../../console-page.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { askName, type NameFinding } from './names/ask-name.ts';
import { findingView, isPassing, type NameContext, nameText } from './names/name-view.ts';
import { servicesOfName } from './names/services-of-name.ts';
import { pageOf } from './subjects/read-subject.ts';

/** As long as the API waits for nodes at most (`INDEX_WAIT_MS`): it is all that the page is for. Milliseconds. */
const PATIENCE_MS = 60_000;

/** Leads from a name to the page of its address; where there is none, or not yet, says so. */
export function addNameRoutes(routes: ConsoleRoutes, { database, lookUp, clock }: ConsoleServices): void {
  routes.view('/look-up/name/:name', async ({ parameter, origin, asker }) => {
    const given = parameter('name');
    const name = normalName(given);
    if (name === null) return refusal(given);
    const findings = await Promise.all(
      servicesOfName(name).map((service) =>
        askName({ data: lookUp.data, database, asker }, { service, wanted: 'address', subject: name }, PATIENCE_MS),
      ),
    );
    const addresses = new Set(findings.flatMap(addressIn));
    const [only] = addresses;
    if (only !== undefined && addresses.size === 1)
      return { goTo: `${pageOf({ kind: 'address', address: only })}?${new URLSearchParams({ name })}` };
    const context = { origin, chains: lookUp.chains, now: clock.now() };
    return {
      title: `Name ${cut(name)}`,
      status: addresses.size > 1 ? 200 : findings.some(isPassing) ? 503 : 404,
      body: nameView(name, findings, context),
    };
  });
}

function addressIn(finding: NameFinding) {
  return finding.kind === 'found' && isAddress(finding.answer) ? [parseAddress(finding.answer)] : [];
}

/** Names that look alike are told apart by what they normalise to, and some don't at all. */
function refusal(given: string): View {
  return {
    title: 'Look up',
    status: 400,
    body: html`<h1>Look up</h1>
<p class="problem" role="alert">${shown(given, 200)}: this is no name that ENSIP-15 normalises. It has signs that names may not have, or that are mixed so that it could be taken for another name. Type it anew, or look up the address that it stands for.</p>`,
  };
}

function nameView(name: string, findings: readonly NameFinding[], context: NameContext): Html {
  const several = findings.filter(({ kind }) => kind === 'found').length > 1;
  const leads = (to: string): Html => {
    const address = to.toLowerCase();
    return html`leads to <a href="/console/look-up/address/${address}?${new URLSearchParams({ name })}"><code>${to}</code></a>`;
  };
  return html`<h1>Name ${nameText(name)}</h1>
${several ? html`<p class="notice">It leads to different addresses. Make sure which one is meant.</p>` : NOTHING}
<dl class="record">${findings.map((finding) => findingView(finding, context, leads))}</dl>`;
}
