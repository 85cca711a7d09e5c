import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { type Html, shown } from '../../layout/html.ts';
import { addAddressRoutes } from './address-routes.ts';
import { addAptosRoutes } from './aptos-routes.ts';
import { addBlockRoutes } from './block-routes.ts';
import { addHashRoutes } from './hash-routes.ts';
import { addNameRoutes } from './name-routes.ts';
import { addPictureRoutes, addPriceRoutes } from './price-routes.ts';
import { pageOf, readSubject } from './subjects/read-subject.ts';
import { addTableRoutes } from './table-routes.ts';
import { addFullRoutes, addTransactionRoutes } from './transaction-routes.ts';

export const explorerPage: ConsolePage = {
  path: '/look-up',
  title: 'Look up',
  addRoutes(routes, services) {
    routes.view('/look-up', async ({ query }) => {
      const text = query('q')?.trim() ?? '';
      const subject = text === '' ? null : readSubject(text);
      if (subject !== null) return { goTo: pageOf(subject) };
      return { title: 'Look up', body: searchView(text) };
    });
    addAddressRoutes(routes, services);
    addTableRoutes(routes, services);
    addHashRoutes(routes, services);
    addBlockRoutes(routes, services);
    addTransactionRoutes(routes, services);
    addAptosRoutes(routes, services);
    addPictureRoutes(routes, services);
    addPriceRoutes(routes, services);
    addNameRoutes(routes, services);
    addFullRoutes(routes, services);
  },
};

function searchView(text: string): Html {
  return html`<h1>Look up</h1>
${text !== '' && html`<p class="problem" role="alert">${shown(text, 200)} is not an address, a name, a hash or a block number.</p>`}
<form method="get" action="/console/look-up" class="fields" aria-label="Look up">
<div><label for="q">Address, name, token, collection, NFT, transaction or block</label><input id="q" name="q" type="text" maxlength="200" required autocomplete="off" spellcheck="false" aria-describedby="q-forms"></div>
<div><button>Look up</button></div></form>
<h2>Accepted input</h2>
<dl class="record" id="q-forms">
<div><dt>Account, token or collection</dt><dd><code>0x</code> and 40 hexadecimal digits</dd></div>
<div><dt>ENS or Unstoppable Domains name</dt><dd><code>vitalik.eth</code></dd></div>
<div><dt>NFT</dt><dd>contract, <code>/</code> and token id: <code>0xbc4c…f13d/1</code></dd></div>
<div><dt>Hash of a transaction or block</dt><dd><code>0x</code> and 64 hexadecimal digits</dd></div>
<div><dt>Block</dt><dd>block number</dd></div>
<div><dt>Aptos account</dt><dd><code>0x</code> and up to 64 hexadecimal digits</dd></div>
</dl>`;
}
