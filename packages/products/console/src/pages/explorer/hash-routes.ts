import { chainKeyOf } from '@chainstead/aptos';

import { html } from 'hono/html';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import type { Html } from '../../layout/html.ts';
import { refusedHash } from './blocks/block-facts.ts';
import { chainsRequested } from './subjects/choose-chain.ts';
import { pageOf, readSubject } from './subjects/read-subject.ts';
import { resultOf } from './tables/data-table.ts';

interface Found {
  readonly address: string;
  readonly text: string;
}

/** 64 digits: a transaction, a block or an Aptos account. Calls nodes. */
export function addHashRoutes(routes: ConsoleRoutes, { explorer, registry }: ConsoleServices): void {
  routes.view('/look-up/hash/:hash', async (request) => {
    const subject = readSubject(request.parameter('hash'));
    if (subject?.kind !== 'hash') throw refusedHash(request.parameter('hash'));
    const { hash } = subject;
    const chains = chainsRequested({ registry, chains: explorer.chains }, request.query('chain'));
    const [places, accounts] = await Promise.all([
      Promise.all(chains.map(async (chain) => ({ chain, place: await explorer.placeOf(chain, hash) }))),
      accountsNamed(request, hash),
    ]);
    const found: Found[] = places.flatMap(({ chain, place }) => {
      if (place === null || place === undefined) return [];
      const { kind, blockNumber } = place;
      const query = `chain=${encodeURIComponent(chain.key)}`;
      if (kind === 'block') {
        const page = pageOf({ kind: 'block', number: blockNumber });
        return [{ address: `${page}?${query}`, text: `block ${blockNumber} of ${chain.key}` }];
      }
      const page = `/console/look-up/transaction/${hash}`;
      return [{ address: `${page}?${query}&block=${blockNumber}`, text: `transaction on ${chain.key}` }];
    });
    const all = [...found, ...accounts];
    const [only] = all;
    if (only !== undefined && all.length === 1) return { goTo: only.address };
    const late = places.flatMap(({ chain, place }) => (place === undefined ? [chain.key] : []));
    return { title: 'Look up', body: hashView(hash, all, late, explorer.networks.length > 0) };
  });

  async function accountsNamed({ asker }: ConsoleRequest, address: string): Promise<readonly Found[]> {
    const found = await Promise.all(
      explorer.networks.map(async (network) => {
        const target = `/wallets/coins?owner_addresses=${address}&network=${network}&limit=1`;
        const { body } = await explorer.data.get(target, asker);
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
${found.length === 0 ? html`<p>No node that responded has a transaction or a block with this hash.</p>` : html`<ul>${links}</ul>`}
${late.length > 0 && html`<p class="soft">No response in time: ${late.join(', ')}. The role worker reads hashes from nodes. If you know the block, look up the block.</p>`}
${hasAptos && html`<p><a href="/console/look-up/aptos/${hash}">As an Aptos account</a></p>`}`;
}
