import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { addAddressRoutes } from './address-routes.ts';
import { addAptosRoutes } from './aptos-routes.ts';
import { addBlockRoutes } from './block-routes.ts';
import { addHashRoutes } from './hash-routes.ts';
import { addPictureRoutes } from './picture-routes.ts';
import { addPriceRoutes } from './price-routes.ts';
import { pageOf, readSubject } from './subjects/read-subject.ts';
import { addTableRoutes } from './table-routes.ts';
import { addTransactionRoutes } from './transaction-routes.ts';

/** Whatever is indexed of an address, a token, a collection, an NFT, a transaction or a block. */
export const lookUpPage: ConsolePage = {
  path: '/look-up',
  title: 'Look up',
  addRoutes(routes, services) {
    routes.view('/look-up', async ({ query }) => {
      const text = query('q')?.trim() ?? '';
      const subject = text === '' ? null : readSubject(text);
      if (subject !== null && subject.kind !== 'name') return { goTo: pageOf(subject) };
      return { title: 'Look up', body: searchView(text, text === '' ? null : problemOf(subject?.kind ?? null)) };
    });
    addAddressRoutes(routes, services);
    addTableRoutes(routes, services);
    addHashRoutes(routes, services);
    addBlockRoutes(routes, services);
    addTransactionRoutes(routes, services);
    addAptosRoutes(routes, services);
    addPictureRoutes(routes, services);
    addPriceRoutes(routes, services);
  },
};

function problemOf(kind: 'name' | null): string {
  return kind === 'name'
    ? 'names are not indexed yet. Look up the address that it stands for.'
    : 'this names nothing that can be looked up.';
}

function searchView(text: string, problem: string | null): Html {
  return html`<h1>Look up</h1>
${problem === null ? NOTHING : html`<p class="problem" role="alert">${shown(text, 200)}: ${problem}</p>`}
<form method="get" action="/console/look-up" class="fields" aria-label="Look up">
<div><label for="q">Address, token, collection, NFT, transaction or block</label><input id="q" name="q" type="text" maxlength="200" required autocomplete="off" spellcheck="false" aria-describedby="q-forms"></div>
<div><button>Look up</button></div></form>
<h2>What can be looked up</h2>
<dl class="record" id="q-forms">
<div><dt>An account, a token, a collection</dt><dd><code>0x</code> and 40 hexadecimal digits</dd></div>
<div><dt>An NFT</dt><dd>its contract, <code>/</code>, its id: <code>0xbc4c…f13d/1</code></dd></div>
<div><dt>A transaction, a block by its hash</dt><dd><code>0x</code> and 64 hexadecimal digits</dd></div>
<div><dt>A block</dt><dd>its number</dd></div>
<div><dt>An account of Aptos</dt><dd><code>0x</code> and up to 64 hexadecimal digits</dd></div>
</dl>
<p class="soft">Names such as those of ENS are not indexed yet.</p>`;
}
