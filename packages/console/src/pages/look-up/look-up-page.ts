import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { addAddressRoutes } from './address-routes.ts';
import { addAptosRoutes } from './aptos-routes.ts';
import { addBlockRoutes } from './block-routes.ts';
import { addHashRoutes } from './hash-routes.ts';
import { addNameRoutes } from './name-routes.ts';
import { addPictureRoutes } from './picture-routes.ts';
import { addPriceRoutes } from './price-routes.ts';
import { pageOf, readSubject } from './subjects/read-subject.ts';
import { addTableRoutes } from './table-routes.ts';
import { addTransactionRoutes } from './transaction-routes.ts';
import { addWholeRoutes } from './whole-routes.ts';

/** Whatever is indexed of an address, a token, a collection, an NFT, a transaction or a block. */
export const lookUpPage: ConsolePage = {
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
    addWholeRoutes(routes, services);
  },
};

/** @param text that was given, and names nothing; empty: none was */
function searchView(text: string): Html {
  return html`<h1>Look up</h1>
${text === '' ? NOTHING : html`<p class="problem" role="alert">${shown(text, 200)}: this names nothing that can be looked up.</p>`}
<form method="get" action="/console/look-up" class="fields" aria-label="Look up">
<div><label for="q">Address, name, token, collection, NFT, transaction or block</label><input id="q" name="q" type="text" maxlength="200" required autocomplete="off" spellcheck="false" aria-describedby="q-forms"></div>
<div><button>Look up</button></div></form>
<h2>What can be looked up</h2>
<dl class="record" id="q-forms">
<div><dt>An account, a token, a collection</dt><dd><code>0x</code> and 40 hexadecimal digits</dd></div>
<div><dt>A name of ENS or Unstoppable</dt><dd><code>vitalik.eth</code></dd></div>
<div><dt>An NFT</dt><dd>its contract, <code>/</code>, its id: <code>0xbc4c…f13d/1</code></dd></div>
<div><dt>A transaction, a block by its hash</dt><dd><code>0x</code> and 64 hexadecimal digits</dd></div>
<div><dt>A block</dt><dd>its number</dd></div>
<div><dt>An account of Aptos</dt><dd><code>0x</code> and up to 64 hexadecimal digits</dd></div>
</dl>`;
}
