import { readGatewayUsage } from '@chainstead/gateway';
import { InvalidParameterError, KEY_SCOPES, type KeyScopes, parseScopes, readApiUsage } from '@chainstead/http';
import { z } from 'zod';
import type { ConsolePage } from '../../console-page.ts';
import { joinUsage, totalsByKey, type UsageRow } from './join-usage.ts';
import { keyMadeView, keysView } from './keys-view.ts';

const NAME_MAX = 80;
const RATE_MAX = 1_000_000;
const DAYS = 30;
const DAYS_MAX = 3_650;
const KEYS_PLOTTED = 6;

/** One box of a form, or several. */
const scopesField = z.union([z.string(), z.array(z.string())]).optional();
/** Empty: the value of `RATE_LIMIT`. */
const rateField = z
  .string()
  .regex(/^\d{0,7}$/, 'must be a whole number or empty')
  .transform((text) => (text === '' ? null : Number(text)))
  .refine((rate) => rate === null || (rate >= 1 && rate <= RATE_MAX), `must be from 1 to ${RATE_MAX}, or empty`);
const prefixField = z.string().regex(/^[0-9a-f]{8}$/, 'is not a key');

const createForm = z.object({
  name: z.string().trim().min(1, 'is empty').max(NAME_MAX, `is longer than ${NAME_MAX} characters`),
  scope: scopesField,
  rate: rateField,
});
const changeForm = z.object({ key: prefixField, scope: scopesField, rate: rateField });
const revokeForm = z.object({ key: prefixField });

const COLUMNS = ['day', 'key', 'kind', 'route', 'method', 'requests', 'errors'] as const;
/** Prefixes that spreadsheets treat as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

const DAY_SECONDS = 86_400;

/** API keys: create, restrict, revoke; show their usage. */
export const keysPage: ConsolePage = {
  path: '/keys',
  title: 'Keys',
  group: 'Access',
  addRoutes(routes, { database, keys, registry, clock }) {
    const usageOf = async (days: number): Promise<UsageRow[]> => {
      const [api, gateway] = await Promise.all([readApiUsage(database, days), readGatewayUsage(database, days)]);
      return joinUsage(api, gateway, (chainId) => registry.find(chainId)?.key ?? String(chainId));
    };
    routes.view('/keys', async ({ token, query }) => {
      const days = daysOf(query('days'));
      const [stored, usage] = await Promise.all([keys.list(), usageOf(days)]);
      return { title: 'Keys', body: keysView({ stored, usage, days, key: query('key') ?? null, token }) };
    });
    routes.view('/keys/usage.json', async ({ query }) => {
      const daysShown = daysOf(query('days'));
      const usage = await usageOf(daysShown);
      const today = new Date(clock.now());
      const plot = usagePlot(ofKey(usage, query('key')), { keysMax: KEYS_PLOTTED, daysShown, today });
      return { content: JSON.stringify(plot), type: 'application/json' };
    });
    routes.view('/keys/usage.csv', async ({ query }) => {
      const usage = ofKey(await usageOf(daysOf(query('days'))), query('key'));
      return { content: usageCsv(usage), type: 'text/csv; charset=utf-8', saveAs: 'chainstead-usage.csv' };
    });
    routes.change('/keys/create', createForm, async ({ form, by }) => {
      const made = await keys.create(form.name, scopesOf(form.scope), by);
      if (form.rate !== null) await keys.setRateLimit(made.key, form.rate, by);
      return { title: 'Key created', body: keyMadeView(form.name, made.key) };
    });
    routes.change('/keys/change', changeForm, async ({ form, by }) => {
      const known = (await keys.list()).find(({ prefix, revokedAt }) => prefix === form.key && revokedAt === null);
      const scopes = scopesOf(form.scope);
      // An unchanged value is not written to the audit log.
      if (known === undefined || known.scopes.join() !== [...scopes].join()) await keys.setScopes(form.key, scopes, by);
      if (known?.rateLimit !== form.rate) await keys.setRateLimit(form.key, form.rate, by);
      return { goTo: '/console/keys' };
    });
    routes.change('/keys/revoke', revokeForm, async ({ form, by }) => {
      await keys.revoke(form.key, by);
      return { goTo: '/console/keys' };
    });
  },
};

/** @throws InvalidParameterError */
function scopesOf(given: string | readonly string[] | undefined): KeyScopes {
  const names = given === undefined ? [] : typeof given === 'string' ? [given] : given;
  const scopes = parseScopes(names);
  if (scopes !== null) return scopes;
  throw new InvalidParameterError({
    parameter: 'scope',
    given: names,
    allowed: `at least one of ${KEY_SCOPES.join(', ')}`,
  });
}

/** @throws InvalidParameterError */
function daysOf(given: string | undefined): number {
  if (given === undefined || given === '') return DAYS;
  const days = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (days >= 1 && days <= DAYS_MAX) return days;
  throw new InvalidParameterError({ parameter: 'days', given, allowed: `a whole number from 1 to ${DAYS_MAX}` });
}

function ofKey(usage: readonly UsageRow[], key: string | undefined): readonly UsageRow[] {
  return key === undefined || key === '' ? usage : usage.filter(({ keyId }) => keyId === key);
}

/** RFC 4180, with a header line. Formulas are escaped as text. */
function usageCsv(usage: readonly UsageRow[]): string {
  const lines = usage.map(({ day, keyId, kind, route, method, requests, errors }) =>
    [day, keyId, kind, route, method, requests, errors].map(cell).join(','),
  );
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A plot in the format of the page's script. */
interface UsagePlot {
  readonly labels: readonly string[];
  readonly unit: string;
  /** The displayed time range, seconds since the epoch. */
  readonly range: readonly [from: number, to: number];
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  /** By label, then by time. */
  readonly values: readonly (readonly number[])[];
}

/**
 * Returns requests of each day up to today (UTC), for the keys with the most requests.
 * @param keysMax number of keys
 */
function usagePlot(
  usage: readonly UsageRow[],
  { keysMax, daysShown, today }: { readonly keysMax: number; readonly daysShown: number; readonly today: Date },
): UsagePlot {
  const labels = totalsByKey(usage)
    .slice(0, keysMax)
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
