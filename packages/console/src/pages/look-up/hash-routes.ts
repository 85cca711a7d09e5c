import { chainKeyOf } from '@chainstead/aptos';
import { InvalidParameterError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices, PageRequest } from '../../console-page.ts';
import { cut, type Html, NOTHING } from '../../layout/html.ts';
import { chainsAsked } from './subjects/choose-chain.ts';
import { pageOf, readSubject } from './subjects/read-subject.ts';
import { resultOf } from './tables/data-table.ts';

/** What a hash was found to be. */
interface Found {
  readonly address: string;
  readonly text: string;
}

/** Tells what 64 hexadecimal digits name: a transaction or a block of one of the chains, by asking their nodes, or an account of Aptos. */
export function addHashRoutes(routes: ConsoleRoutes, { lookUp, registry }: ConsoleServices): void {
  routes.view('/look-up/hash/:hash', async (request) => {
    const subject = readSubject(request.parameter('hash'));
    if (subject?.kind !== 'hash')
      throw new InvalidParameterError({
        parameter: 'hash',
        given: cut(request.parameter('hash')),
        allowed: '0x and 64 hexadecimal digits',
      });
    const { hash } = subject;
    const chains = chainsAsked({ registry, chains: lookUp.chains }, request.query('chain'));
    const [places, accounts] = await Promise.all([
      Promise.all(chains.map(async (chain) => ({ chain, place: await lookUp.placeOf(chain, hash) }))),
      accountsNamed(request, hash),
    ]);
    const found: Found[] = places.flatMap(({ chain, place }) => {
      if (place === null || place === undefined) return [];
      const { kind, blockNumber } = place;
      const query = `chain=${encodeURIComponent(chain.key)}`;
      return kind === 'block'
        ? [
            {
              address: `${pageOf({ kind: 'block', number: blockNumber })}?${query}`,
              text: `block ${blockNumber} of ${chain.key}`,
            },
          ]
        : [
            {
              address: `/console/look-up/transaction/${hash}?${query}&block=${blockNumber}`,
              text: `transaction on ${chain.key}`,
            },
          ];
    });
    const all = [...found, ...accounts];
    const [only] = all;
    if (only !== undefined && all.length === 1) return { goTo: only.address };
    const late = places.flatMap(({ chain, place }) => (place === undefined ? [chain.key] : []));
    return { title: 'Look up', body: hashView(hash, all, late, lookUp.networks.length > 0) };
  });

  async function accountsNamed({ asker }: PageRequest, address: string): Promise<readonly Found[]> {
    const found = await Promise.all(
      lookUp.networks.map(async (network) => {
        const { body } = await lookUp.data.get(
          `/wallets/coins?owner_addresses=${address}&network=${network}&limit=1`,
          asker,
        );
        if (resultOf(body).length === 0) return [];
        const chain = chainKeyOf(network);
        return [{ address: `/console/look-up/aptos/${address}?chain=${chain}`, text: `account on ${chain}` }];
      }),
    );
    return found.flat();
  }
}

function hashView(hash: string, found: readonly Found[], late: readonly string[], hasAptos: boolean): Html {
  const links = found.map(({ address, text }) => html`<li><a href="${address}">${text}</a></li>`);
  return html`<h1><code>${hash}</code></h1>
${found.length === 0 ? html`<p>No node that answered has a transaction or a block of this hash.</p>` : html`<ul>${links}</ul>`}
${late.length === 0 ? NOTHING : html`<p class="soft">No node told in time: ${late.join(', ')}. Transactions are found by asking nodes, by way of the role worker; if you know its block, look that up.</p>`}
${hasAptos ? html`<p><a href="/console/look-up/aptos/${hash}">As an account of Aptos</a></p>` : NOTHING}`;
}
