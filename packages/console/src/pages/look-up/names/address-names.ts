import type { Address } from '@chainstead/core';
import type { NameService } from '@chainstead/names';
import { html } from 'hono/html';
import { type Html, NOTHING } from '../../../layout/html.ts';
import { askName, type NameFinding, type NameSources } from './ask-name.ts';
import { findingView, type NameContext, nameText } from './name-view.ts';
import { servicesOfName } from './services-of-name.ts';

/** What an address calls itself, and whether the name leads here by which somebody came. */
export interface AddressNames {
  readonly own: readonly NameFinding[];
  /** Null: nobody came by a name. */
  readonly asked: { readonly name: string; readonly findings: readonly NameFinding[] } | null;
}

/**
 * Names of an address as the API gives them: only those that lead back to it.
 * @param asked a normalised name that somebody says leads here; null: none
 * @param timeMs how long the page waits. Milliseconds
 */
export async function readAddressNames(
  sources: NameSources,
  address: Address,
  { services, asked, timeMs }: { services: readonly NameService[]; asked: string | null; timeMs: number },
): Promise<AddressNames> {
  const ask = (service: NameService, wanted: 'address' | 'name', subject: string) =>
    askName(sources, { service, wanted, subject }, timeMs);
  const [own, findings] = await Promise.all([
    Promise.all(services.map((service) => ask(service, 'name', address))),
    Promise.all(asked === null ? [] : servicesOfName(asked).map((service) => ask(service, 'address', asked))),
  ]);
  return { own, asked: asked === null ? null : { name: asked, findings } };
}

/** Nothing where no service can be read, and nobody came by a name. */
export function addressNamesView(address: Address, { own, asked }: AddressNames, context: NameContext): Html {
  if (own.length === 0 && asked === null) return NOTHING;
  const names = own.map((finding) =>
    findingView(finding, context, (name) => html`${nameText(name)}: the address names it, and it leads back here`),
  );
  return html`<section aria-labelledby="names"><h2 id="names">Names</h2>
${asked === null ? NOTHING : askedView(address, asked, context)}
${names.length === 0 ? NOTHING : html`<dl class="record">${names}</dl>`}</section>`;
}

/** Services that know nothing of the name are left out where another one does. */
function askedView(
  address: Address,
  { name, findings }: NonNullable<AddressNames['asked']>,
  context: NameContext,
): Html {
  const known = findings.filter(({ kind }) => kind === 'found');
  const leads = (to: string): Html =>
    to.toLowerCase() === address
      ? html`leads here`
      : html`<span class="v-bad">leads elsewhere</span>: <a href="/console/look-up/address/${to.toLowerCase()}"><code>${to}</code></a>`;
  return html`<p>Looked up by ${nameText(name)}</p>
<dl class="record">${(known.length === 0 ? findings : known).map((finding) => findingView(finding, context, leads))}</dl>`;
}
