import { readGatewayUsage } from '@chainstead/gateway';
import { InvalidParameterError, KEY_SCOPES, type KeyScopes, parseScopes, readApiUsage } from '@chainstead/http';
import { z } from 'zod';
import type { ConsolePage } from '../../console-page.ts';
import { joinUsage, type UsageRow } from './join-usage.ts';
import { keyMadeView, keysView } from './keys-view.ts';
import { usageCsv } from './usage-csv.ts';
import { usagePlot } from './usage-plot.ts';

const NAME_MAX = 80;
const RATE_MAX = 1_000_000;
const DAYS = 30;
const DAYS_MAX = 3_650;
const KEYS_PLOTTED = 6;

/** One box of a form, or several. */
const scopesField = z.union([z.string(), z.array(z.string())]).optional();
/** Empty: what `RATE_LIMIT` says. */
const rateField = z
  .string()
  .regex(/^\d{0,7}$/, 'is a whole number, or nothing')
  .transform((text) => (text === '' ? null : Number(text)))
  .refine((rate) => rate === null || (rate >= 1 && rate <= RATE_MAX), `is 1 to ${RATE_MAX}, or nothing`);
const prefixField = z.string().regex(/^[0-9a-f]{8}$/, 'is no key');

const createForm = z.object({
  name: z.string().trim().min(1, 'is empty').max(NAME_MAX, `is longer than ${NAME_MAX} characters`),
  scope: scopesField,
  rate: rateField,
});
const changeForm = z.object({ key: prefixField, scope: scopesField, rate: rateField });
const revokeForm = z.object({ key: prefixField });

/** Keys: make, narrow, revoke; what each asked for. */
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
      return { title: 'Key made', body: keyMadeView(form.name, made.key) };
    });
    routes.change('/keys/change', changeForm, async ({ form, by }) => {
      const known = (await keys.list()).find(({ prefix, revokedAt }) => prefix === form.key && revokedAt === null);
      const scopes = scopesOf(form.scope);
      // What stays as it is, is no change to write down.
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
