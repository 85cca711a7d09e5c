import { decimalAmount, isAddress, parseAddress } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import { readSaleDays, type SaleDay } from '@chainstead/nft';
import {
  type ConsoleRequest,
  type ConsoleRoutes,
  type ConsoleServices,
  type FileAnswer,
  jsonFile,
} from '../../console-page.ts';
import { type Html, plot, refused } from '../../layout/html.ts';
import { addressIn, chainNamed, readTokenId } from './subjects.ts';
import type { TableSubject } from './tables/data-table.ts';

const DAYS = 365;
const DAY_MS = 86_400_000;
const DECIMALS = 18;

export function addPriceRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { explorer, clock } = services;
  routes.view('/look-up/prices.json', async ({ query }) => {
    const chain = chainNamed(services, query('chain'));
    const token = addressIn('address', query('address') ?? '', 'an address');
    const id = query('token_id');
    const tokenId = id === undefined ? null : readTokenId(id);
    if (id !== undefined && tokenId === null) throw refused('token_id', id, 'an id');
    const days = await readSaleDays(explorer.reads, chain, { token, tokenId, days: DAYS });
    return jsonFile(plotOf(days, clock.now()));
  });
}

export function pricePlot({ chain, address, tokenId }: TableSubject): Html {
  const query = new URLSearchParams({ chain, address, ...(tokenId !== null && { token_id: tokenId }) });
  return plot(
    `/console/look-up/prices.json?${query}`,
    'The plot needs JavaScript. The table above shows the same sales.',
  );
}

/** Seconds and ether, rounded. A day without a sale has no point. */
function plotOf(days: readonly SaleDay[], now: number) {
  const secondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1_000;
  const etherOf = (wei: string): number => Number(decimalAmount(wei, DECIMALS));
  const today = Math.floor(now / DAY_MS) * (DAY_MS / 1_000);
  return {
    labels: ['lowest', 'average', 'highest'],
    unit: 'ETH',
    range: [
      Math.min(today, ...days.slice(0, 1).map(({ day }) => secondsOf(day))) - DAY_MS / 1_000,
      today + DAY_MS / 1_000,
    ],
    top: 0,
    points: true,
    times: days.map(({ day }) => secondsOf(day)),
    values: [
      days.map(({ lowest }) => etherOf(lowest)),
      days.map(({ average }) => etherOf(average)),
      days.map(({ highest }) => etherOf(highest)),
    ],
  };
}

/** Executes nothing when opened, is cached only by the browser, and its type is not sniffed. */
const PICTURE_HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=3600',
};

/** Only URIs from indexed metadata: a request never contains one. */
export function addPictureRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { explorer } = services;
  const answer = async ({ parameter }: ConsoleRequest, id: string | null): Promise<FileAnswer> => {
    const chain = chainNamed(services, parameter('chain'));
    const tokenId = id === null ? null : readTokenId(id);
    if (!isAddress(parameter('address')) || (id !== null && tokenId === null))
      throw new NotFoundError('There is no such picture');
    const token = parseAddress(parameter('address'));
    const { bytes, type } = await explorer.pictures.read(explorer.reads, chain, { token, tokenId });
    return { content: bytes, type, headers: PICTURE_HEADERS };
  };
  routes.view('/look-up/picture/:chain/:address', (request) => answer(request, null));
  routes.view('/look-up/picture/:chain/:address/:token', (request) =>
    answer(request, request.parameter('token')),
  );
}
