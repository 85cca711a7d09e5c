import { decimalAmount, isAddress, isObject } from '@chainstead/core';
import { html } from 'hono/html';
import { cut, type Html, NONE, opened, shown } from '../../../layout/html.ts';
import { count, decimal, moment, money } from '../../../layout/numbers.ts';

export type DataRow = Readonly<Record<string, unknown>>;

export interface CellPlace {
  readonly chain: string;
  /** Native token, with the wrapped token's contract; null: none. */
  readonly coin: { readonly symbol: string; readonly decimals: number; readonly wrapped: string | null } | null;
}

export type Cell = (row: DataRow, place: CellPlace) => Html;

/** `text`: a long one, which breaks its lines. */
export type Column = readonly [title: string, cell: Cell, shape?: 'number' | 'text'];

/** Heading of a column that is left out if no row has a picture. */
export const PICTURE = 'Picture';
export const NAME_MAX = 60;
const HASH = /^0x[0-9a-f]{64}$/;
const POOL = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{104})$/;
const DIGITS = /^\d{1,400}$/;
const TOKEN_ID = /^\d{1,78}$/;
const DECIMALS_MAX = 80;
const SYMBOL_MAX = 20;
const SHOWN_ENDS = 8;

export function text(path: string, max?: number): Cell {
  return (row) => {
    const value = textAt(row, path);
    return value === null || value === '' ? NONE : shown(value, max);
  };
}

export function account(path: string, label?: string): Cell {
  return (row, { chain }) => {
    const address = textAt(row, path);
    if (address === null) return NONE;
    const name = label === undefined ? null : textAt(row, label);
    return html`${accountLink(address, chain)}${name !== null && html`<br>${shown(name)}`}`;
  };
}

/** A pool's address, or its id at a pool manager. */
export function pool(path: string): Cell {
  return (row, { chain }) => {
    const id = textAt(row, path);
    if (id === null || !POOL.test(id)) return NONE;
    return poolLink(id, chain);
  };
}

/** To the page of a pool, or of a token with its pools. */
export function poolLink(address: string, chain: string, text = html`<code>${short(address)}</code>`): Html {
  const query = new URLSearchParams({ chain, address });
  return html`<a href="/console/pools?${query}" title="${address}">${text}</a>`;
}

export function contract(path: string, ...names: readonly string[]): Cell {
  return (row, { chain }) => {
    const address = textAt(row, path);
    const name = names.map((namePath) => textAt(row, namePath)).find(Boolean) ?? null;
    if (address === null) return name === null ? NONE : shown(name);
    return html`${name !== null && html`${shown(name, NAME_MAX)}<br>`}${accountLink(address, chain)}`;
  };
}

export function nft(contractPath: string, idPath: string): Cell {
  return (row, { chain }) => nftLink(textAt(row, contractPath), textAt(row, idPath), chain);
}

export function nfts(contractPath: string, idsPath: string): Cell {
  return (row, { chain }) => {
    const ids = valueAt(row, idsPath);
    if (!Array.isArray(ids) || ids.length === 0) return NONE;
    const links = ids
      .slice(0, IDS_SHOWN)
      .map((id: unknown) => html`${nftLink(textAt(row, contractPath), textOf(id), chain)} `);
    return html`${links}${ids.length > IDS_SHOWN && html`and ${ids.length - IDS_SHOWN} more`}`;
  };
}

const IDS_SHOWN = 5;

/** Empty if the NFT's document has no picture. */
export function picture(contractPath: string, idPath: string, imagePath: string): Cell {
  return (row, { chain }) => {
    const [address, id, image] = [contractPath, idPath, imagePath].map((path) => textAt(row, path));
    if (!isAddress(address) || !TOKEN_ID.test(id ?? '') || image === null || image === undefined || image === '')
      return NONE;
    return pictureView(`/console/look-up/picture/${encodeURIComponent(chain)}/${address}/${id}`);
  };
}

export function logo(contractPath: string, imagePath: string): Cell {
  return (row, { chain }) => {
    const address = textAt(row, contractPath);
    if (!isAddress(address) || (textAt(row, imagePath) ?? '') === '') return NONE;
    return pictureView(`/console/look-up/picture/${encodeURIComponent(chain)}/${address}`);
  };
}

function pictureView(address: string): Html {
  return html`<img class="thumb" src="${address}" alt="" loading="lazy" width="56" height="56">`;
}

/** Base units as whole tokens. @param decimals a path, or their number */
export function amount(path: string, decimals: string | number, symbol?: string): Cell {
  return (row) => {
    const units = textAt(row, path);
    if (units === null) return NONE;
    const places = typeof decimals === 'number' ? decimals : Number(textAt(row, decimals) ?? Number.NaN);
    const name = symbol === undefined ? null : textAt(row, symbol);
    if (!DIGITS.test(units) || !Number.isInteger(places) || places < 0 || places > DECIMALS_MAX)
      return html`${shown(units)} <span class="soft">base units</span>`;
    return html`${decimal(decimalAmount(units, places))}${name !== null && html` ${shown(name, SYMBOL_MAX)}`}`;
  };
}

/** Whole tokens. @param unlimited path of a truth value: then the number means nothing */
export function number(path: string, unlimited?: string): Cell {
  return (row) => {
    const value = textAt(row, path);
    if (unlimited !== undefined && valueAt(row, unlimited) === true) return html`unlimited`;
    return value === null ? NONE : decimal(value);
  };
}

/** Whole native tokens. */
export function nativeTokens(path: string): Cell {
  return (row, { coin }) => {
    const value = textAt(row, path);
    return value === null ? NONE : html`${decimal(value)} ${coin?.symbol ?? ''}`;
  };
}

/** US dollars. @param unknown the text that stands for no value */
export function dollars(path: string, unknown?: string): Cell {
  return (row) => {
    const value = textAt(row, path);
    if (value === null || value === unknown) return NONE;
    // JSON numbers below a millionth have an exponent.
    return html`${money(value.includes('e') ? Number(value).toFixed(EXPONENT_DIGITS) : value)} USD`;
  };
}

const EXPONENT_DIGITS = 20;

/** Whole tokens with their symbol, such as `bought.amount`. */
export function tokens(path: string, symbol: string): Cell {
  return (row) => {
    const value = textAt(row, path);
    return value === null ? NONE : html`${decimal(value)} ${shown(textAt(row, symbol) ?? '', SYMBOL_MAX)}`;
  };
}

/** A signed change, in percent. */
export function change(path: string): Cell {
  return (row) => {
    const value = Number(textAt(row, path) ?? Number.NaN);
    return Number.isNaN(value) ? NONE : html`${value > 0 ? '+' : ''}${value.toFixed(2)} %`;
  };
}

/** Percent, of which a share above zero never shows as zero. */
export function share(path: string): Cell {
  return (row) => {
    const value = Number(textAt(row, path) ?? Number.NaN);
    if (Number.isNaN(value)) return NONE;
    return html`${value > 0 && value < SHARE_MIN ? `< ${SHARE_MIN}` : value.toFixed(2)} %`;
  };
}

const SHARE_MIN = 0.01;

export function coins(path: string): Cell {
  return (row, place) => {
    const units = textAt(row, path);
    if (units === null) return NONE;
    const { coin } = place;
    if (coin === null || !DIGITS.test(units)) return shown(units);
    return html`${decimal(decimalAmount(units, coin.decimals))} ${coin.symbol}`;
  };
}

export function decoded(path: string): Cell {
  return (row) => {
    const label = textAt(row, `${path}.label`);
    if (label === null) return NONE;
    const parameters = listAt(row, `${path}.params`);
    const values = parameters
      .slice(0, PARAMETERS_SHOWN)
      .map(
        (one) =>
          html`<br><span class="soft">${shown(textAt(one, 'name') ?? '', 40)}</span> ${shown(textAt(one, 'value') ?? '', 100)}`,
      );
    const more = parameters.length - values.length;
    return html`<strong>${shown(label, 60)}</strong>${values}${more > 0 && html`<br>and ${more} more`}`;
  };
}

const PARAMETERS_SHOWN = 8;

export function hexText(...paths: readonly string[]): Cell {
  return (row) => {
    const texts = paths.flatMap((path) => textAt(row, path) ?? []);
    if (texts.length === 0) return NONE;
    return html`${texts.map((text) => html`<div>${hexView(text)}</div>`)}`;
  };
}

function hexView(hex: string): Html {
  const brief = short(hex);
  const code = html`<code>${brief}</code>`;
  return brief === hex ? html`${code} ` : opened(code, html`<code>${cut(hex, HEX_MAX)}</code>`);
}

const HEX_MAX = 4_000;

export function price(path: string, tokenPath: string): Cell {
  return (row, { chain, coin }) => {
    const units = textAt(row, path);
    if (units === null) return NONE;
    const token = textAt(row, tokenPath);
    if (coin !== null && DIGITS.test(units) && (token === null || token === coin.wrapped))
      return html`${decimal(decimalAmount(units, coin.decimals))} ${token === null ? '' : 'W'}${coin.symbol}`;
    return html`${shown(units)}<br><span class="soft">base units of</span> ${token === null ? 'the native token' : accountLink(token, chain)}`;
  };
}

export function block(path = 'block_number'): Cell {
  return (row, { chain }) => {
    const number = textAt(row, path);
    if (number === null || !/^\d{1,15}$/.test(number)) return NONE;
    return blockLink(Number(number), chain);
  };
}

export function blockLink(block: number | null, chain: string): Html {
  if (block === null) return NONE;
  return html`<a href="/console/look-up/block/${block}?chain=${encodeURIComponent(chain)}">${count(block)}</a>`;
}

export function transaction(path = 'transaction_hash', blockPath = 'block_number'): Cell {
  return (row, { chain }) => {
    const hash = textAt(row, path);
    if (hash === null || !HASH.test(hash)) return NONE;
    const number = textAt(row, blockPath);
    const at = number === null ? '' : `&block=${encodeURIComponent(number)}`;
    return html`<a href="/console/look-up/transaction/${hash}?chain=${encodeURIComponent(chain)}${at}" title="${hash}"><code>${short(hash)}</code></a>`;
  };
}

export function time(path = 'block_timestamp'): Cell {
  return (row) => {
    const at = new Date(textAt(row, path) ?? Number.NaN);
    return Number.isNaN(at.getTime()) ? NONE : moment(at);
  };
}

export function outcome(): Cell {
  return ({ receipt_status: status }) => (status === '0' ? FAILED : status === '1' ? html`succeeded` : NONE);
}

const FAILED = html`<span class="v-bad">failed</span>`;

export function flags(names: Readonly<Record<string, string>>): Cell {
  return (row) => {
    const set = Object.entries(names).flatMap(([path, name]) => (valueAt(row, path) === true ? [name] : []));
    return set.length === 0 ? NONE : html`${set.join(', ')}`;
  };
}

export function accountLink(address: string, chain: string): Html {
  if (!isAddress(address)) return shown(address);
  return html`<a href="/console/look-up/address/${address}?chain=${encodeURIComponent(chain)}" title="${address}"><code>${short(address)}</code></a>`;
}

function nftLink(address: string | null, id: string | null, chain: string): Html {
  if (id === null) return NONE;
  if (!isAddress(address) || !TOKEN_ID.test(id)) return shown(id);
  return html`<a href="/console/look-up/nft/${address}/${id}?chain=${encodeURIComponent(chain)}" title="${id}">${id.length > 2 * SHOWN_ENDS ? short(id) : id}</a>`;
}

export function short(long: string): string {
  const start = long.startsWith('0x') ? SHOWN_ENDS + 2 : SHOWN_ENDS;
  return long.length <= start + SHOWN_ENDS ? cut(long) : `${long.slice(0, start)}…${long.slice(-SHOWN_ENDS)}`;
}

/** Path such as `token.symbol`; null if missing or not text. */
export function textAt(row: DataRow, path: string): string | null {
  return textOf(valueAt(row, path));
}

export function listAt(row: DataRow, path: string): readonly DataRow[] {
  const value = valueAt(row, path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function valueAt(row: DataRow, path: string): unknown {
  let value: unknown = row;
  for (const name of path.split('.'))
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}
