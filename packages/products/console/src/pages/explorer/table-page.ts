import { NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import { cut, shown } from '../../layout/html.ts';
import { addressIn, chainNamed, networkNamed, pageOf, placeOn, readTokenId, refused } from './subjects.ts';
import { ACCOUNT_TABLES, APTOS_TABLES } from './tables/account-tables.ts';
import type { CellPlace } from './tables/cells.ts';
import { COLLECTION_TABLES, NFT_TABLES, POOL_TABLES, TOKEN_TABLES } from './tables/contract-tables.ts';
import { type DataTable, readTable, type TableSubject, tableAddress, tableView } from './tables/data-table.ts';

const ROWS = 50;
const CURSOR_MAX = 4_096;
const APTOS = /^0x[0-9a-f]{64}$/i;
const POOL = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

export function addTableRoutes(routes: ConsoleRoutes, { explorer, registry }: ConsoleServices): void {
  routes.view('/look-up/table/:table', async (request) => {
    const table = ALL_TABLES.find(({ name }) => name === request.parameter('table'));
    if (table === undefined) throw new NotFoundError(`There is no table ${cut(request.parameter('table'), 40)}`);
    const { of, place, own } = subjectOf(table, request);
    const cursor = request.query('cursor') ?? null;
    if (cursor !== null && cursor.length > CURSOR_MAX)
      throw refused('cursor', cursor, 'the cursor of a link on the page');
    const answer = await readTable(explorer.data, request.asker, table, { of, limit: ROWS, cursor });
    const more = (next: string | null): string => tableAddress(table, of, next);
    const token = of.tokenId !== null && html` / ${shown(of.tokenId)}`;
    return {
      title: table.title,
      body: html`<h1><a href="${own}"><code>${of.address}</code></a>${token}, ${of.chain}</h1>
${tableView(table, answer, { of, place, origin: request.origin, more, isOwnPage: true })}`,
    };
  });

  function subjectOf(
    table: DataTable,
    { query }: ConsoleRequest,
  ): { readonly of: TableSubject; readonly place: CellPlace; readonly own: string } {
    const [given, chain] = [query('address') ?? '', query('chain') ?? ''];
    const isAptos = table.name.startsWith('aptos-');
    if (isAptos) {
      if (!APTOS.test(given)) throw refused('address', given, 'an address');
      const address = given.toLowerCase();
      networkNamed(explorer.networks, chain);
      const own = `/console/look-up/aptos/${address}?chain=${encodeURIComponent(chain)}`;
      return { of: { chain, address, tokenId: null }, place: { chain, coin: null }, own };
    }
    const found = chainNamed({ registry, chains: explorer.chains }, chain);
    if (POOL_TABLES.includes(table)) {
      if (!POOL.test(given)) throw refused('address', given, 'the address or id of a pool');
      const address = given.toLowerCase();
      const own = `/console/pools?${new URLSearchParams({ chain: found.key, address })}`;
      return { of: { chain: found.key, address, tokenId: null }, place: placeOn(found), own };
    }
    const address = addressIn('address', given, 'an address');
    const isOfNft = NFT_TABLES.includes(table);
    const tokenId = isOfNft ? readTokenId(query('token_id') ?? '') : null;
    if (isOfNft && tokenId === null) throw refused('token_id', query('token_id') ?? '', 'an id');
    const page = pageOf(tokenId === null ? { kind: 'address', address } : { kind: 'nft', address, tokenId });
    return {
      of: { chain: found.key, address, tokenId },
      place: placeOn(found),
      own: `${page}?chain=${found.key}`,
    };
  }
}

const CONTRACT_TABLES = [...TOKEN_TABLES, ...COLLECTION_TABLES, ...NFT_TABLES, ...POOL_TABLES];
const ALL_TABLES: readonly DataTable[] = [...ACCOUNT_TABLES, ...CONTRACT_TABLES, ...APTOS_TABLES];
