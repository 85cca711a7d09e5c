/** The example configuration of Alertmanager: its structure everywhere, and its own check where amtool is installed. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../../..');
const EXAMPLE = 'docs/prometheus/alertmanager.yml';
const text = readFileSync(join(ROOT, EXAMPLE), 'utf8');

const routeShape = z.strictObject({
  matchers: z.array(z.string().regex(/^\w+=~?"[^"]+"$/)),
  receiver: z.string(),
  repeat_interval: z.string().optional(),
  continue: z.boolean().optional(),
});
const configurationShape = z.strictObject({
  global: z.record(z.string(), z.unknown()),
  route: z.strictObject({
    receiver: z.string(),
    group_by: z.array(z.string()),
    group_wait: z.string(),
    group_interval: z.string(),
    repeat_interval: z.string(),
    routes: z.array(routeShape),
  }),
  inhibit_rules: z.array(
    z.strictObject({
      source_matchers: z.array(z.string()),
      target_matchers: z.array(z.string()),
      equal: z.array(z.string()),
    }),
  ),
  receivers: z.array(z.looseObject({ name: z.string() })),
});
const configuration = configurationShape.parse(parse(text));
const ruleShape = z.object({
  groups: z.array(
    z.object({ rules: z.array(z.object({ alert: z.string(), labels: z.object({ severity: z.string() }) })) }),
  ),
});
const rules = ruleShape
  .parse(parse(readFileSync(join(ROOT, 'docs/prometheus/alerts.yml'), 'utf8')))
  .groups.flatMap((group) => group.rules);

const amtool = (...args: readonly string[]) => spawnSync('amtool', args, { cwd: ROOT, encoding: 'utf8' });
const hasAmtool = amtool('--version').status === 0;

describe('the example of Alertmanager', () => {
  it('has a route to each receiver, and no other', () => {
    const { route, receivers } = configuration;
    const used = [route.receiver, ...route.routes.map(({ receiver }) => receiver)];
    expect(receivers.map(({ name }) => name).toSorted()).toEqual([...new Set(used)].toSorted());
    expect(receivers.map(({ name }) => name)).toEqual(['e-mail', 'slack', 'pagerduty', 'opsgenie']);
  });

  it('routes every severity of the rules, and the last route ends', () => {
    const matched = configuration.route.routes.flatMap(({ matchers }) =>
      matchers.flatMap((matcher) => (/"(.+)"/.exec(matcher)?.[1] ?? '').split('|')),
    );
    expect([...new Set(rules.map(({ labels }) => labels.severity))].toSorted()).toEqual(
      [...new Set(matched)].toSorted(),
    );
    expect(configuration.route.routes.at(-1)?.continue).toBeUndefined();
  });

  it('silences warnings by alerts that exist', () => {
    const named = configuration.inhibit_rules.flatMap(({ source_matchers }) =>
      source_matchers.flatMap((matcher) => (/^alertname=~"(.+)"$/.exec(matcher)?.[1] ?? '').split('|')),
    );
    const alerts = new Set(rules.map(({ alert }) => alert));
    expect(named).toHaveLength(2);
    expect(named.filter((name) => !alerts.has(name))).toEqual([]);
  });

  it('reads every secret from a file', () => {
    const secrets = [...text.matchAll(/^\s*-?\s*(\w*(?:password|api_url|_key|secret|token)\w*): (.*)$/gm)];
    expect(secrets.map(([, key]) => key)).toEqual([
      'smtp_auth_password_file',
      'api_url_file',
      'routing_key_file',
      'api_key_file',
    ]);
    for (const [, , value] of secrets) expect(value).toMatch(/^\/etc\/alertmanager\/secrets\/[a-z-]+$/);
  });

  it.skipIf(!hasAmtool)('passes amtool, which routes alerts as documented', () => {
    expect(amtool('check-config', EXAMPLE).status).toBe(0);
    const receiversOf = (severity: string): string =>
      amtool('config', 'routes', 'test', '--config.file', EXAMPLE, `severity=${severity}`).stdout.trim();
    expect([receiversOf('critical'), receiversOf('warning'), receiversOf('none')]).toEqual([
      'pagerduty,opsgenie,slack',
      'slack',
      'e-mail',
    ]);
  });
});
