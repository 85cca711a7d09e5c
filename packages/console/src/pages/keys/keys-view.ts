import { DEFAULT_SCOPES, KEY_SCOPES, type StoredKey } from '@chainstead/http';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import { totalsByKey, totalsByRoute, type UsageRow } from './join-usage.ts';

export interface KeysFacts {
  readonly stored: readonly StoredKey[];
  readonly usage: readonly UsageRow[];
  readonly days: number;
  /** The key whose usage is requested; null: that of all. */
  readonly key: string | null;
  readonly token: string;
}

const ROUTES_SHOWN = 200;

/** Returns keys and their usage. */
export function keysView(facts: KeysFacts): Html {
  const { stored, token } = facts;
  return html`<h1>Keys</h1>
<section aria-labelledby="make"><h2 id="make">Create a key</h2>${createView(token)}</section>
<section aria-labelledby="stored"><h2 id="stored">Keys</h2>${storedView(facts)}
<p class="soft">Keys in <code>API_KEYS</code> are not listed here. Change them in the configuration. ${stored.length === 0 ? 'No keys created yet.' : NOTHING}</p></section>
<section aria-labelledby="usage"><h2 id="usage">Usage</h2>${usageView(facts)}</section>`;
}

/** The only page that ever shows a key. */
export function keyMadeView(name: string, key: string): Html {
  return html`<h1>Key created</h1>
<div class="done" role="status"><p>Key of <strong>${shown(name)}</strong>, shown only once:</p>
<p class="key"><code id="key">${key}</code></p>
<p>Send it as <code>X-API-Key</code>, or as <code>Authorization: Bearer …</code>.</p></div>
<p><a href="/console/keys">Keys</a></p>`;
}

function createView(token: string): Html {
  return changeForm(
    '/console/keys/create',
    token,
    html`<div class="fields"><div><label for="name">Name</label><input id="name" name="name" type="text" required maxlength="80" autocomplete="off"></div>
${scopeBoxes('new', DEFAULT_SCOPES)}
${rateField('new', null)}
<div><button>Create key</button></div></div>`,
    'Create a key',
  );
}

function scopeBoxes(id: string, checked: readonly string[]): Html {
  const boxes = KEY_SCOPES.map(
    (scope) =>
      html`<label for="${id}-${scope}"><input type="checkbox" id="${id}-${scope}" name="scope" value="${scope}" ${checked.includes(scope) ? html`checked` : NOTHING}> ${scope}</label>`,
  );
  return html`<fieldset><legend>Scopes</legend>${boxes}</fieldset>`;
}

function rateField(id: string, rate: number | null): Html {
  return html`<div><label for="${id}-rate">API requests/s (empty: <code>RATE_LIMIT</code>)</label><input id="${id}-rate" name="rate" inputmode="numeric" pattern="[0-9]*" maxlength="7" value="${rate ?? ''}" autocomplete="off"></div>`;
}

function storedView({ stored, usage, token }: KeysFacts): Html {
  if (stored.length === 0) return NOTHING;
  const totals = new Map(totalsByKey(usage).map((total) => [total.keyId, total.requests]));
  const rows = stored.map((key) => [
    html`${shown(key.name)}<br><code class="soft">${key.prefix}…</code>`,
    key.scopes.join(', ') || 'none',
    key.rateLimit === null ? '–' : count(key.rateLimit),
    moment(key.createdAt),
    html`<a href="/console/keys?key=${key.prefix}#usage">${count(totals.get(key.prefix) ?? 0)}</a>`,
    key.revokedAt === null ? changeView(key, token) : html`revoked ${moment(key.revokedAt)}`,
  ]);
  return table({
    label: 'Stored keys',
    columns: ['Name', 'Scopes', number('Requests/s'), 'Created', number('Requests'), 'Action'],
    rows,
  });
}

function changeView({ prefix, name, scopes, rateLimit }: StoredKey, token: string): Html {
  const field = html`<input type="hidden" name="key" value="${prefix}">`;
  return html`<details><summary>Change <span class="soft">${shown(name, 20)}</span></summary>
${changeForm('/console/keys/change', token, html`${field}<div class="fields">${scopeBoxes(prefix, scopes)}${rateField(prefix, rateLimit)}<div><button class="quiet">Save</button></div></div>`, `Change the key ${prefix}`)}
${changeForm('/console/keys/revoke', token, html`${field}<p>Requests with this key are rejected within seconds. This cannot be undone.</p><button class="danger">Revoke</button>`, `Revoke the key ${prefix}`)}</details>`;
}

function usageView({ usage, days, key }: KeysFacts): Html {
  const shownUsage = key === null ? usage : usage.filter(({ keyId }) => keyId === key);
  const query = `days=${days}${key === null ? '' : `&key=${encodeURIComponent(key)}`}`;
  const routes = totalsByRoute(shownUsage);
  return html`<p>Requests of ${key === null ? 'all keys' : html`<code>${shown(key)}</code> (<a href="/console/keys?days=${days}#usage">all keys</a>)`} over the last ${count(days)} days (UTC).
<a href="/console/keys/usage.csv?${query}" download>CSV</a></p>
<div class="card plot" data-plot="/console/keys/usage.json?${query}">The plot needs JavaScript. The table below shows the numbers.</div>
${routes.length === 0 ? html`<p class="soft">No requests recorded.</p>` : routesView(routes)}`;
}

function routesView(routes: ReturnType<typeof totalsByRoute>): Html {
  const rows = routes
    .slice(0, ROUTES_SHOWN)
    .map((row) => [
      html`<code>${shown(row.keyId)}</code>`,
      row.kind === 'api' ? 'API' : 'JSON-RPC',
      shown(row.route),
      shown(row.method),
      count(row.requests),
      count(row.errors),
    ]);
  return table({
    label: 'Usage by key, route and method',
    caption: 'By key, route (gateway: chain) and method, most requests first',
    columns: ['Key', 'API', 'Route', 'Method', number('Requests'), number('Errors')],
    rows,
  });
}
