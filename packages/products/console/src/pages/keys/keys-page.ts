import { type GatewayUsage, readGatewayUsage } from '@chainstead/gateway';
import { DEFAULT_SCOPES, InvalidParameterError, KEY_SCOPES, type KeyScopes, parseScopes } from '@chainstead/http';
import { type ApiUsage, readApiUsage, type StoredKey } from '@chainstead/http/server';
import { html } from 'hono/html';
import { z } from 'zod';
import { type ConsolePage, jsonFile } from '../../console-page.ts';
import { boxesMember, button, changeForm, formFields, labeled, tickBox } from '../../layout/form.ts';
import {
  code,
  csvText,
  dash,
  type Html,
  link,
  NOTHING,
  nameParts,
  note,
  paragraph,
  plot,
  refused,
  section,
  shown,
  soft,
} from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';

const NAME_MAX = 80;
const RATE_MAX = 1_000_000;
const DAYS = 30;
const DAYS_MAX = 3_650;
const KEYS_PLOTTED = 6;
const scope = boxesMember();
/** Empty: the value of `RATE_LIMIT`. */
const rate = labeled(
  {
    label: html`API requests/s (empty: <code>RATE_LIMIT</code>)`,
    digits: true,
    attributes: 'pattern="[0-9]*" maxlength="7" autocomplete="off"',
  },
  z
    .string()
    .regex(/^\d{0,7}$/, 'must be a whole number or empty')
    .transform((text) => (text === '' ? null : Number(text)))
    .refine(
      (rate) => rate === null || (rate >= 1 && rate <= RATE_MAX),
      `must be from 1 to ${RATE_MAX}, or empty`,
    ),
);
const key = z.string().regex(/^[0-9a-f]{8}$/, 'is not a key');

const createForm = z.object({
  name: labeled(
    { label: 'Name', attributes: 'required maxlength="80" autocomplete="off"' },
    z.string().trim().min(1, 'is empty').max(NAME_MAX, `is longer than ${NAME_MAX} characters`),
  ),
  scope,
  rate,
});
const editForm = z.object({ key, scope, rate });
const revokeForm = z.object({ key });
const COLUMNS = ['day', 'key', 'kind', 'route', 'method', 'requests', 'errors'] as const;
const DAY_SECONDS = 86_400;

export const keysPage: ConsolePage = {
  path: '/keys',
  title: 'Keys',
  group: 'Access',
  addRoutes(routes, { database, keys, chainName, clock }) {
    const usageOf = async (days: number): Promise<KeyUsage[]> => {
      const [api, gateway] = await Promise.all([readApiUsage(database, days), readGatewayUsage(database, days)]);
      return joinUsage(api, gateway, chainName);
    };
    routes.view('/keys', async ({ token, query }) => {
      const days = daysOf(query('days'));
      const [stored, usage] = await Promise.all([keys.list(), usageOf(days)]);
      return { body: keysView({ stored, usage, days, key: query('key') ?? null, token }) };
    });
    routes.view('/keys/usage.json', async ({ query }) => {
      const days = daysOf(query('days'));
      return jsonFile(usagePlot(ofKey(await usageOf(days), query('key')), days, new Date(clock.now())));
    });
    routes.view('/keys/usage.csv', async ({ query }) => {
      const usage = ofKey(await usageOf(daysOf(query('days'))), query('key'));
      const content = csvText(
        COLUMNS,
        usage.map((one) => [one.day, one.keyId, one.kind, one.route, one.method, one.requests, one.errors]),
      );
      return { content, type: 'text/csv; charset=utf-8', saveAs: 'chainstead-usage.csv' };
    });
    routes.change('/keys/create', createForm, async ({ form, by }) => {
      const made = await keys.create(form.name, scopesOf(form.scope), by);
      if (form.rate !== null) await keys.setRateLimit(made.key, form.rate, by);
      return { title: 'Key created', body: keyMadeView(form.name, made.key) };
    });
    routes.change('/keys/change', editForm, async ({ form, by }) => {
      const stored = (await keys.list()).find(
        ({ prefix, revokedAt }) => prefix === form.key && revokedAt === null,
      );
      const scopes = scopesOf(form.scope);
      // Only changes are audited.
      if (stored?.scopes.join() !== [...scopes].join()) await keys.setScopes(form.key, scopes, by);
      if (stored?.rateLimit !== form.rate) await keys.setRateLimit(form.key, form.rate, by);
      return { goTo: '/console/keys' };
    });
    routes.change('/keys/revoke', revokeForm, async ({ form, by }) => {
      await keys.revoke(form.key, by);
      return { goTo: '/console/keys' };
    });
  },
};

function scopesOf(names: readonly string[]): KeyScopes {
  const scopes = parseScopes(names);
  if (scopes !== null) return scopes;
  const allowed = `at least one of ${KEY_SCOPES.join(', ')}`;
  throw new InvalidParameterError({ parameter: 'scope', given: names, allowed });
}
function daysOf(text = ''): number {
  if (text === '') return DAYS;
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= DAYS_MAX) return days;
  throw refused('days', text, `a whole number from 1 to ${DAYS_MAX}`);
}

function ofKey(usage: readonly KeyUsage[], key: string | null | undefined): readonly KeyUsage[] {
  return key ? usage.filter(({ keyId }) => keyId === key) : usage;
}

function usagePlot(usage: readonly KeyUsage[], daysShown: number, today: Date) {
  const labels = totalsByKey(usage)
    .slice(0, KEYS_PLOTTED)
    .map(({ keyId }) => keyId);
  const days = usage.map(({ day }) => Date.parse(`${day}T00:00:00Z`) / 1_000);
  const last = Date.parse(`${today.toISOString().slice(0, 10)}T00:00:00Z`) / 1_000;
  const first = Math.min(last - (daysShown - 1) * DAY_SECONDS, ...days);
  const times: number[] = [];
  if (days.length > 0) for (let at = first; at <= last; at += DAY_SECONDS) times.push(at);
  const values = labels.map((label) => {
    const byDay = new Map<number, number>();
    for (const [index, { keyId, requests }] of usage.entries()) {
      const at = days[index];
      if (keyId === label && at !== undefined) byDay.set(at, (byDay.get(at) ?? 0) + requests);
    }
    return times.map((at) => byDay.get(at) ?? 0);
  });
  return { labels, unit: 'requests', range: [first, last], times, values };
}

interface KeysFacts {
  readonly stored: readonly StoredKey[];
  readonly usage: readonly KeyUsage[];
  readonly days: number;
  readonly key: string | null;
  readonly token: string;
}

const ROUTES_SHOWN = 200;

function keysView(facts: KeysFacts): Html {
  const { stored, token } = facts;
  const create = html`<div class="fields">${keyFields(createForm, 'new-', DEFAULT_SCOPES, null)}
<div>${button('Create key')}</div></div>`;
  return html`${section('make', 'Create a key', changeForm('/console/keys/create', token, {}, create, 'Create a key'))}
${section('stored', 'Keys', storedView(facts), note(html`Keys in <code>API_KEYS</code> are not listed here. Change them in the configuration. ${stored.length === 0 && 'No keys created yet.'}`))}
${section('usage', 'Usage', usageView(facts))}`;
}

function keyMadeView(name: string, key: string): Html {
  return html`<div class="done" role="status"><p>Key of <strong>${shown(name)}</strong>, shown only once:</p>
<p class="key"><code id="key">${key}</code></p>
<p>Send it as <code>X-API-Key</code>, or as <code>Authorization: Bearer …</code>.</p></div>
<p><a href="/console/keys">Keys</a></p>`;
}

function keyFields(form: z.ZodObject, id: string, checked: readonly string[], rate: number | null): Html[] {
  const boxes = KEY_SCOPES.map((scope) =>
    tickBox('scope', scope, checked.includes(scope), scope, `${id}${scope}`),
  );
  const scope = html`<fieldset><legend>Scopes</legend>${boxes}</fieldset>`;
  return formFields(form, { values: { rate: rate ?? '' }, views: { scope }, id });
}

function storedView({ stored, usage, token }: KeysFacts): Html {
  if (stored.length === 0) return NOTHING;
  const totals = new Map(totalsByKey(usage).map((total) => [total.keyId, total.requests]));
  const rows = stored.map((key) => [
    html`${shown(key.name)}<br><code class="soft">${key.prefix}…</code>`,
    key.scopes.join(', ') || 'none',
    dash(key.rateLimit, count),
    moment(key.createdAt),
    link(`/console/keys?key=${key.prefix}#usage`, count(totals.get(key.prefix) ?? 0)),
    key.revokedAt === null ? editView(key, token) : html`revoked ${moment(key.revokedAt)}`,
  ]);
  return table({
    label: 'Stored keys',
    columns: ['Name', 'Scopes', number('Requests/s'), 'Created', number('Requests'), 'Action'],
    rows,
  });
}

function editView({ prefix, name, scopes, rateLimit }: StoredKey, token: string): Html {
  const change = html`<div class="fields">${keyFields(editForm, `${prefix}-`, scopes, rateLimit)}<div>${button('Save', 'quiet')}</div></div>`;
  const revoke = html`${paragraph('Requests with this key are rejected within seconds. This cannot be undone.')}${button('Revoke', 'danger')}`;
  return html`<details><summary>Change ${soft(shown(name, 20))}</summary>
${changeForm('/console/keys/change', token, { key: prefix }, change, `Change the key ${prefix}`)}
${changeForm('/console/keys/revoke', token, { key: prefix }, revoke, `Revoke the key ${prefix}`)}</details>`;
}

function usageView({ usage, days, key }: KeysFacts): Html {
  const query = `days=${days}${key === null ? '' : `&key=${encodeURIComponent(key)}`}`;
  return html`<p>Requests of ${key === null ? 'all keys' : html`<code>${shown(key)}</code> (<a href="/console/keys?days=${days}#usage">all keys</a>)`} over the last ${count(days)} days (UTC).
<a href="/console/keys/usage.csv?${query}" download>CSV</a></p>
${plot(`/console/keys/usage.json?${query}`, 'The plot needs JavaScript. The table below shows the numbers.')}
${table({
  label: 'Usage by key, route and method',
  caption: 'By key, route (gateway: chain) and method, most requests first',
  columns: ['Key', 'API', 'Route', 'Method', number('Requests'), number('Errors')],
  none: 'No requests recorded.',
  rows: totalsByRoute(ofKey(usage, key))
    .slice(0, ROUTES_SHOWN)
    .map((row) => [
      code(shown(row.keyId)),
      row.kind === 'api' ? 'API' : 'JSON-RPC',
      nameParts(row.route),
      shown(row.method),
      count(row.requests),
      count(row.errors),
    ]),
})}`;
}

type KeyUsage = ReturnType<typeof joinUsage>[number];

function joinUsage(
  api: readonly ApiUsage[],
  gateway: readonly GatewayUsage[],
  chainName: (chainId: number) => string,
) {
  const rows = [
    ...api.map(({ keyId, day, route, method, requests, refused, failed, unserved }) => {
      return { keyId, day, kind: 'api' as const, route, method, requests, errors: refused + failed + unserved };
    }),
    ...gateway.map(({ keyId, day, chainId, method, calls, errors }) => {
      return { keyId, day, kind: 'rpc' as const, route: chainName(chainId), method, requests: calls, errors };
    }),
  ];
  return rows.toSorted((left, right) => right.day.localeCompare(left.day) || right.requests - left.requests);
}

function totalsByKey(usage: readonly KeyUsage[]) {
  return [...Map.groupBy(usage, ({ keyId }) => keyId)]
    .map(([keyId, rows]) => ({ keyId, requests: sum(rows, 'requests') }))
    .toSorted((left, right) => right.requests - left.requests);
}
function totalsByRoute(usage: readonly KeyUsage[]) {
  const groups = Map.groupBy(usage, ({ keyId, kind, route, method }) =>
    JSON.stringify([keyId, kind, route, method]),
  );
  return [...groups.values()]
    .flatMap((rows) => {
      const [first] = rows;
      if (first === undefined) return [];
      const { keyId, kind, route, method } = first;
      return [{ keyId, kind, route, method, requests: sum(rows, 'requests'), errors: sum(rows, 'errors') }];
    })
    .toSorted((left, right) => right.requests - left.requests);
}

function sum(rows: readonly KeyUsage[], of: 'requests' | 'errors'): number {
  return rows.reduce((total, row) => total + row[of], 0);
}
